package sweep

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/requests"
)

// SetupWithManager starts the sweeper with a manager. Objects that are there when it starts ask for their namespace, and so do those
// that are made and DesignatePools that go later.
func (s *Sweeper) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	ofPools := builder.WithPredicates(requests.OnlyCreations(), predicate.NewPredicateFuncs(func(o client.Object) bool {
		return o.GetLabels()[v1alpha1.LabelPoolUID] != ""
	}))
	return ctrl.NewControllerManagedBy(mgr).
		Named("sweep").
		WithOptions(options).
		Watches(&v1alpha1.DesignatePool{}, requests.ToBackend(), builder.WithPredicates(requests.OnlyDeletions())).
		Watches(&appsv1.StatefulSet{}, requests.ToBackend(), ofPools).
		Watches(&corev1.Service{}, requests.ToBackend(), ofPools).
		Watches(&corev1.Secret{}, requests.ToBackend(), ofPools).
		Watches(&corev1.ConfigMap{}, requests.ToBackend(), ofPools).
		Watches(&corev1.PersistentVolumeClaim{}, requests.ToBackend(), ofPools).
		Watches(&policyv1.PodDisruptionBudget{}, requests.ToBackend(), ofPools).
		Complete(s)
}

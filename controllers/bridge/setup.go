package bridge

import (
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/requests"
)

// SetupWithManager starts the bridge with a manager.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("bridge").
		WithOptions(options).
		// Its own status writes are no news to the bridge.
		For(&v1alpha1.DesignateBackend{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.ConfigMap{}, requests.ToBackend(), builder.WithPredicates(predicate.NewPredicateFuncs(isSource))).
		Watches(&v1alpha1.DesignatePool{}, requests.ToBackend(), builder.WithPredicates(predicate.Or(
			predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{},
		))).
		Complete(r)
}

// isSource lets through the ConfigMaps that the bridge reads.
func isSource(object client.Object) bool {
	return object.GetName() == v1alpha1.MultipoolConfigMapName || object.GetName() == v1alpha1.LedgerName
}

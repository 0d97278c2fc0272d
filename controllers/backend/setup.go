package backend

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/requests"
)

// SetupWithManager starts the aggregator with a manager. news ask for DesignateBackends of which others have found out something.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options, news ...source.Source) error {
	b := ctrl.NewControllerManagedBy(mgr).
		Named("backend").
		WithOptions(options).
		For(&v1alpha1.DesignateBackend{}, builder.WithPredicates(predicate.Or(
			// On the bridge's conditions Ready depends.
			predicate.GenerationChangedPredicate{},
			requests.ConditionsChanged(v1alpha1.ConditionMultipoolConfigValid, v1alpha1.ConditionPoolsApplied),
		))).
		Watches(&v1alpha1.DesignatePool{}, requests.ToBackend()).
		Watches(&corev1.ConfigMap{}, requests.ToBackend(), builder.WithPredicates(predicate.NewPredicateFuncs(concerns))).
		Watches(&corev1.Secret{}, requests.ToBackend()).
		Watches(&appsv1.StatefulSet{}, requests.ToBackend()).
		Watches(&corev1.Service{}, requests.ToBackend()).
		Watches(&corev1.Pod{}, requests.ToBackend()).
		Watches(&batchv1.Job{}, requests.ToBackend()).
		// A new claim is empty; one that is gone may be the last thing that was left of a pool.
		Watches(&corev1.PersistentVolumeClaim{}, requests.ToBackend(), builder.WithPredicates(requests.NoUpdates())).
		Watches(&policyv1.PodDisruptionBudget{}, requests.ToBackend(), builder.WithPredicates(requests.OnlyDeletions()))
	for _, of := range news {
		b = b.WatchesRawSource(of)
	}
	return b.Complete(r)
}

// concerns lets through the ConfigMaps that the aggregator reads or writes, and those of pools.
func concerns(object client.Object) bool {
	switch object.GetName() {
	case v1alpha1.MultipoolConfigMapName, v1alpha1.LedgerName, v1alpha1.PoolsYAMLName:
		return true
	default:
		return object.GetLabels()[v1alpha1.LabelPoolUID] != ""
	}
}

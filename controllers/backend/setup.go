package backend

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/requests"
)

// SetupWithManager starts the aggregator with a manager. zones asks for DesignateBackends whose zones are news.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options, zones source.Source) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("backend").
		WithOptions(options).
		For(&v1alpha1.DesignateBackend{}, builder.WithPredicates(predicate.Or(
			predicate.GenerationChangedPredicate{}, bridgeReported(),
		))).
		Watches(&v1alpha1.DesignatePool{}, requests.ToBackend()).
		Watches(&corev1.ConfigMap{}, requests.ToBackend(), builder.WithPredicates(predicate.NewPredicateFuncs(concerns))).
		Watches(&corev1.Secret{}, requests.ToBackend()).
		Watches(&appsv1.StatefulSet{}, requests.ToBackend()).
		Watches(&corev1.Service{}, requests.ToBackend()).
		Watches(&corev1.Pod{}, requests.ToBackend()).
		// What may be the last thing that is left of a pool.
		Watches(&corev1.PersistentVolumeClaim{}, requests.ToBackend(), builder.WithPredicates(requests.OnlyDeletions())).
		Watches(&policyv1.PodDisruptionBudget{}, requests.ToBackend(), builder.WithPredicates(requests.OnlyDeletions())).
		WatchesRawSource(zones).
		Complete(r)
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

// bridgeReported lets through changes of the bridge's conditions, on which Ready depends, and none of the aggregator's
// own.
func bridgeReported() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*v1alpha1.DesignateBackend)
			after, same := e.ObjectNew.(*v1alpha1.DesignateBackend)
			if !ok || !same {
				return false
			}
			for _, conditionType := range []string{v1alpha1.ConditionMultipoolConfigValid, v1alpha1.ConditionPoolsApplied} {
				if !equality.Semantic.DeepEqual(
					meta.FindStatusCondition(before.Status.Conditions, conditionType),
					meta.FindStatusCondition(after.Status.Conditions, conditionType),
				) {
					return true
				}
			}
			return false
		},
	}
}

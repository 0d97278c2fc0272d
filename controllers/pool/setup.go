package pool

import (
	appsv1 "k8s.io/api/apps/v1"
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

// SetupWithManager starts the pool controller with a manager. news ask for pools of which others have found out something.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options, news ...source.Source) error {
	withName := func(name string) builder.Predicates {
		return builder.WithPredicates(predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetName() == name }))
	}
	b := ctrl.NewControllerManagedBy(mgr).
		Named("pool").
		WithOptions(options).
		// Its own status writes are no news to it.
		For(&v1alpha1.DesignatePool{}, builder.WithPredicates(predicate.Or(
			predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{},
			// The aggregator's conditions, on which Ready depends, are.
			requests.ConditionsChanged(v1alpha1.ConditionProgrammed),
		))).
		Watches(&appsv1.StatefulSet{}, requests.ToPool()).
		Watches(&corev1.Service{}, requests.ToPool()).
		Watches(&corev1.Secret{}, requests.ToPool()).
		Watches(&corev1.ConfigMap{}, requests.ToPool()).
		Watches(&corev1.Pod{}, requests.ToPool()).
		Watches(&corev1.PersistentVolumeClaim{}, requests.ToPool(), builder.WithPredicates(requests.OnlyDeletions())).
		Watches(&policyv1.PodDisruptionBudget{}, requests.ToPool()).
		Watches(&corev1.ConfigMap{}, onLedger(r.Client), withName(v1alpha1.LedgerName)).
		Watches(&corev1.Secret{}, onKeys(r.Client), withName(v1alpha1.RNDCSecretName)).
		Watches(&v1alpha1.DesignateBackend{}, requests.ToAllPools(r.Client),
			builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		// A pool that is gone may have held a name that another one claims.
		Watches(&v1alpha1.DesignatePool{}, requests.ToAllPools(r.Client), builder.WithPredicates(requests.OnlyDeletions()))
	for _, of := range news {
		b = b.WatchesRawSource(of)
	}
	return b.Complete(r)
}

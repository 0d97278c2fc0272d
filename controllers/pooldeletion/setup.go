package pooldeletion

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

// SetupWithManager starts the deleter with a manager.
func (d *Deleter) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	isLedger := func(o client.Object) bool { return o.GetName() == v1alpha1.LedgerName }
	return ctrl.NewControllerManagedBy(mgr).
		Named("pool-deletion").
		WithOptions(options).
		For(&v1alpha1.DesignateBackend{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.ConfigMap{}, requests.ToBackend(), builder.WithPredicates(predicate.NewPredicateFuncs(isLedger))).
		Complete(d)
}

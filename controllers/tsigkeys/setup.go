package tsigkeys

import (
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/requests"
)

// SetupWithManager starts the registrar with a manager. zones asks for DesignateBackends whose zones or pools are news.
func (r *Registrar) SetupWithManager(mgr ctrl.Manager, options controller.Options, zones source.Source) error {
	only := func(concerns func(client.Object) bool) builder.Predicates {
		return builder.WithPredicates(predicate.NewPredicateFuncs(concerns))
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("tsig").
		WithOptions(options).
		For(&v1alpha1.DesignateBackend{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.ConfigMap{}, requests.ToBackend(), only(func(o client.Object) bool { return o.GetName() == v1alpha1.LedgerName })).
		Watches(&corev1.Secret{}, requests.ToBackend(), only(func(o client.Object) bool { return builders.IsTSIGSecret(o) })).
		WatchesRawSource(zones).
		Complete(r)
}

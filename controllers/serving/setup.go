package serving

import (
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/requests"
)

// SetupWithManager starts the observer with a manager. listings asks for all pools whose zones have been listed.
func (o *Observer) SetupWithManager(mgr ctrl.Manager, options controller.Options, listings source.Source) error {
	// Of several managers in one process, which only tests have, the last one's observer tells.
	metrics.Registry.Unregister(o)
	if err := metrics.Registry.Register(o); err != nil {
		return err
	}
	onLedger := builder.WithPredicates(predicate.NewPredicateFuncs(func(c client.Object) bool { return c.GetName() == v1alpha1.LedgerName }))
	return ctrl.NewControllerManagedBy(mgr).
		Named("serving").
		WithOptions(options).
		For(&v1alpha1.DesignatePool{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Pod{}, requests.ToPool(), builder.WithPredicates(readinessChanged())).
		Watches(&corev1.ConfigMap{}, requests.ToAllPools(o.Client), onLedger).
		Watches(&v1alpha1.DesignateBackend{}, requests.ToAllPools(o.Client), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(listings).
		Complete(o)
}

// readinessChanged lets through that a pod has become ready, or is not ready any more.
func readinessChanged() predicate.Predicate {
	ready := func(object client.Object) bool {
		pod, ok := object.(*corev1.Pod)
		return ok && builders.PodReady(pod)
	}
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool { return ready(e.ObjectOld) != ready(e.ObjectNew) },
	}
}

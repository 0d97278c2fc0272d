package zones

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/requests"
)

// SetupWithManager starts the observer with a manager, and puts its metrics where the manager serves them from.
func (o *Observer) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	// Of several managers in one process, which only tests have, the last one's observer tells.
	metrics.Registry.Unregister(o)
	if err := metrics.Registry.Register(o); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("zones").
		WithOptions(options).
		Watches(&v1alpha1.DesignateBackend{}, o.onBackend(), builder.WithPredicates(backendChanged())).
		Watches(&v1alpha1.DesignatePool{}, requests.ToBackend(), builder.WithPredicates(poolChanged())).
		WatchesRawSource(o.own.Source()).
		Complete(o)
}

// onBackend asks for a DesignateBackend, and first ends the attempt that it makes pointless.
func (o *Observer) onBackend() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		if backend, ok := object.(*v1alpha1.DesignateBackend); ok {
			o.redirect(backend)
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(object)}}
	})
}

// backendChanged lets through what a person changes, deletion too, and no change of status.
func backendChanged() predicate.Predicate {
	return predicate.Or(predicate.GenerationChangedPredicate{}, predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			return (e.ObjectOld.GetDeletionTimestamp() == nil) != (e.ObjectNew.GetDeletionTimestamp() == nil)
		},
	})
}

// poolChanged lets through that a pool is new or gone, that its removal is or is not wanted any more, and that it got an id.
func poolChanged() predicate.Predicate {
	return predicate.Funcs{
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*v1alpha1.DesignatePool)
			after, same := e.ObjectNew.(*v1alpha1.DesignatePool)
			if !ok || !same {
				return false
			}
			had, _ := IntentOf(before, nil)
			has, _ := IntentOf(after, nil)
			return had != has || before.Status.PoolID != after.Status.PoolID
		},
	}
}

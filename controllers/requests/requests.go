// Package requests turns events on objects into requests for the controllers.
package requests

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// ToBackend asks for the DesignateBackend of an object's namespace, whether that exists or not.
func ToBackend() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{
			Namespace: object.GetNamespace(), Name: v1alpha1.BackendName,
		}}}
	})
}

// ToPool asks for the DesignatePool that an object's label names.
func ToPool() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		name := object.GetLabels()[v1alpha1.LabelPool]
		if name == "" {
			return nil
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: object.GetNamespace(), Name: name}}}
	})
}

// ToAllPools asks for every DesignatePool of an object's namespace.
func ToAllPools(reader client.Reader) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		var pools v1alpha1.DesignatePoolList
		if err := reader.List(ctx, &pools, client.InNamespace(object.GetNamespace())); err != nil {
			// The reader is the cache, which fails only while it is being stopped.
			log.FromContext(ctx).Error(err, "List DesignatePools", "namespace", object.GetNamespace())
			return nil
		}
		requests := make([]reconcile.Request, 0, len(pools.Items))
		for i := range pools.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&pools.Items[i])})
		}
		return requests
	})
}

// OnlyDeletions lets through that an object is gone.
func OnlyDeletions() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// OnlyCreations lets through that an object is there.
func OnlyCreations() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// NoUpdates lets through that an object is there, and that it is gone.
func NoUpdates() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
}

// ConditionsChanged lets through changes of conditions that another controller writes into a status, and none of any other.
func ConditionsChanged(types ...string) predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, after := conditionsOf(e.ObjectOld), conditionsOf(e.ObjectNew)
			return slices.ContainsFunc(types, func(conditionType string) bool {
				return !equality.Semantic.DeepEqual(
					meta.FindStatusCondition(before, conditionType), meta.FindStatusCondition(after, conditionType))
			})
		},
	}
}

func conditionsOf(object client.Object) []metav1.Condition {
	switch o := object.(type) {
	case *v1alpha1.DesignateBackend:
		return o.Status.Conditions
	case *v1alpha1.DesignatePool:
		return o.Status.Conditions
	default:
		return nil
	}
}

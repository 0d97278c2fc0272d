package requests

import (
	"context"
	"sync"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Audience are the controllers that are told of objects by something else than the API server. They are told through their
// workqueues, which take what they are given at once and hold each object once, however slow the controller is.
type Audience struct {
	mutex  sync.Mutex
	queues map[*queue]struct{}
}

// Source is what makes a controller one of the audience until it is stopped.
func (a *Audience) Source() source.Source {
	return source.Func(func(ctx context.Context, q queue) error {
		a.mutex.Lock()
		defer a.mutex.Unlock()
		if a.queues == nil {
			a.queues = map[*queue]struct{}{}
		}
		a.queues[&q] = struct{}{}
		context.AfterFunc(ctx, func() {
			a.mutex.Lock()
			defer a.mutex.Unlock()
			delete(a.queues, &q)
		})
		return nil
	})
}

// Tell has everybody of the audience look at some objects.
func (a *Audience) Tell(objects ...client.ObjectKey) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for q := range a.queues {
		for _, object := range objects {
			(*q).Add(reconcile.Request{NamespacedName: object})
		}
	}
}

package requests

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestAControllerThatHasStoppedIsToldNothing(t *testing.T) {
	var audience Audience
	newQueue := func() queue {
		q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		t.Cleanup(q.ShutDown)
		return q
	}
	stays, stops := newQueue(), newQueue()
	ctx, stop := context.WithCancel(t.Context())
	for q, until := range map[queue]context.Context{stays: t.Context(), stops: ctx} {
		if err := audience.Source().Start(until, q); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		audience.mutex.Lock()
		left := len(audience.queues)
		audience.mutex.Unlock()
		if left == 1 {
			break
		}
		if time.Since(begun) > 10*time.Second {
			t.Fatal("it is among those who are told ten seconds after it has stopped")
		}
	}
	audience.Tell(client.ObjectKey{Namespace: "dns", Name: "designate"}, client.ObjectKey{Namespace: "dns", Name: "designate"})
	if stays.Len() != 1 || stops.Len() != 0 {
		t.Errorf("told are %d and %d, want the one that goes on, once", stays.Len(), stops.Len())
	}
}

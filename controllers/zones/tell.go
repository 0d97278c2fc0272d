package zones

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
)

// tell tells the DesignateBackend of an attempt, and those pools that it is news for.
func (o *Observer) tell(ctx context.Context, backend *v1alpha1.DesignateBackend, m *memory, before View) {
	o.backends.Tell(client.ObjectKeyFromObject(backend))
	pools, err := o.poolsOf(ctx, backend.Namespace)
	if err != nil {
		log.FromContext(ctx).Error(err, "Pools are not told of their zones before the next attempt")
		return
	}
	o.mutex.Lock()
	names := m.audienceOf(pools, backend, before)
	complete := m.view.Failure == nil
	o.mutex.Unlock()
	for i := range pools {
		if complete {
			o.listings.Tell(client.ObjectKeyFromObject(&pools[i]))
		}
	}
	for _, name := range names {
		o.pools.Tell(client.ObjectKey{Namespace: backend.Namespace, Name: name})
	}
}

// watchAge tells everybody of a namespace when the last listing has become too old, which no attempt may be over to tell:
// one that hangs takes its time.
func (o *Observer) watchAge(namespace string, m *memory) {
	if m.view.Listing == nil {
		return
	}
	// At the very end it still counts.
	staleAt := m.view.Listing.Began.Add(m.view.FreshFor + time.Second)
	if m.staleAt.Equal(staleAt) {
		return
	}
	m.stopWatching()
	now := o.Clock.Now()
	if m.staleAt = staleAt; staleAt.After(now) {
		m.stale = o.Clock.AfterFunc(staleAt.Sub(now), func() { o.tellAll(namespace) })
	}
}

func (o *Observer) tellAll(namespace string) {
	o.backends.Tell(client.ObjectKey{Namespace: namespace, Name: v1alpha1.BackendName})
	ctx := context.Background()
	pools, err := o.poolsOf(ctx, namespace)
	if err != nil {
		log.FromContext(ctx).Error(err, "Pools are not told that what is known of their zones is too old", "namespace", namespace)
		return
	}
	for i := range pools {
		o.pools.Tell(client.ObjectKeyFromObject(&pools[i]))
	}
}

// report logs when listing begins to fail, fails in another way, or succeeds again: not each attempt.
func report(ctx context.Context, before, after View) {
	logger := log.FromContext(ctx)
	switch {
	case after.Failure == nil && before.Failure != nil:
		logger.Info("Designate lists the zones again", "failedSince", before.FailingSince)
	case after.Failure != nil && (before.Failure == nil || designate.KindOf(before.Failure) != designate.KindOf(after.Failure)):
		logger.Info("The zones cannot be listed", "kind", designate.KindOf(after.Failure), "reason", after.Failure.Error())
	}
}

// stopWatching stops the timer of watchAge.
func (m *memory) stopWatching() {
	if m.stale != nil {
		m.stale.Stop()
		m.stale = nil
	}
}

// audienceOf are the pools to tell of an attempt: those whose removal is wanted, for whose gate every attempt is news, and
// after a listing those whose zones have changed, or whose status would else show too old a time.
func (m *memory) audienceOf(pools []v1alpha1.DesignatePool, backend *v1alpha1.DesignateBackend, before View) []string {
	var names []string
	for i := range pools {
		id := pools[i].Status.PoolID
		_, leaves := IntentOf(&pools[i], backend)
		if leaves || m.newsFor(id, before) {
			names = append(names, pools[i].Name)
			if m.view.Failure == nil {
				m.told[id] = m.view.Listing.Began
			}
		}
	}
	return names
}

func (m *memory) newsFor(id string, before View) bool {
	if id == "" || m.view.Failure != nil {
		return false
	}
	listing := m.view.Listing
	if before.Fresh(listing.Ended) == nil {
		return true
	}
	told, known := m.told[id]
	return !known || !sameZones(before.Listing.In(id), listing.In(id)) || listing.Began.Sub(told) >= refreshAfter
}

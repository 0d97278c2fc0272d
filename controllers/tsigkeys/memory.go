package tsigkeys

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
)

const (
	// verifiedFor is how long what Designate has is taken to be as it was: somebody may delete a key.
	verifiedFor = 5 * time.Minute
	// longestRetry is the longest wait after a failure.
	longestRetry = 5 * time.Minute
)

// memory is what is remembered of one Designate. Only the pass over its namespace changes it; the Registrar's mutex guards
// the view, which others read.
type memory struct {
	backend types.UID
	access  v1alpha1.DesignateAccess
	view    View
	// registered are the keys that Designate has under the names of our pools', and seen the pools that had one at some
	// time, which opened them for zones.
	registered map[types.UID]designate.TSIGKey
	seen       map[types.UID]bool
	// foreign are the names of keys for our pools that are not ours.
	foreign map[types.UID]string
	// listed is when the keys were last listed, and asked are the pools whose keys were looked for in that.
	listed time.Time
	asked  map[types.UID]bool
	// listing is how the last listing failed, setbacks how the keys of single pools did.
	listing  designate.Setback
	setbacks map[types.UID]designate.Setback
}

// after is a setback once the next attempt has failed, too.
func after(before designate.Setback, err error, now time.Time) designate.Setback {
	kind := designate.KindOf(err)
	if kind == designate.AlreadyExists {
		// Made since the keys were listed. The next listing tells by whom, so there is no need for a person yet.
		kind = designate.Unreachable
	}
	return before.After(err, kind, longestRetry, now)
}

// memoryOf is what is remembered of the Designate that a DesignateBackend says; nothing of another one.
func (r *Registrar) memoryOf(backend *v1alpha1.DesignateBackend) *memory {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	m := r.memories[backend.Namespace]
	if m != nil && m.backend == backend.UID && equality.Semantic.DeepEqual(m.access, *backend.Spec.Designate.Access) {
		return m
	}
	m = &memory{
		backend: backend.UID, access: *backend.Spec.Designate.Access.DeepCopy(),
		registered: map[types.UID]designate.TSIGKey{}, seen: map[types.UID]bool{}, setbacks: map[types.UID]designate.Setback{},
	}
	if r.memories == nil {
		r.memories = map[string]*memory{}
	}
	r.memories[backend.Namespace] = m
	return m
}

func (r *Registrar) forget(namespace string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.memories, namespace)
}

// due says whether to ask Designate now: for something to do, or because nobody has for long.
func (m *memory) due(pools []wanted, now time.Time) bool {
	return len(pools) > 0 && !now.Before(m.next(pools, now))
}

// next is when to ask Designate without an event.
func (m *memory) next(pools []wanted, now time.Time) time.Time {
	if m.listing.Err != nil {
		return m.listing.Next
	}
	if slices.ContainsFunc(pools, func(pool wanted) bool { return !m.asked[pool.entry.UID] }) {
		return now
	}
	next := m.listed.Add(verifiedFor)
	for i := range pools {
		if m.action(&pools[i]) == nothing {
			continue
		}
		// What has not failed is done at once.
		at := now
		if failed := m.setbacks[pools[i].entry.UID]; failed.Err != nil {
			at = failed.Next
		}
		if at.Before(next) {
			next = at
		}
	}
	return next
}

// publish tells what is known now, and asks for the pools for which it is news.
func (r *Registrar) publish(namespace string, m *memory, pools []wanted) {
	view := View{asked: maps.Clone(m.asked), registered: maps.Clone(m.registered), states: map[types.UID]state{}}
	for i := range pools {
		if s, ok := m.state(&pools[i]); ok {
			view.states[pools[i].entry.UID] = s
		}
	}
	r.mutex.Lock()
	before := m.view
	m.view = view
	r.mutex.Unlock()
	for i := range pools {
		uid := pools[i].entry.UID
		if before.asked[uid] != view.asked[uid] || before.states[uid] != view.states[uid] || before.registered[uid] != view.registered[uid] {
			r.pools.Tell(client.ObjectKey{Namespace: namespace, Name: pools[i].entry.Object})
		}
	}
}

package zones

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
)

// target is the Designate that a DesignateBackend says. Zones of one say nothing of those of another.
type target struct {
	backend     types.UID
	credentials v1alpha1.CloudCredentialsRef
	endpoint    string
}

// targetOf is that of a DesignateBackend with access.
func targetOf(backend *v1alpha1.DesignateBackend) target {
	t := target{backend: backend.UID, endpoint: backend.Spec.Designate.Access.Endpoint}
	if ref := backend.Spec.Designate.Access.CloudCredentialsRef; ref != nil {
		t.credentials = *ref
	}
	return t
}

// memory is what is known of one Designate. The Observer's mutex guards it.
type memory struct {
	target  target
	view    View
	history history
	// credentials is the version of the Secret that the newest attempt went by; empty when there was none.
	credentials string
	// failed counts failures by kind since the Designate is observed.
	failed map[designate.Kind]int

	// step counts what happened, in order: beginnings of attempts and first sights of intents. Two of them may have the
	// same time on a clock, and clocks are set back.
	step int64
	// listedAt is the step at which the last complete listing began, and intents those at which each was first seen.
	listedAt int64
	intents  map[Intent]int64

	// wantedAfter is the time after which somebody wants a listing to have begun.
	wantedAfter time.Time

	// pools are the names of the namespace's DesignatePools by their ids in Designate, and told is when the listing
	// began of which each was last told.
	pools map[string]string
	told  map[string]time.Time

	// abandon ends the attempt that is going on; nil when none is.
	abandon context.CancelCauseFunc
	// stale fires when the listing is too old to count, at staleAt.
	stale   clock.Timer
	staleAt time.Time
}

// note remembers when an intent was first seen.
func (m *memory) note(intent Intent) (step int64) {
	step, seen := m.intents[intent]
	if !seen {
		m.step++
		step = m.step
		m.intents[intent] = step
	}
	return step
}

// noteAll remembers the intents there are, and forgets all others.
func (m *memory) noteAll(intents []Intent) {
	before := m.intents
	m.intents = make(map[Intent]int64, len(intents))
	for _, intent := range intents {
		if step, seen := before[intent]; seen {
			m.intents[intent] = step
			continue
		}
		m.note(intent)
	}
}

// demanded says that somebody, or an intent, waits for a listing that has yet to begin.
func (m *memory) demanded() bool {
	if !m.wantedAfter.IsZero() && (m.view.Listing == nil || !m.view.Listing.Began.After(m.wantedAfter)) {
		return true
	}
	for _, step := range m.intents {
		if step > m.listedAt {
			return true
		}
	}
	return false
}

// succeed remembers a complete listing.
func (m *memory) succeed(listing *Listing, step int64, chance float64) {
	m.view.Listing, m.listedAt = listing, step
	m.view.Failure, m.view.FailedAt, m.view.FailingSince = nil, time.Time{}, time.Time{}
	m.history = history{
		began: listing.Began, ended: listing.Ended, cost: listing.Ended.Sub(listing.Began), chance: chance,
	}
}

// fail remembers that an attempt failed. What the last listing said stays.
func (m *memory) fail(err *designate.Error, began, ended time.Time, chance float64) {
	if m.view.Failure == nil {
		m.view.FailingSince = ended
	}
	m.view.Failure, m.view.FailedAt = err, ended
	m.failed[err.Kind]++
	m.history = history{
		began: began, ended: ended, cost: m.history.cost, failures: m.history.failures + 1, kind: err.Kind,
		retryAfter: err.RetryAfter, chance: chance,
	}
}

// rememberPools brings up to date which DesignatePools there are, and which are to go.
func (m *memory) rememberPools(pools []v1alpha1.DesignatePool, backend *v1alpha1.DesignateBackend) {
	m.pools = make(map[string]string, len(pools))
	var intents []Intent
	for i := range pools {
		if id := pools[i].Status.PoolID; id != "" {
			m.pools[id] = pools[i].Name
		}
		if intent, wanted := IntentOf(&pools[i], backend); wanted {
			intents = append(intents, intent)
		}
	}
	m.noteAll(intents)
	for id := range m.told {
		if _, remains := m.pools[id]; !remains {
			delete(m.told, id)
		}
	}
}

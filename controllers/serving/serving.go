// Package serving asks the BIND servers of the pools which zones they have, and holds that against the zones that Designate has in
// each pool. Without access to Designate it does so for servers that take over from others, and holds it against what those have. What
// it knows lives in memory; it writes nothing.
package serving

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/designate-pools/designate-pool-operator/controllers/requests"
	"github.com/designate-pools/designate-pool-operator/controllers/statistics"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// Observation is what one server was found to have, held against one listing of Designate's zones.
type Observation struct {
	// Pod is the UID of the server's pod.
	Pod types.UID
	// Listed is when the listing began, Asked when the server was asked after that.
	Listed, Asked time.Time
	// Difference is that between the two; nothing when Err says why it could not be found out.
	Difference statistics.Difference
	Err        error
}

// Viewer tells what is known of the servers of pools.
type Viewer interface {
	View(pool types.UID) View
}

// View is what is known of the servers of one pool. It is never changed once it has been given out.
type View struct{ servers map[int32]record }

// record is what is known of one server: the newest observation, and the newest one of an older listing by the same pod.
type record struct {
	last   Observation
	before *Observation
}

// ServesAll says that a server was seen to answer for every zone of its pool: by the pod that it has now, and held against a
// listing that began after a time.
func (v View) ServesAll(ordinal int32, pod types.UID, since time.Time) bool {
	r, known := v.servers[ordinal]
	return known && r.last.Err == nil && r.last.Pod == pod && r.last.Listed.After(since) && r.last.Difference.Missing.Total == 0
}

// Confirmed is how a server's zones differ from Designate's, as far as two listings found it. One alone tells only that nothing
// differs, for it may have met what was under way. known is false while nobody can say.
func (v View) Confirmed(ordinal int32) (difference statistics.Difference, known bool) {
	r, exists := v.servers[ordinal]
	if !exists || r.last.Err != nil {
		return statistics.Difference{}, false
	}
	last := r.last.Difference
	if r.before == nil {
		return statistics.Difference{}, last.Missing.Total+last.Extra.Total+last.Stale.Total == 0
	}
	before := r.before.Difference
	return statistics.Difference{
		Missing: lesser(last.Missing, before.Missing),
		Extra:   lesser(last.Extra, before.Extra),
		Stale:   lesser(last.Stale, before.Stale),
	}, true
}

// Extra is the most that one of the servers with the lowest ordinals, so many, has besides what Designate wants there. The error
// says which of them has not been asked since a listing began.
func (v View) Extra(servers int32, since time.Time) (most statistics.Tally, err error) {
	for ordinal := range servers {
		r, known := v.servers[ordinal]
		switch {
		case !known || r.last.Listed.Before(since):
			return statistics.Tally{}, fmt.Errorf("server %d has not been asked yet", ordinal)
		case r.last.Err != nil:
			return statistics.Tally{}, fmt.Errorf("server %d: %w", ordinal, r.last.Err)
		case r.last.Difference.Extra.Total > most.Total:
			most = r.last.Difference.Extra
		}
	}
	return most, nil
}

// lesser is the newer of two tallies, with no more zones than the older one had.
func lesser(now, before statistics.Tally) statistics.Tally {
	if before.Total < now.Total {
		now.Total = before.Total
		now.Names = now.Names[:min(len(now.Names), now.Total)]
	}
	return now
}

// Failure is why a server could not be asked; nil when it could, or has not been.
func (v View) Failure(ordinal int32) error { return v.servers[ordinal].last.Err }

// Lacks is what a server was last found to lack, be it for long or not.
func (v View) Lacks(ordinal int32) statistics.Tally {
	return v.servers[ordinal].last.Difference.Missing
}

// Seen is what a pod of a server was last found to lack; known is false while it has not been asked.
func (v View) Seen(ordinal int32, pod types.UID) (missing statistics.Tally, known bool) {
	last := v.servers[ordinal].last
	return last.Difference.Missing, last.Err == nil && last.Pod == pod && pod != ""
}

// Observer asks the servers. It is one controller; a request names a DesignatePool.
type Observer struct {
	// Client reads from the cache.
	Client client.Reader
	// Ask asks the server at an address.
	Ask statistics.Ask
	// Zones tells which zones Designate has.
	Zones zones.Viewer
	Clock clock.PassiveClock

	mutex sync.Mutex
	known map[types.UID]*knowledge

	pools, backends requests.Audience
}

// knowledge is what is known of one pool.
type knowledge struct {
	// pool is the DesignatePool.
	pool client.ObjectKey
	view View
	// joining is how many times in a row servers that have not joined were asked and lacked zones.
	joining int
}

// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatebackends;designatepools,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=configmaps;pods,verbs=get;list;watch

// PoolChanges asks for DesignatePools when what a status says of their servers' zones changes.
func (o *Observer) PoolChanges() source.Source { return o.pools.Source() }

// BackendChanges asks for the DesignateBackend when a server that has not joined is seen to have all zones.
func (o *Observer) BackendChanges() source.Source { return o.backends.Source() }

// View implements Viewer.
func (o *Observer) View(pool types.UID) View {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if k := o.known[pool]; k != nil {
		return k.view
	}
	return View{}
}

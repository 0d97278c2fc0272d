// Package zones counts the zones of all projects in one Designate: one listing for each DesignateBackend at a time, shared
// by all of its pools. It never says 0 where nobody knows.
package zones

import (
	"time"

	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/statistics"
)

// Listing is one complete listing.
type Listing struct {
	// Began and Ended are by this process's clock. A zone that was there before Began and is not in the listing is gone.
	Began, Ended time.Time
	// Total is how many zones there are in all pools.
	Total int
	// Pools counts the zones of each pool, by its id in Designate; those of pools without zones are missing.
	Pools map[string]*PoolZones
	// Known are all pools that Designate has, ours or not.
	Known []designate.Pool
	// Wanted are the zones of each pool, by its id in Designate, to hold servers against; those of pools without zones are missing.
	Wanted map[string]*statistics.Wanted
}

// WantedIn are the zones that Designate wants on the servers of one pool.
func (l *Listing) WantedIn(poolID string) *statistics.Wanted {
	if wanted := l.Wanted[poolID]; wanted != nil {
		return wanted
	}
	return &statistics.Wanted{}
}

// In counts the zones of one pool.
func (l *Listing) In(poolID string) PoolZones {
	if pool := l.Pools[poolID]; pool != nil {
		return *pool
	}
	return PoolZones{}
}

// PoolZones counts the zones of one pool.
type PoolZones struct {
	Total int
	// States count the zones in each state.
	States map[State]int
	// Names are those of a few zones, in alphabetical order.
	Names []string
	// Astray are zones that are in this pool although their attributes ask for another.
	Astray int
	// AstrayName is the name of one of them, AstrayPool the id of the pool that it asks for.
	AstrayName, AstrayPool string
}

// Deleting counts the zones that Designate is deleting.
func (p PoolZones) Deleting() int {
	total := 0
	for state, count := range p.States {
		if state.Action == designate.ActionDelete {
			total += count
		}
	}
	return total
}

// State is the state of a zone, in Designate's own words.
type State struct{ Status, Action string }

// Viewer tells what is known of the zones of a namespace's Designate.
type Viewer interface {
	View(namespace string) View
}

// View is what is known of the zones of one Designate.
type View struct {
	// Listing is the last complete one; nil before there is one.
	Listing *Listing
	// Failure says why the newest attempt failed; nil when it did not.
	Failure error
	// FailedAt is when it failed, and FailingSince when the first of the failures in a row did.
	FailedAt, FailingSince time.Time
	// FreshFor is how long a listing counts: several intervals at which they are made.
	FreshFor time.Duration
}

// Fresh is the last listing, if it is young enough to count.
func (v View) Fresh(now time.Time) *Listing {
	if v.Listing == nil || now.Sub(v.Listing.Began) > v.FreshFor {
		return nil
	}
	return v.Listing
}

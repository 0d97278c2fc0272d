package removal

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/pooldeletion"
	"github.com/designate-pools/designate-pool-operator/controllers/serving"
	"github.com/designate-pools/designate-pool-operator/controllers/statistics"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// Facts are what the gate goes by.
type Facts struct {
	// Pool is nil when it has vanished without having been removed, and left servers.
	Pool *v1alpha1.DesignatePool
	// Entry is the pool's in the ledger; nil without one.
	Entry *ledger.Pool
	// Backend is nil when the namespace has none.
	Backend *v1alpha1.DesignateBackend
	// HoldsNothing says that the pool is known to have no entry in the ledger: no servers, no place in pools.yaml, nothing to
	// lose.
	HoldsNothing bool
	// OtherPools is how many other pools the namespace still has, being removed or not.
	OtherPools int
	// View is what is known of the zones of all pools.
	View zones.View
	// Listing is one that counts and began after the wish to remove the pool; nil while there is none.
	Listing *zones.Listing
	// Updating says that a pool update that may hold the pool goes on.
	Updating bool
	// Answer is what Designate said when it was to delete the pool.
	Answer pooldeletion.Answer
	// Held are the zones that the pool's servers have and Designate does not know in it, and Unasked is why nobody knows. They
	// count only where Designate does not know the pool.
	Held    statistics.Tally
	Unasked error
	Now     time.Time
}

// Namespace is where facts are gathered from: what is known of one namespace.
type Namespace struct {
	Backend *v1alpha1.DesignateBackend
	Pools   []v1alpha1.DesignatePool
	Ledger  *ledger.Ledger
	// LedgerLost says that nothing is known of what a pool holds.
	LedgerLost bool
	// Updating says that a pool update goes on of which the ledger does not know.
	Updating bool
	View     zones.View
	// ListedSince is the last listing that counts and began after a wish was first seen; nil while there is none.
	ListedSince func(zones.Intent) *zones.Listing
	// Answer is what Designate said to an attempt to delete a pool.
	Answer func(token string) pooldeletion.Answer
	// Serving is what is known of the servers of a pool.
	Serving func(pool types.UID) serving.View
	Now     time.Time
}

// Of gathers what the gate goes by for one of the pools.
func (n *Namespace) Of(pool *v1alpha1.DesignatePool) Facts {
	facts := n.facts(n.Ledger.Pool(pool.UID), pool.UID)
	facts.Pool = pool
	facts.HoldsNothing = !n.LedgerLost && facts.Entry == nil
	if intent, wanted := zones.IntentOf(pool, n.Backend); wanted && facts.Entry != nil && n.hasAccess() {
		facts.setListing(n, n.ListedSince(intent))
	}
	return facts
}

// OfVanished is the same for a pool whose DesignatePool is gone.
func (n *Namespace) OfVanished(entry *ledger.Pool) Facts {
	facts := n.facts(entry, entry.UID)
	if listing := n.View.Fresh(n.Now); listing != nil && entry.Vanished != nil && listing.Began.After(entry.Vanished.Time) {
		facts.setListing(n, listing)
	}
	return facts
}

func (n *Namespace) facts(entry *ledger.Pool, uid types.UID) Facts {
	facts := Facts{Entry: entry, Backend: n.Backend, OtherPools: n.others(uid), View: n.View, Updating: n.Updating, Now: n.Now}
	if entry == nil {
		return facts
	}
	facts.Updating = facts.Updating || n.Ledger.Applying(uid)
	if token := entry.DeletionToken(); token != "" {
		facts.Answer = n.Answer(token)
	}
	return facts
}

// setListing takes a listing if it began late enough after zones were last found in the pool past the point of no return.
func (f *Facts) setListing(n *Namespace, listing *zones.Listing) {
	if listing == nil || !listing.Began.After(NextTry(f.Entry)) {
		return
	}
	f.Listing = listing
	if slices.ContainsFunc(f.Entry.Servers, ledger.Server.Listed) {
		f.Held, f.Unasked = n.Serving(f.Entry.UID).Extra(f.Entry.Accepted.BINDReplicas, listing.Began)
	}
}

func (n *Namespace) hasAccess() bool {
	return n.Backend != nil && n.Backend.Spec.Designate.Access != nil
}

// others is how many pools the namespace has besides one: DesignatePools, and pools that have vanished and left servers.
func (n *Namespace) others(of types.UID) int {
	uids := map[types.UID]bool{}
	for i := range n.Pools {
		uids[n.Pools[i].UID] = true
	}
	for i := range n.Ledger.Pools {
		uids[n.Ledger.Pools[i].UID] = true
	}
	delete(uids, of)
	return len(uids)
}

const (
	// firstDelay is how long after a refusal the gate may be passed again; it doubles with each further one.
	firstDelay   = 15 * time.Second
	longestDelay = 10 * time.Minute
)

// NextTry is the time after which a listing has to begin for a pool to pass the gate; zero while Designate never refused.
func NextTry(entry *ledger.Pool) time.Time {
	if entry.Deletion == nil || entry.Deletion.Refused == nil {
		return time.Time{}
	}
	delay := firstDelay
	for range entry.Deletion.Refusals - 1 {
		if delay *= 2; delay >= longestDelay {
			delay = longestDelay
			break
		}
	}
	return entry.Deletion.Refused.Add(delay)
}

// wanted says that somebody asked for the removal, or that the pool has vanished.
func (f *Facts) wanted() bool {
	if f.Pool == nil {
		return f.Entry != nil && f.Entry.Vanished != nil
	}
	_, wanted := zones.IntentOf(f.Pool, f.Backend)
	return wanted
}

// name is the pool's in Designate.
func (f *Facts) name() string {
	if f.Pool == nil {
		return f.Entry.Name
	}
	return f.Pool.PoolName()
}

func (f *Facts) isDefault() bool { return f.name() == v1alpha1.DefaultPoolName }

// known says that Designate has a pool of the entry's id.
func known(listing *zones.Listing, entry *ledger.Pool) bool {
	return slices.ContainsFunc(listing.Known, func(p designate.Pool) bool { return p.ID == entry.ID })
}

// Package removal is the gate that every pool passes before anything of it is taken away. It is the one place that
// decides this: the aggregator goes by it, and the pool controller shows what it says.
package removal

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// Facts are what the gate goes by.
type Facts struct {
	Pool *v1alpha1.DesignatePool
	// Backend is nil when the namespace has none.
	Backend *v1alpha1.DesignateBackend
	// HoldsNothing says that the pool is known to have no entry in the ledger: no servers, no place in pools.yaml, nothing to
	// lose.
	HoldsNothing bool
	// OtherPools is how many other pools the namespace still has, being removed or not.
	OtherPools int
	// Zones are those of the pool in Designate; nil while nobody knows.
	Zones *zones.PoolZones
	// View is what is known of the zones of all pools.
	View zones.View
	Now  time.Time
}

// FactsOf gathers what the gate goes by for one of the pools of a namespace. entries are those of the ledger; while that
// is lost, no pool is known to hold nothing.
func FactsOf(
	pool *v1alpha1.DesignatePool, backend *v1alpha1.DesignateBackend, pools []v1alpha1.DesignatePool,
	entries []ledger.Pool, ledgerLost bool, view zones.View, now time.Time,
) Facts {
	facts := Facts{Pool: pool, Backend: backend, OtherPools: others(pool, pools, entries), View: view, Now: now}
	entry := slices.IndexFunc(entries, func(entry ledger.Pool) bool { return entry.UID == pool.UID })
	facts.HoldsNothing = !ledgerLost && entry < 0
	if listing := view.Fresh(now); listing != nil && entry >= 0 {
		facts.Zones = ptr.To(listing.In(entries[entry].ID))
	}
	return facts
}

// others is how many pools a namespace has besides one: DesignatePools, and pools that have vanished and left servers.
func others(of *v1alpha1.DesignatePool, pools []v1alpha1.DesignatePool, entries []ledger.Pool) int {
	uids := map[types.UID]bool{}
	for i := range pools {
		uids[pools[i].UID] = true
	}
	for i := range entries {
		uids[entries[i].UID] = true
	}
	delete(uids, of.UID)
	return len(uids)
}

// Verdict is what the gate says.
type Verdict struct {
	// Wanted says that somebody asked for the removal.
	Wanted bool
	// Allowed says that it may go on.
	Allowed bool
	// Forced says that it may because somebody forced it.
	Forced bool
	// Reason and Message say what blocks it; both are empty when nothing does.
	Reason, Message string
}

// Blocked says that removal is wanted and may not go on.
func (v Verdict) Blocked() bool { return v.Wanted && !v.Allowed }

// Judge lets a pool pass or not. Doubt never lets it pass.
//
// Whether zones are left only Designate can say. Where it says that none is, a person still has to say so too, by force:
// taking a pool out of Designate is not yet done here.
func Judge(facts Facts) Verdict {
	_, wanted := zones.IntentOf(facts.Pool, facts.Backend)
	switch {
	case !wanted:
		return Verdict{}
	case facts.HoldsNothing:
		return Verdict{Wanted: true, Allowed: true}
	case facts.Pool.IsDefault() && facts.Backend != nil && !leaves(facts.Backend):
		return blocked(v1alpha1.ReasonDefaultPoolRequired,
			"Designate always has the pool default: it stays as long as the DesignateBackend %s. Delete that to remove all pools.",
			v1alpha1.BackendName)
	case facts.Pool.IsDefault() && facts.OtherPools > 0:
		return blocked(v1alpha1.ReasonOtherPoolsRemain, "The pool default goes last; other pools that are still there: %d.", facts.OtherPools)
	default:
		return judgeZones(facts)
	}
}

// judgeZones lets a pool pass that a person has forced, and says of any other what is known of its zones.
func judgeZones(facts Facts) Verdict {
	pool := facts.Pool
	switch force, set := pool.Annotations[v1alpha1.AnnotationForceRemoval]; {
	case set && force == pool.PoolName():
		return Verdict{Wanted: true, Allowed: true, Forced: true}
	case set:
		return blocked(v1alpha1.ReasonForceAnnotationMismatch, "The annotation %s holds %q, and the pool's name is %q: nothing is forced.",
			v1alpha1.AnnotationForceRemoval, force, pool.PoolName())
	case facts.Backend == nil || facts.Backend.Spec.Designate.Access == nil:
		return blocked(v1alpha1.ReasonDesignateAccessMissing,
			"Only Designate knows whether the pool %q still has zones, and this operator cannot ask it. The pool keeps working. "+
				"Once you have made sure that no zone of any project is left in it, set the annotation %s to %q.",
			pool.PoolName(), v1alpha1.AnnotationForceRemoval, pool.PoolName())
	case facts.View.Failure != nil:
		unreachable := facts.View.Reachable(facts.Now)
		return blocked(unreachable.Reason, "Nobody can tell whether the pool %q still has zones. %s", pool.PoolName(), unreachable.Message)
	case facts.Zones == nil:
		return blocked(v1alpha1.ReasonZonesUnknown, "Designate has not said yet whether the pool %q still has zones.", pool.PoolName())
	case facts.Zones.Total > 0:
		return judgeExisting(facts.Zones)
	}
	return blocked(v1alpha1.ReasonForceRequired,
		"Designate lists no zone of the pool %q. This version does not take pools out of Designate: make sure that none is created "+
			"in it any more, and set the annotation %s to %q.", pool.PoolName(), v1alpha1.AnnotationForceRemoval, pool.PoolName())
}

// judgeExisting says which zones are in the way.
func judgeExisting(existing *zones.PoolZones) Verdict {
	names := zones.Few(existing.Names, existing.Total)
	if existing.Deleting() == existing.Total {
		return blocked(v1alpha1.ReasonZonesBeingDeleted, "Zones that Designate is still deleting: %d (%s).", existing.Total, names)
	}
	return blocked(v1alpha1.ReasonZonesExist,
		"Zones that are in the pool: %d (%s). Delete them or move them to another pool; the pool keeps working until then.",
		existing.Total, names)
}

// leaves says that the DesignateBackend is being deleted.
func leaves(backend *v1alpha1.DesignateBackend) bool {
	return backend != nil && backend.DeletionTimestamp != nil
}

func blocked(reason, message string, arguments ...any) Verdict {
	return Verdict{Wanted: true, Reason: reason, Message: fmt.Sprintf(message, arguments...)}
}

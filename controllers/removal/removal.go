// Package removal is the gate that every pool passes before anything of it is taken away. It is the one place that
// decides this: the aggregator goes by it, and the pool controller shows what it says.
package removal

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
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
}

// FactsOf gathers what the gate goes by for one of the pools of a namespace. entries are those of the ledger; while that
// is lost, no pool is known to hold nothing.
func FactsOf(
	pool *v1alpha1.DesignatePool, backend *v1alpha1.DesignateBackend, pools []v1alpha1.DesignatePool,
	entries []ledger.Pool, ledgerLost bool,
) Facts {
	return Facts{
		Pool:         pool,
		Backend:      backend,
		HoldsNothing: !ledgerLost && !slices.ContainsFunc(entries, func(entry ledger.Pool) bool { return entry.UID == pool.UID }),
		OtherPools:   others(pool, pools, entries),
	}
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
// Whether zones are left only Designate can say, and this operator has no access to it yet: so a removal waits for a
// person to force it.
func Judge(facts Facts) Verdict {
	switch {
	case !asked(facts.Pool) && !leaves(facts.Backend):
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
		return judgeZones(facts.Pool)
	}
}

// judgeZones lets a pool pass when it has no zones, which for now only a person can say.
func judgeZones(pool *v1alpha1.DesignatePool) Verdict {
	switch force, set := pool.Annotations[v1alpha1.AnnotationForceRemoval]; {
	case set && force == pool.PoolName():
		return Verdict{Wanted: true, Allowed: true, Forced: true}
	case set:
		return blocked(v1alpha1.ReasonForceAnnotationMismatch, "The annotation %s holds %q, and the pool's name is %q: nothing is forced.",
			v1alpha1.AnnotationForceRemoval, force, pool.PoolName())
	}
	return blocked(v1alpha1.ReasonDesignateAccessMissing,
		"Only Designate knows whether the pool %q still has zones, and this operator cannot ask it. The pool keeps working. "+
			"Once you have made sure that no zone of any project is left in it, set the annotation %s to %q.",
		pool.PoolName(), v1alpha1.AnnotationForceRemoval, pool.PoolName())
}

// leaves says that the DesignateBackend is being deleted.
func leaves(backend *v1alpha1.DesignateBackend) bool {
	return backend != nil && backend.DeletionTimestamp != nil
}

func asked(pool *v1alpha1.DesignatePool) bool {
	_, requested := pool.Annotations[v1alpha1.AnnotationRemovalRequested]
	return requested || pool.DeletionTimestamp != nil
}

func blocked(reason, message string, arguments ...any) Verdict {
	return Verdict{Wanted: true, Reason: reason, Message: fmt.Sprintf(message, arguments...)}
}

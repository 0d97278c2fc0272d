// Package removal decides whether a pool may go, and how far it is gone. It is the one place that does: the aggregator goes by
// it, and the pool controller shows what it says. It is pure.
//
// Two things let a pool go: a listing without zones of it that began after the wish, and Designate, which then deletes the pool
// unless it sees zones itself. Its look and its deletion are not one step. So nothing else is taken away before a second
// listing, of which a zone that slipped in could not be missing any more; if there is one, the pool is made again.
package removal

import (
	"fmt"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

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

// Judge lets a pool pass or not. Doubt never lets it pass. Past the point of no return it says what is waited for.
func Judge(facts Facts) Verdict {
	switch {
	case facts.Entry != nil && facts.Entry.Leaving():
		return Verdict{Wanted: true, Allowed: true}
	case !facts.wanted() && (facts.Entry == nil || !facts.Entry.Removing()):
		return Verdict{}
	case facts.HoldsNothing:
		return Verdict{Wanted: true, Allowed: true}
	case facts.isDefault():
		return facts.judgeDefault()
	default:
		return facts.judgeForce()
	}
}

// judgeDefault lets the default pool pass last, and only with its DesignateBackend.
func (f *Facts) judgeDefault() Verdict {
	switch {
	case f.Backend != nil && f.Backend.DeletionTimestamp == nil:
		return blocked(v1alpha1.ReasonDefaultPoolRequired,
			"Designate always has the pool default: it stays as long as the DesignateBackend %s. Delete that to remove all pools.",
			v1alpha1.BackendName)
	case f.OtherPools > 0:
		return blocked(v1alpha1.ReasonOtherPoolsRemain, "The pool default goes last; other pools that are still there: %d.", f.OtherPools)
	default:
		return f.judgeForce()
	}
}

// judgeForce lets a pool pass that a person has forced.
func (f *Facts) judgeForce() Verdict {
	if f.Pool != nil {
		switch force, set := f.Pool.Annotations[v1alpha1.AnnotationForceRemoval]; {
		case set && force == f.name():
			return Verdict{Wanted: true, Allowed: true, Forced: true}
		case set:
			return blocked(v1alpha1.ReasonForceAnnotationMismatch, "The annotation %s holds %q, and the pool's name is %q: nothing is forced.",
				v1alpha1.AnnotationForceRemoval, force, f.name())
		}
	}
	switch {
	case f.Backend == nil || f.Backend.Spec.Designate.Access == nil:
		return f.judgeWithoutAccess()
	case f.Entry != nil && f.Entry.Removal == ledger.Deleting:
		return f.judgeDeletion()
	case f.Entry != nil && f.Entry.Removal == ledger.Deleted:
		return f.judgeConfirmation()
	default:
		return f.judgeZones()
	}
}

// judgeWithoutAccess says what a person has to do where only Designate knows.
func (f *Facts) judgeWithoutAccess() Verdict {
	mend := fmt.Sprintf("set the annotation %s to %q", v1alpha1.AnnotationForceRemoval, f.name())
	if f.Pool == nil {
		mend = fmt.Sprintf("delete everything that bears the label %s=%s", v1alpha1.LabelPoolUID, f.Entry.UID)
	}
	return blocked(v1alpha1.ReasonDesignateAccessMissing,
		"Only Designate knows whether the pool %q still has zones, and this operator cannot ask it. The pool keeps working. "+
			"Once you have made sure that no zone of any project is left in it, %s.", f.name(), mend)
}

// judgeZones lets a pool pass that is known to have none.
func (f *Facts) judgeZones() Verdict {
	switch {
	case f.View.Failure != nil:
		unreachable := f.View.Reachable(f.Now)
		return blocked(unreachable.Reason, "Nobody can tell whether the pool %q still has zones. %s", f.name(), unreachable.Message)
	case f.Listing == nil || f.Entry == nil:
		return blocked(v1alpha1.ReasonZonesUnknown, "Designate has not said yet whether the pool %q still has zones.", f.name())
	}
	existing := f.Listing.In(f.Entry.ID)
	switch {
	case existing.Total > 0:
		return f.judgeExisting(existing)
	case !known(f.Listing, f.Entry) && f.Unasked != nil:
		return blocked(v1alpha1.ReasonServersNotAsked, "Designate has no pool with the id %s, and its servers could not be asked whether "+
			"they hold zones: %s", f.Entry.ID, f.Unasked)
	case !known(f.Listing, f.Entry) && f.Held.Total > 0:
		return blocked(v1alpha1.ReasonServersHoldZones, "Designate has no pool with the id %s, and its servers hold zones: %d (%s). Is this the "+
			"Designate that they belong to? If nobody needs these zones, set the annotation %s to %q.",
			f.Entry.ID, f.Held.Total, zones.Few(f.Held.Names, f.Held.Total), v1alpha1.AnnotationForceRemoval, f.name())
	case f.Updating:
		return blocked(v1alpha1.ReasonPoolUpdateRunning, "A Job that applies the pool has to end first.")
	default:
		return Verdict{Wanted: true, Allowed: true}
	}
}

// judgeExisting says which zones are in the way.
func (f *Facts) judgeExisting(existing zones.PoolZones) Verdict {
	names := zones.Few(existing.Names, existing.Total)
	if existing.Deleting() == existing.Total {
		return blocked(v1alpha1.ReasonZonesBeingDeleted, "Zones that Designate is still deleting: %d (%s).", existing.Total, names)
	}
	verdict := blocked(v1alpha1.ReasonZonesExist,
		"Zones that are in the pool: %d (%s). Delete them or move them to another pool; the pool keeps working until then.",
		existing.Total, names)
	if !known(f.Listing, f.Entry) && f.Backend.Spec.Designate.Apply != v1alpha1.ApplyJob {
		verdict.Message += " Designate has no pool of their id any more: apply pools.yaml, which makes it again."
	}
	return verdict
}

// judgeDeletion says what the deletion in Designate waits for.
func (f *Facts) judgeDeletion() Verdict {
	if f.Answer.Err != nil {
		return blocked(zones.FailureReason(f.Answer.Err), "The point of no return is passed, and Designate is to delete the pool %q: %s",
			f.name(), f.Answer.Err)
	}
	return blocked(v1alpha1.ReasonDeletingInDesignate, "The point of no return is passed, and Designate is to delete the pool %q.", f.name())
}

// judgeConfirmation says what the second listing waits for.
func (f *Facts) judgeConfirmation() Verdict {
	if f.View.Failure != nil {
		unreachable := f.View.Reachable(f.Now)
		return blocked(unreachable.Reason, "Designate has no pool %q any more, and whether a zone was made in it meanwhile nobody can tell. %s",
			f.name(), unreachable.Message)
	}
	return blocked(v1alpha1.ReasonConfirmingRemoval,
		"Designate has no pool %q any more. Its servers stay until a listing shows that no zone was made in it meanwhile.", f.name())
}

func blocked(reason, message string, arguments ...any) Verdict {
	return Verdict{Wanted: true, Reason: reason, Message: fmt.Sprintf(message, arguments...)}
}

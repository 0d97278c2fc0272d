package backend

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/jobs"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/removal"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// serversLook is how soon to look again at servers that have not been asked which zones they have.
const serversLook = 5 * time.Second

// judgeRemovals decides which pools may go. That no unknown pool update goes on is looked up where everything else is as it
// should be.
func (r *Reconciler) judgeRemovals(ctx context.Context, s *scope) error {
	from := removal.Namespace{
		Backend: s.backend, Pools: s.pools, Ledger: &s.stored.Ledger, LedgerLost: s.ledgerLost, View: s.zones,
		ListedSince: func(intent zones.Intent) *zones.Listing { return r.Zones.ListedSince(s.namespace, intent) },
		Answer:      r.Deletions.Answer,
		Serving:     r.Serving.View,
		Now:         s.now,
	}
	s.judge(&from)
	if !s.passes() || s.stored.Run != nil {
		return nil
	}
	_, active, err := jobs.Newest(ctx, r.APIReader, s.namespace)
	if err != nil {
		return err
	}
	if active {
		from.Updating = true
		s.judge(&from)
	}
	return nil
}

// passes says that a pool is about to pass the gate because nothing is known to hold it.
func (s *scope) passes() bool {
	for uid, verdict := range s.removals {
		if entry := s.stored.Pool(uid); verdict.Allowed && !verdict.Forced && entry != nil && !entry.Removing() {
			return true
		}
	}
	return false
}

// plan is the ledger that follows from what was gathered.
func (s *scope) plan() *ledger.Ledger {
	planned := ledger.Plan(&s.stored.Ledger, s.facts)
	s.noteVanished(planned)
	for i := range planned.Pools {
		entry := &planned.Pools[i]
		if facts, judged := s.removalFacts[entry.UID]; judged {
			removal.Next(entry, s.removals[entry.UID], facts)
			s.awaitRemoval(entry)
		}
	}
	s.planRebuilds(planned)
	return planned
}

// awaitRemoval sees to it that there will be a listing that the removal of a pool waits for. What a wish waits for, the observer of
// zones knows by itself.
func (s *scope) awaitRemoval(entry *ledger.Pool) {
	after := removal.NextTry(entry)
	switch {
	case !s.hasAccess() || !s.removals[entry.UID].Wanted:
		return
	case entry.Removal == ledger.Deleted:
		after = removal.ConfirmAfter(entry, s.backend)
	case entry.Removal != "" || after.IsZero():
		if s.removals[entry.UID].Reason == v1alpha1.ReasonServersNotAsked {
			s.lookAgainAfter(serversLook)
		}
		return
	}
	if s.now.After(after) {
		s.awaitListing(after)
		return
	}
	s.lookAgainAfter(after.Sub(s.now) + time.Millisecond)
}

// forcedRemovals are the pools that pass the point of no return with a plan because somebody forced them.
func (s *scope) forcedRemovals(planned *ledger.Ledger) []*v1alpha1.DesignatePool {
	var pools []*v1alpha1.DesignatePool
	for i := range s.pools {
		uid := s.pools[i].UID
		before, after := s.stored.Pool(uid), planned.Pool(uid)
		if before != nil && !before.Removing() && after.Removing() && s.removals[uid].Forced {
			pools = append(pools, &s.pools[i])
		}
	}
	return pools
}

// announce says of pools that they are removed by force.
func (r *Reconciler) announce(ctx context.Context, s *scope, forced []*v1alpha1.DesignatePool) {
	for _, pool := range forced {
		log.FromContext(ctx).Info("Removing pool by force, without knowing whether it has zones", "pool", pool.PoolName())
		r.Recorder.Eventf(pool, s.relatedBackend(), corev1.EventTypeWarning, v1alpha1.EventForcedRemoval, "Remove",
			"The annotation %s was set: the pool is removed without asking Designate whether it still has zones.",
			v1alpha1.AnnotationForceRemoval)
	}
}

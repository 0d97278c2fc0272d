package backend

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/poolupdate"
)

// obstacleLook is how soon to look again at what is in the way of applying a pool.
const obstacleLook = 15 * time.Second

// findObstacles says of each pool that is to be applied what is in the way of that. What can be checked is checked before a
// pool is applied for the first time; what would be harmful at any time, always.
func (r *Reconciler) findObstacles(ctx context.Context, s *scope) {
	for i := range s.programming.facts.Pools {
		pool := &s.programming.facts.Pools[i]
		if poolupdate.Programmed(&s.stored.Ledger, pool) && len(pool.Empty) == 0 {
			continue
		}
		if s.keysErr != nil {
			reason, message := s.keysProblem()
			pool.Obstacle = &poolupdate.Obstacle{Reason: reason, Message: message}
			continue
		}
		entry := s.stored.Pool(pool.UID)
		first := entry.Applied == nil || entry.Applied.Entry == ""
		if first {
			r.seeWorkers(ctx, s)
		}
		if pool.Obstacle = s.obstacle(entry, first); pool.Obstacle != nil {
			// No event tells of Designate's workers.
			s.lookAgainAfter(obstacleLook)
		}
	}
}

// obstacle is the first thing in the way of applying a pool; nil when nothing is.
func (s *scope) obstacle(entry *ledger.Pool, first bool) *poolupdate.Obstacle {
	var conditions []metav1.Condition
	if s.hasAccess() {
		listing := s.newestListing()
		if listing == nil {
			// Whether zones are being deleted is not known either.
			reachable := s.zones.Reachable(s.now)
			return &poolupdate.Obstacle{Reason: reachable.Reason, Message: reachable.Message}
		}
		if first || entry.Name == v1alpha1.DefaultPoolName {
			conditions = append(conditions, s.defaultPoolCondition(listing.Known))
		}
		if conflicts := conflictsOf(entry, listing.Known); len(conflicts) > 0 {
			conditions = append(conditions, s.poolNamesCondition(listing.Known))
		}
	}
	if first {
		conditions = append(conditions, s.keysMountedCondition())
	}
	for i := range conditions {
		if conditions[i].Status != metav1.ConditionTrue {
			return &poolupdate.Obstacle{Reason: conditions[i].Reason, Message: conditions[i].Message}
		}
	}
	return nil
}

package backend

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

// migrationCondition says how far the move of the default pool from one mode to the other is; nil when there is none.
func (s *scope) migrationCondition() *metav1.Condition {
	condition := &metav1.Condition{Type: v1alpha1.ConditionMigrating, Status: metav1.ConditionTrue}
	for i := range s.stored.Pools {
		if entry := &s.stored.Pools[i]; entry.Former != nil {
			condition.Reason, condition.Message = v1alpha1.ReasonServersMoving, s.movingMessage(entry)
			return condition
		}
	}
	if waiting := s.poolsInTheWay(); len(waiting) > 0 {
		condition.Reason = v1alpha1.ReasonWaitingForPools
		condition.Message = fmt.Sprintf("There is no ConfigMap %s any more: %s mode comes once these pools are removed: %s.",
			v1alpha1.MultipoolConfigMapName, v1alpha1.SinglePool, strings.Join(waiting, ", "))
		return condition
	}
	return nil
}

func (s *scope) movingMessage(entry *ledger.Pool) string {
	moved := 0
	for ordinal := range entry.Accepted.BINDReplicas {
		if entry.Open(ordinal) {
			moved++
		}
	}
	message := fmt.Sprintf("Pool %q moves from StatefulSet %s to %s: clients of %d of its %d servers are led to the new ones, and "+
		"%d old ones have not left yet.", entry.Name, builders.StatefulSetName(entry.Former.Mode, entry.Index),
		builders.StatefulSetName(s.stored.Mode, entry.Index), moved, entry.Accepted.BINDReplicas, len(entry.Former.Servers))
	if entry.Accepted.BINDReplicas == 0 {
		message += " It is scaled to 0, and the old ones stay in pools.yaml until it is scaled up: " +
			"a pool without servers hangs Designate's worker."
	}
	return message
}

// poolsInTheWay are the pools that keep a namespace without a multipool ConfigMap from going back to SinglePool mode, if nothing else
// does: pools that people made keep it in MultiPool mode for good.
func (s *scope) poolsInTheWay() []string {
	if !s.unconfigured || s.stored.Mode != v1alpha1.MultiPool || s.backendLeaves() {
		return nil
	}
	var names []string
	for i := range s.pools {
		switch pool := &s.pools[i]; {
		case pool.IsDefault():
		case !pool.MadeByBridge():
			return nil
		default:
			names = append(names, pool.PoolName())
		}
	}
	return names
}

package pool

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/statistics"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// servers is what is known of the zones that servers have.
type servers interface {
	Confirmed(ordinal int32) (difference statistics.Difference, known bool)
	Failure(ordinal int32) error
	Lacks(ordinal int32) statistics.Tally
	Seen(ordinal int32, pod types.UID) (missing statistics.Tally, known bool)
}

// serverZones is how the zones of a server differ from Designate's. What the status has stays until it is known anew, so that a
// restart of the operator changes nothing.
func (s *scope) serverZones(ordinal int32) *v1alpha1.ServerZones {
	if s.backend == nil || s.backend.Spec.Designate.Access == nil || s.serving.Failure(ordinal) != nil {
		return nil
	}
	if difference, known := s.serving.Confirmed(ordinal); known {
		return &v1alpha1.ServerZones{
			Missing: statusCount(difference.Missing), Extra: statusCount(difference.Extra), Stale: statusCount(difference.Stale),
		}
	}
	before := slices.IndexFunc(s.pool.Status.Servers, func(p v1alpha1.PoolServer) bool { return p.Ordinal == ordinal })
	// A server that is not ready is not asked.
	if before < 0 || !builders.PodReady(s.pods[builders.PodName(s.statefulSetName(), ordinal)]) {
		return nil
	}
	return s.pool.Status.Servers[before].Zones
}

// notYetJoined says of each server that has not joined what is known to be in the way; empty when nothing is.
func (s *scope) notYetJoined() string {
	var found []string
	for _, server := range s.entry.Servers {
		pod := builders.PodName(s.statefulSetName(), server.Ordinal)
		if server.Joined {
			continue
		}
		if err := s.serving.Failure(server.Ordinal); err != nil {
			found = append(found, fmt.Sprintf("%s (%v)", pod, err))
		} else if missing := s.serving.Lacks(server.Ordinal); missing.Total > 0 {
			found = append(found, fmt.Sprintf("%s lacks %d zones (%s)", pod, missing.Total, zones.Few(missing.Names, missing.Total)))
		}
	}
	if len(found) == 0 {
		return ""
	}
	return " Not yet: " + strings.Join(found, "; ") + "."
}

func statusCount(tally statistics.Tally) int32 {
	return int32(min(tally.Total, 1<<31-1)) //nolint:gosec // It fits.
}

// servingCondition says whether every server that has joined answers for every zone; nil where that cannot be asked, or there is
// no such server.
func (s *scope) servingCondition() *metav1.Condition {
	canAsk := s.backend != nil && s.backend.Spec.Designate.Access != nil
	if !canAsk || s.entry == nil || s.removing() || s.entry.Accepted.BINDReplicas == 0 {
		return nil
	}
	before := meta.FindStatusCondition(s.pool.Status.Conditions, v1alpha1.ConditionServing)
	if s.zones.Fresh(s.now) != nil {
		return s.judgeServing(before)
	}
	if !s.zones.Attempted() && before != nil {
		return before
	}
	reachable := s.zones.Reachable(s.now)
	return &metav1.Condition{Type: v1alpha1.ConditionServing, Status: metav1.ConditionUnknown, Reason: reachable.Reason,
		Message: "Nobody can tell which zones servers should have. " + reachable.Message}
}

// judgeServing is the condition from what servers were found to have. before is what an operator found that ran before.
func (s *scope) judgeServing(before *metav1.Condition) *metav1.Condition {
	condition := &metav1.Condition{Type: v1alpha1.ConditionServing, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonServersNotAsked}
	missing, unasked, waiting, serving := s.judgeServers()
	switch {
	case len(missing) > 0:
		condition.Status, condition.Reason = metav1.ConditionFalse, v1alpha1.ReasonZonesMissing
		condition.Message = "Servers do not answer for zones that Designate has in the pool: " + strings.Join(missing, "; ") + "."
	case len(unasked) > 0:
		condition.Message = "Servers could not be asked which zones they have: " + strings.Join(unasked, "; ") + "."
	case waiting && before != nil:
		return before
	case waiting || serving == 0:
		condition.Message = "No server that has joined has been asked yet which zones it has."
	default:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha1.ReasonServing
		condition.Message = fmt.Sprintf("Every zone of the pool is answered for by each server that has joined: %d.", serving)
	}
	return condition
}

// judgeServers looks at the servers that have joined and are ready: which lack zones, which could not be asked, whether one has not
// been asked yet, and how many lack nothing.
func (s *scope) judgeServers() (missing, unasked []string, waiting bool, serving int) {
	for _, server := range s.entry.Servers {
		pod := builders.PodName(s.statefulSetName(), server.Ordinal)
		if !server.Joined || !builders.PodReady(s.pods[pod]) {
			continue
		}
		difference, known := s.serving.Confirmed(server.Ordinal)
		err := s.serving.Failure(server.Ordinal)
		switch {
		case err != nil:
			unasked = append(unasked, fmt.Sprintf("%s (%v)", pod, err))
		case !known:
			waiting = true
		case difference.Missing.Total > 0:
			missing = append(missing, fmt.Sprintf("%s lacks %d (%s)", pod, difference.Missing.Total,
				zones.Few(difference.Missing.Names, difference.Missing.Total)))
		default:
			serving++
		}
	}
	return missing, unasked, waiting, serving
}

package backend

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
)

// poolConditions are the conditions of a DesignatePool that the aggregator writes.
var poolConditions = []string{v1alpha1.ConditionProgrammed}

// writePoolStatuses says of each pool whether Designate knows it. The rest of the status is the pool controller's.
func (r *Reconciler) writePoolStatuses(ctx context.Context, s *scope) error {
	var failures []error
	for i := range s.pools {
		pool := &s.pools[i]
		var wanted []metav1.Condition
		if entry := s.stored.Pool(pool.UID); entry != nil && !entry.Removing() && s.backend != nil && s.backendErr == nil {
			wanted = append(wanted, s.programmedCondition(pool.UID))
			r.countSkip(s, pool, &wanted[0])
		}
		err := r.poolStatuses.Write(ctx, r.Client, pool, func() {
			apply.Conditions(&pool.Status.Conditions, pool.Generation, poolConditions, wanted)
		})
		// A pool that has just gone has no status.
		failures = append(failures, client.IgnoreNotFound(err))
	}
	return errors.Join(failures...)
}

// poolsProgrammedCondition takes the reason of the first pool that Designate does not know as it is, and names the others.
func (s *scope) poolsProgrammedCondition() metav1.Condition {
	result := metav1.Condition{
		Type: v1alpha1.ConditionPoolsProgrammed, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonProgrammed,
		Message: "Designate and its workers know every pool as pools.yaml has it.",
	}
	var others []string
	for i := range s.stored.Pools {
		entry := &s.stored.Pools[i]
		condition := s.programmedCondition(entry.UID)
		switch {
		case entry.Removing() || condition.Status == metav1.ConditionTrue:
		// A pool without servers has nothing to be told.
		case condition.Reason == v1alpha1.ReasonNoServerYet:
		case result.Status == metav1.ConditionTrue:
			result.Status, result.Reason = condition.Status, condition.Reason
			result.Message = fmt.Sprintf("Pool %s: %s", entry.Object, condition.Message)
		default:
			others = append(others, entry.Object)
		}
	}
	if len(others) > 0 {
		result.Message += " Also not applied: " + strings.Join(others, ", ") + "."
	}
	return result
}

// programmingConditions are the DesignateBackend's about telling Designate of the pools; none while people do.
func (s *scope) programmingConditions() []metav1.Condition {
	if !s.applies() {
		return nil
	}
	return []metav1.Condition{s.keysMountedCondition(), s.poolsProgrammedCondition(), s.workersRestartedCondition()}
}

var programmingConditionTypes = []string{
	v1alpha1.ConditionWorkersMountKeys, v1alpha1.ConditionPoolsProgrammed, v1alpha1.ConditionWorkersRestarted,
}

package backend

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/acceptance"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
)

// ownedConditions are the conditions of the DesignateBackend that the aggregator writes.
var ownedConditions = slices.Concat([]string{
	v1alpha1.ConditionAccepted, v1alpha1.ConditionPoolsYAMLWritten, v1alpha1.ConditionMigrating,
	v1alpha1.ConditionRemovalBlocked, v1alpha1.ConditionReady,
}, designateConditionTypes, programmingConditionTypes)

func (r *Reconciler) writeStatus(ctx context.Context, s *scope) error {
	return r.statuses.Write(ctx, r.Client, s.backend, func() {
		status := &s.backend.Status
		status.Mode = s.stored.Mode
		if s.poolsYAML.written {
			status.PoolsYAMLHash = s.poolsYAML.hash
		}
		status.Pools, status.Servers = s.counts()
		status.Zones = s.zonesStatus()
		apply.Conditions(&status.Conditions, s.backend.Generation, ownedConditions, s.conditions())
	})
}

// reportUnknown says that nobody knows how things stand, and why. The rest of the status stays as it was last known.
func (r *Reconciler) reportUnknown(ctx context.Context, namespace string, cause error) error {
	if apierrors.IsConflict(cause) {
		return nil // Another pass is about to know.
	}
	backend := &v1alpha1.DesignateBackend{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: v1alpha1.BackendName}, backend)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	return r.statuses.Write(ctx, r.Client, backend, func() {
		apply.Conditions(&backend.Status.Conditions, backend.Generation, nil, []metav1.Condition{{
			Type:   v1alpha1.ConditionReady,
			Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonStateUnknown, Message: cause.Error(),
		}})
	})
}

func (s *scope) counts() (pools, servers *v1alpha1.Count) {
	pools, servers = &v1alpha1.Count{}, &v1alpha1.Count{}
	for i := range s.pools {
		pool := &s.pools[i]
		pools.Total++
		servers.Total += pool.Spec.BINDReplicas
		servers.Ready += pool.Status.ReadyReplicas
		if meta.IsStatusConditionTrue(pool.Status.Conditions, v1alpha1.ConditionReady) {
			pools.Ready++
		}
	}
	return pools, servers
}

// conditions are the aggregator's, Ready from all of them and from the bridge's.
func (s *scope) conditions() []metav1.Condition {
	conditions := slices.Concat(
		[]metav1.Condition{s.acceptedCondition(), s.poolsYAMLCondition()}, s.designateConditions(), s.programmingConditions())
	if pending := s.migrationCondition(); pending != nil {
		conditions = append(conditions, *pending)
	}
	if blocked := s.removalCondition(); blocked != nil {
		conditions = append(conditions, *blocked)
	}
	return append(conditions, s.readyCondition(conditions))
}

func (s *scope) acceptedCondition() metav1.Condition {
	if s.backendErr != nil {
		return metav1.Condition{
			Type:   v1alpha1.ConditionAccepted,
			Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonInvalidSpec, Message: s.backendErr.Error(),
		}
	}
	return metav1.Condition{
		Type:   v1alpha1.ConditionAccepted,
		Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonAccepted, Message: "The spec is valid.",
	}
}

func (s *scope) poolsYAMLCondition() metav1.Condition {
	condition := metav1.Condition{
		Type:   v1alpha1.ConditionPoolsYAMLWritten,
		Status: metav1.ConditionFalse, Reason: s.poolsYAML.reason, Message: s.poolsYAML.message,
	}
	if s.poolsYAML.written {
		condition.Status = metav1.ConditionTrue
	}
	return condition
}

// removalCondition carries the reason and the name of the first blocked pool: those that have vanished after all others.
func (s *scope) removalCondition() *metav1.Condition {
	type candidate struct {
		uid  types.UID
		name string
	}
	var candidates []candidate
	for _, pool := range acceptance.ByAge(s.pools) {
		candidates = append(candidates, candidate{pool.UID, pool.Name})
	}
	for _, uid := range s.vanished {
		if entry := s.stored.Pool(uid); entry != nil {
			candidates = append(candidates, candidate{uid, entry.Object})
		}
	}
	var first *metav1.Condition
	var others []string
	for _, pool := range candidates {
		verdict := s.removals[pool.uid]
		switch {
		case !verdict.Blocked():
		case first != nil:
			others = append(others, pool.name)
		default:
			first = &metav1.Condition{
				Type: v1alpha1.ConditionRemovalBlocked, Status: metav1.ConditionTrue, Reason: verdict.Reason,
				Message: fmt.Sprintf("Pool %s: %s", pool.name, verdict.Message),
			}
		}
	}
	if len(others) > 0 {
		first.Message += " Also blocked: " + strings.Join(others, ", ") + "."
	}
	return first
}

// readyCondition takes the reason of the first thing that is not as it should be, pools after what concerns them all.
func (s *scope) readyCondition(own []metav1.Condition) metav1.Condition {
	ready := metav1.Condition{
		Type:   v1alpha1.ConditionReady,
		Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReady, Message: "Every pool is as it should be.",
	}
	for _, problem := range []*metav1.Condition{
		firstNotTrue(own, v1alpha1.ConditionAccepted),
		firstNotTrue(s.backend.Status.Conditions, v1alpha1.ConditionMultipoolConfigValid, v1alpha1.ConditionPoolsApplied),
		pendingMigration(own),
		unlessEmpty(s.keysProblem()),
		firstNotTrue(own, v1alpha1.ConditionPoolsYAMLWritten),
		firstNotTrue(own, neededOfDesignate...),
		firstFalse(own, programmingConditionTypes...),
		unlessEmpty(s.vanishedPools()),
		unlessEmpty(s.unreadyPool()),
	} {
		if problem != nil {
			ready.Status, ready.Reason, ready.Message = problem.Status, problem.Reason, problem.Message
			return ready
		}
	}
	return ready
}

// firstNotTrue is the first of some conditions that exists and is not True.
func firstNotTrue(conditions []metav1.Condition, kinds ...string) *metav1.Condition {
	for _, conditionType := range kinds {
		if c := meta.FindStatusCondition(conditions, conditionType); c != nil && c.Status != metav1.ConditionTrue {
			return c
		}
	}
	return nil
}

// firstFalse is the first of some conditions that is False. What nobody knows keeps nothing from being Ready.
func firstFalse(conditions []metav1.Condition, kinds ...string) *metav1.Condition {
	for _, conditionType := range kinds {
		if c := meta.FindStatusCondition(conditions, conditionType); c != nil && c.Status == metav1.ConditionFalse {
			return c
		}
	}
	return nil
}

// pendingMigration is, as a problem, the condition that says so.
func pendingMigration(own []metav1.Condition) *metav1.Condition {
	pending := meta.FindStatusCondition(own, v1alpha1.ConditionMigrating)
	if pending == nil {
		return nil
	}
	return unlessEmpty(pending.Reason, pending.Message)
}

// unlessEmpty is a problem that has a reason.
func unlessEmpty(reason, message string) *metav1.Condition {
	if reason == "" {
		return nil
	}
	return &metav1.Condition{Status: metav1.ConditionFalse, Reason: reason, Message: message}
}

// keysProblem is what keeps the Secret of all RNDC keys from being as it should be.
func (s *scope) keysProblem() (reason, message string) {
	switch {
	case s.keysErr == nil:
		return "", ""
	case apply.IsNameTaken(s.keysErr):
		return v1alpha1.ReasonNameTaken, s.keysErr.Error()
	default:
		return v1alpha1.ReasonWriteFailed, s.keysErr.Error()
	}
}

// unreadyPool is the own reason of the first pool that is not ready. One that is scaled to 0 is as it should be.
func (s *scope) unreadyPool() (reason, message string) {
	var others []string
	for _, pool := range acceptance.ByAge(s.pools) {
		ready := meta.FindStatusCondition(pool.Status.Conditions, v1alpha1.ConditionReady)
		switch {
		case ready != nil && (ready.Status == metav1.ConditionTrue || ready.Reason == v1alpha1.ReasonScaledToZero):
		case reason != "":
			others = append(others, pool.Name)
		case ready == nil:
			reason, message = v1alpha1.ReasonPoolsNotReady, fmt.Sprintf("Pool %s has no status yet.", pool.Name)
		default:
			reason, message = ready.Reason, fmt.Sprintf("Pool %s: %s", pool.Name, ready.Message)
		}
	}
	if len(s.pools) == 0 {
		return v1alpha1.ReasonPoolsNotReady, "There is no pool yet."
	}
	if len(others) > 0 {
		message += " Also not ready: " + strings.Join(others, ", ") + "."
	}
	return reason, message
}

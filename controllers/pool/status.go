package pool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

// ownedConditions are the conditions of a DesignatePool that the pool controller writes: all but Programmed.
var ownedConditions = []string{
	v1alpha1.ConditionAccepted, v1alpha1.ConditionServersReady, v1alpha1.ConditionTSIGKeyReady, v1alpha1.ConditionServing,
	v1alpha1.ConditionRemovalBlocked, v1alpha1.ConditionReady,
}

func (r *Reconciler) writeStatus(ctx context.Context, s *scope) error {
	before := blockedCondition(s.pool)
	err := r.statuses.Write(ctx, r.Client, s.pool, func() {
		status := &s.pool.Status
		status.PoolName = s.pool.PoolName()
		s.fillFromLedger(status)
		status.Zones = s.zonesStatus()
		status.Replicas, status.ReadyReplicas = 0, 0
		if s.statefulSet != nil {
			status.Replicas, status.ReadyReplicas = s.statefulSet.Status.Replicas, s.statefulSet.Status.ReadyReplicas
		}
		apply.Conditions(&status.Conditions, s.pool.Generation, ownedConditions, s.conditions())
	})
	if err == nil {
		r.tellBlocked(s, before)
	}
	return err
}

// reportUnknown says that nobody knows how things stand, and why. The rest of the status stays as it was last known.
func (r *Reconciler) reportUnknown(ctx context.Context, pool *v1alpha1.DesignatePool, cause error) error {
	return r.statuses.Write(ctx, r.Client, pool, func() {
		apply.Conditions(&pool.Status.Conditions, pool.Generation, nil, []metav1.Condition{{
			Type:   v1alpha1.ConditionReady,
			Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonStateUnknown, Message: cause.Error(),
		}})
	})
}

func (s *scope) fillFromLedger(status *v1alpha1.DesignatePoolStatus) {
	if s.entry == nil {
		if s.ledgerLost {
			return // What was known stays until it is known again.
		}
		status.Index, status.PoolID, status.StatefulSet, status.Selector, status.Servers = nil, "", "", "", nil
		return
	}
	status.Index = ptr.To(s.entry.Index)
	status.PoolID = s.entry.ID
	status.StatefulSet = s.statefulSetName()
	selector := builders.Pool{UID: s.pool.UID, StatefulSet: status.StatefulSet}
	status.Selector = labels.SelectorFromSet(selector.PodSelector()).String()
	status.Servers = make([]v1alpha1.PoolServer, 0, len(s.entry.Servers))
	for _, server := range s.entry.Servers {
		status.Servers = append(status.Servers, s.serverStatus(server))
	}
}

// zonesStatus is what is known of the pool's zones in Designate.
func (s *scope) zonesStatus() *v1alpha1.PoolZones {
	current := s.pool.Status.Zones
	switch {
	case s.backend == nil || s.backend.Spec.Designate.Access == nil:
		return nil
	case s.entry == nil && s.ledgerLost:
		return current // What was known stays until it is known again.
	case s.entry == nil:
		return nil
	}
	status, lookAgain := s.zones.PoolStatus(s.entry.ID, current, s.now)
	s.lookAgainAfter(lookAgain)
	return status
}

func (s *scope) serverStatus(server ledger.Server) v1alpha1.PoolServer {
	pod := builders.PodName(s.statefulSetName(), server.Ordinal)
	result := v1alpha1.PoolServer{
		Ordinal: server.Ordinal,
		Pod:     pod,
		RNDCKey: server.RNDCKey,
		Ready:   builders.PodReady(s.pods[pod]),
		Joined:  server.Joined,
		Zones:   s.serverZones(server.Ordinal),
	}
	if service := s.services[builders.ClientServiceName(s.entry.Index, server.Ordinal)]; service != nil {
		result.ClientAddress = builders.ServiceAddress(service)
	}
	if service := s.services[builders.ControlServiceName(s.statefulSetName(), server.Ordinal)]; service != nil {
		result.ControlAddress = builders.ServiceAddress(service)
	}
	return result
}

// conditions are all conditions of the pool, from what the pass has found out.
func (s *scope) conditions() []metav1.Condition {
	conditions := []metav1.Condition{acceptedCondition(s), serversReadyCondition(s)}
	if tsig := s.tsigCondition(); tsig != nil {
		conditions = append(conditions, *tsig)
	}
	if serving := s.servingCondition(); serving != nil {
		conditions = append(conditions, *serving)
	}
	if s.removal.Blocked() {
		conditions = append(conditions, metav1.Condition{
			Type:   v1alpha1.ConditionRemovalBlocked,
			Status: metav1.ConditionTrue, Reason: s.removal.Reason, Message: s.removal.Message,
		})
	}
	// The aggregator's, which is not written here.
	if programmed := meta.FindStatusCondition(s.pool.Status.Conditions, v1alpha1.ConditionProgrammed); programmed != nil {
		return append(conditions, readyCondition(append(slices.Clone(conditions), *programmed)))
	}
	return append(conditions, readyCondition(conditions))
}

// removing says that the pool is past the point of no return.
func (s *scope) removing() bool { return s.entry != nil && s.entry.Removing() }

func acceptedCondition(s *scope) metav1.Condition {
	condition := metav1.Condition{
		Type:   v1alpha1.ConditionAccepted,
		Status: metav1.ConditionFalse, Reason: s.verdict.Reason, Message: s.verdict.Message,
	}
	if s.verdict.Accepted {
		condition.Status = metav1.ConditionTrue
	}
	return condition
}

func serversReadyCondition(s *scope) metav1.Condition {
	no := func(reason, message string) metav1.Condition {
		return metav1.Condition{Type: v1alpha1.ConditionServersReady, Status: metav1.ConditionFalse, Reason: reason, Message: message}
	}
	switch {
	case s.removing() || (s.entry == nil && s.pool.DeletionTimestamp != nil):
		return no(v1alpha1.ReasonRemoving, strings.TrimSpace("The pool is being removed. "+s.remaining))
	case s.backend == nil:
		return no(v1alpha1.ReasonBackendMissing, fmt.Sprintf(
			"The namespace has no DesignateBackend named %s. Servers that run go on as they are.", v1alpha1.BackendName))
	case s.backendErr != nil:
		return no(v1alpha1.ReasonInvalidSpec, "The DesignateBackend cannot be used, and servers go on as they are: "+s.backendErr.Error())
	case s.entry == nil:
		return no(waitingReason(s))
	case s.verdict.Accepted && !equality.Semantic.DeepEqual(s.entry.Accepted, s.pool.Spec):
		return no(v1alpha1.ReasonSpecPending, "The newest spec is accepted and is about to come into force.")
	case s.problem != nil:
		return no(s.problem.reason, s.problem.message)
	default:
		return rolloutCondition(s, no)
	}
}

// waitingReason says why a pool has no index.
func waitingReason(s *scope) (reason, message string) {
	switch {
	case !s.verdict.Accepted:
		return s.verdict.Reason, s.verdict.Message
	default:
		return v1alpha1.ReasonWaitingForIndex, "The pool has no index yet."
	}
}

func rolloutCondition(s *scope, no func(reason, message string) metav1.Condition) metav1.Condition {
	wanted := s.entry.Accepted.BINDReplicas
	if s.statefulSet == nil {
		return no(v1alpha1.ReasonServersNotReady, "The StatefulSet "+s.statefulSetName()+" does not exist yet.")
	}
	status := s.statefulSet.Status
	switch {
	case status.ObservedGeneration < s.statefulSet.Generation:
		return no(v1alpha1.ReasonServersNotReady, "The StatefulSet controller has not seen the newest change yet.")
	case status.Replicas > wanted || ptr.Deref(s.statefulSet.Spec.Replicas, 1) > wanted:
		return no(v1alpha1.ReasonScalingDown, fmt.Sprintf("%d servers exist and %d are wanted.", status.Replicas, wanted))
	case status.ReadyReplicas < wanted:
		return no(v1alpha1.ReasonServersNotReady, fmt.Sprintf("%d of %d servers are ready; not ready: %s.%s",
			status.ReadyReplicas, wanted, strings.Join(s.unready(), ", "), s.startFailures()))
	case status.UpdatedReplicas < wanted:
		s.lookAgainAfter(rolloutLook)
		return no(v1alpha1.ReasonRollingOut, s.rolloutMessage())
	case s.withoutAddress() != "":
		return no(v1alpha1.ReasonWaitingForAddress, fmt.Sprintf("The Service %s has no IP address yet, at which Designate reaches its server.",
			s.withoutAddress()))
	case !s.allOpen():
		return no(s.waitingToJoin())
	case s.entry.Former != nil && wanted > 0:
		return no(v1alpha1.ReasonServersMoving, fmt.Sprintf("Clients are led to %s; of %s in %s mode, %d servers have not left yet.",
			s.statefulSetName(), s.formerName(), s.entry.Former.Mode, len(s.entry.Former.Servers)))
	case wanted == 0:
		return metav1.Condition{Type: v1alpha1.ConditionServersReady, Status: metav1.ConditionTrue,
			Reason: v1alpha1.ReasonScaledToZero, Message: "No server is wanted."}
	}
	return metav1.Condition{Type: v1alpha1.ConditionServersReady, Status: metav1.ConditionTrue,
		Reason: v1alpha1.ReasonServersReady, Message: fmt.Sprintf("All %d servers are ready.", wanted)}
}

// waitingToJoin says why clients are not led to every server that is ready.
func (s *scope) waitingToJoin() (reason, message string) {
	listed := slices.ContainsFunc(s.entry.Servers, ledger.Server.Listed)
	if access := s.backend.Spec.Designate.Access; access != nil && !listed && s.zones.Fresh(s.now) == nil {
		reachable := s.zones.Reachable(s.now)
		return reachable.Reason, "Servers are ready, and Designate has to be asked first whether it has a pool of this name. " + reachable.Message
	}
	return v1alpha1.ReasonWaitingToJoin, "Servers are ready, and clients are not led to all of them yet." + s.notYetJoined()
}

// unready are the names of the wanted servers that are not ready.
func (s *scope) unready() []string {
	var names []string
	for ordinal := range s.entry.Accepted.BINDReplicas {
		if name := builders.PodName(s.statefulSetName(), ordinal); !builders.PodReady(s.pods[name]) {
			names = append(names, name)
		}
	}
	return names
}

// withoutAddress is the first control Service of a wanted server that has no address.
func (s *scope) withoutAddress() string {
	for ordinal := range s.entry.Accepted.BINDReplicas {
		name := builders.ControlServiceName(s.statefulSetName(), ordinal)
		if service := s.services[name]; service == nil || builders.ServiceAddress(service) == "" {
			return name
		}
	}
	return ""
}

// allOpen says whether the client Service of every wanted server leads to it.
func (s *scope) allOpen() bool {
	for ordinal := range s.entry.Accepted.BINDReplicas {
		service := s.services[builders.ClientServiceName(s.entry.Index, ordinal)]
		if service == nil || !builders.ServiceLeadsTo(service, builders.PodName(s.statefulSetName(), ordinal)) {
			return false
		}
	}
	return true
}

// readyCondition takes the reason of the first condition that keeps the pool from being ready. That clients are not led to
// a server yet comes last: the others say why.
func readyCondition(others []metav1.Condition) metav1.Condition {
	ready := metav1.Condition{
		Type:   v1alpha1.ConditionReady,
		Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReady, Message: "The pool is as it should be.",
	}
	var last *metav1.Condition
	for _, conditionType := range neededForReady {
		condition := meta.FindStatusCondition(others, conditionType)
		switch {
		case condition == nil || !keepsFromReady(condition):
			continue
		case condition.Reason == v1alpha1.ReasonWaitingToJoin:
			last = condition
			continue
		}
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, condition.Reason, condition.Message
		return ready
	}
	if last != nil {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, last.Reason, last.Message
		return ready
	}
	if servers := meta.FindStatusCondition(others, v1alpha1.ConditionServersReady); servers.Reason == v1alpha1.ReasonScaledToZero {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, servers.Reason, "The pool is scaled to 0 and answers nobody."
	}
	return ready
}

// neededForReady are the conditions that keep a pool from being ready, in the order in which their reasons count.
var neededForReady = []string{
	v1alpha1.ConditionAccepted, v1alpha1.ConditionServersReady, v1alpha1.ConditionProgrammed, v1alpha1.ConditionTSIGKeyReady,
	v1alpha1.ConditionServing,
}

// keepsFromReady says that a condition is not as it should be. What Designate or people would have to tell may be unknown.
func keepsFromReady(condition *metav1.Condition) bool {
	switch condition.Type {
	case v1alpha1.ConditionAccepted, v1alpha1.ConditionServersReady:
		return condition.Status != metav1.ConditionTrue
	default:
		return condition.Status == metav1.ConditionFalse
	}
}

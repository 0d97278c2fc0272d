package backend

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/poolupdate"
	"github.com/designate-pools/designate-pool-operator/controllers/workers"
)

// workersSeen are Designate's workers as a pass has seen them.
type workersSeen struct {
	states []workers.State
	err    error
}

// seeWorkers looks at Designate's workers, once in a pass.
func (r *Reconciler) seeWorkers(ctx context.Context, s *scope) *workersSeen {
	p := &s.programming
	if p.workers == nil {
		seen := &workersSeen{}
		seen.states, seen.err = workers.Read(ctx, r.APIReader, s.namespace, s.backend.Spec.Designate.PoolUpdate.Workers)
		p.workers = seen
	}
	return p.workers
}

// followRestart goes on with a restart of the workers. It is over when none is left that was started before.
func (r *Reconciler) followRestart(ctx context.Context, s *scope) error {
	token := s.stored.RestartToken()
	seen := r.seeWorkers(ctx, s)
	if seen.err != nil {
		return seen.err
	}
	var missing []string
	for i := range seen.states {
		state := &seen.states[i]
		done, why := state.Restarted(token)
		if done {
			continue
		}
		missing = append(missing, why)
		if state.Missing {
			continue
		}
		if err := workers.Restart(ctx, r.Client, FieldOwner, state, token); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		s.programming.progress.Workers = strings.Join(missing, " ")
		elapsed := s.now.Sub(s.stored.RestartBegan.Time)
		s.lookAgainAfter(min(max(elapsed/4, firstRestartLook), longestRestartLook))
		return nil
	}
	took := s.now.Sub(s.stored.RestartBegan.Time).Round(time.Second)
	log.FromContext(ctx).Info("Designate's workers know the newest servers", "run", s.stored.Restart, "took", took)
	r.Recorder.Eventf(s.backend, nil, corev1.EventTypeNormal, v1alpha1.EventWorkersRestarted, "RestartWorkers",
		"Designate's workers were restarted after pool update %d.", s.stored.Restart)
	_, err := s.stored.Write(ctx, r.Client, s.namespace, poolupdate.Restarted(&s.stored.Ledger, s.now))
	return err
}

// workersRestartedCondition says whether every worker knows the newest servers.
func (s *scope) workersRestartedCondition() metav1.Condition {
	condition := metav1.Condition{
		Type: v1alpha1.ConditionWorkersRestarted, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonWorkersRestarted,
		Message: "No worker of Designate is left that was started before the last change of servers.",
	}
	seen := s.programming.workers
	switch {
	case seen != nil && seen.err != nil:
		condition.Status, condition.Reason, condition.Message = metav1.ConditionUnknown, v1alpha1.ReasonWorkersUnknown, seen.err.Error()
	case s.stored.Restart != 0:
		condition.Status, condition.Reason = metav1.ConditionFalse, v1alpha1.ReasonWorkersRestarting
		condition.Message = s.programming.progress.Workers
		if seen != nil && anyMissing(seen.states) {
			condition.Reason = v1alpha1.ReasonWorkerMissing
		}
	}
	return condition
}

func anyMissing(states []workers.State) bool {
	for i := range states {
		if states[i].Missing {
			return true
		}
	}
	return false
}

// keysMountedCondition says whether the workers see the RNDC keys. It is looked at while pools wait to be applied for the first
// time, and stays as it was otherwise.
func (s *scope) keysMountedCondition() metav1.Condition {
	condition := metav1.Condition{
		Type: v1alpha1.ConditionWorkersMountKeys, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonKeysMounted,
		Message: "Designate's workers mount the Secret " + v1alpha1.RNDCSecretName + " at " + s.backend.Spec.Designate.RNDCKeyDirectory + ".",
	}
	seen := s.programming.workers
	if seen == nil {
		if before := meta.FindStatusCondition(s.backend.Status.Conditions, condition.Type); before != nil {
			return *before
		}
		condition.Status, condition.Reason, condition.Message = metav1.ConditionUnknown, v1alpha1.ReasonWorkersUnknown, "Nobody has looked yet."
		return condition
	}
	if seen.err != nil {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionUnknown, v1alpha1.ReasonWorkersUnknown, seen.err.Error()
		return condition
	}
	var problems []string
	for i := range seen.states {
		state := &seen.states[i]
		if state.Missing {
			condition.Reason = v1alpha1.ReasonWorkerMissing
			_, why := state.Restarted("")
			problems = append(problems, why)
			continue
		}
		if problem := workers.KeysMounted(state, v1alpha1.RNDCSecretName, s.backend.Spec.Designate.RNDCKeyDirectory); problem != "" {
			problems = append(problems, problem)
		}
	}
	if len(problems) > 0 {
		condition.Status, condition.Message = metav1.ConditionFalse, strings.Join(problems, " ")
		if condition.Reason == v1alpha1.ReasonKeysMounted {
			condition.Reason = v1alpha1.ReasonKeysNotMounted
		}
	}
	return condition
}

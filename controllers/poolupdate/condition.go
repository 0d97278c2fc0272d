package poolupdate

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

// Progress is what is known of the step that goes on.
type Progress struct {
	// Job says what the Job of the run waits for; empty when it waits for nothing.
	Job string
	// Workers says which workers have not been started yet since the restart began.
	Workers string
}

// Condition is the condition Programmed of a pool. pool is nil while pools.yaml does not hold it.
func Condition(l *ledger.Ledger, pool *Pool, progress Progress) metav1.Condition {
	condition := metav1.Condition{Type: v1alpha1.ConditionProgrammed, Status: metav1.ConditionFalse}
	if pool == nil {
		condition.Reason = v1alpha1.ReasonNoServerYet
		condition.Message = "No server of the pool has been ready, so Designate has not heard of it."
		return condition
	}
	entry := l.Pool(pool.UID)
	switch {
	case entry == nil || entry.Applied == nil:
		condition.Reason, condition.Message = v1alpha1.ReasonPoolUpdatePending, "The pool is about to be applied."
	case entry.Applied.Entry != pool.Entry:
		condition.Reason, condition.Message = unapplied(l, entry, pool, progress)
	case entry.Applied.Workers != pool.Targets:
		condition.Reason, condition.Message = restarting(l, progress)
	case entry.Applied.Failures > 0 && !l.Applying(pool.UID):
		// That was to fill a server.
		condition.Reason, condition.Message = v1alpha1.ReasonPoolUpdateFailed, failed(entry.Applied)
	default:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha1.ReasonProgrammed
		condition.Message = "Designate and its workers know the pool as pools.yaml has it."
	}
	return condition
}

// unapplied says why Designate does not know a pool as it is.
func unapplied(l *ledger.Ledger, entry *ledger.Pool, pool *Pool, progress Progress) (reason, message string) {
	applied := entry.Applied
	switch {
	case l.Applying(pool.UID):
		message = fmt.Sprintf("The Job of pool update %d applies the pool.", l.Run.Number)
		if progress.Job != "" {
			message += " " + progress.Job
		}
		return v1alpha1.ReasonPoolUpdateRunning, message
	case pool.Obstacle != nil:
		return pool.Obstacle.Reason, pool.Obstacle.Message
	case applied.Failures > 0 && applied.Failed == pool.Entry:
		return v1alpha1.ReasonPoolUpdateFailed, failed(applied)
	case applied.HeldSince != nil:
		return v1alpha1.ReasonWaitingForDeletions, fmt.Sprintf("Zones of the pool that are being deleted: %d. Applying it now would undo that, "+
			"so it waits until they are gone, or until %s.", pool.Deleting, applied.HeldSince.Add(HeldFor).UTC().Format(time.RFC3339))
	case l.Run != nil:
		return v1alpha1.ReasonPoolUpdatePending, fmt.Sprintf("The pool is applied after pool update %d, which goes on.", l.Run.Number)
	default:
		return v1alpha1.ReasonPoolUpdatePending, "The pool is applied once it has been as it is for a while."
	}
}

func failed(applied *ledger.Applied) string {
	message := fmt.Sprintf("The last pool update with the pool failed (in a row: %d): %s.",
		applied.Failures, strings.TrimSuffix(applied.Failure, "."))
	if applied.RetryAt != nil {
		message += fmt.Sprintf(" It is tried again at %s.", applied.RetryAt.UTC().Format(time.RFC3339))
	}
	return message
}

// restarting says that workers are left that do not know a pool's servers.
func restarting(l *ledger.Ledger, progress Progress) (reason, message string) {
	message = "Designate's workers have to be restarted, for they do not know the pool's servers yet."
	if l.Restart != 0 && progress.Workers != "" {
		message = "Designate's workers are being restarted, for they do not know the pool's servers yet. " + progress.Workers
	}
	return v1alpha1.ReasonWorkersRestarting, message
}

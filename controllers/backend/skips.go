package backend

import (
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// skips is explained in docs/metrics.md.
var skips = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "designate_pool_operator_pool_updates_held_total",
	Help: "Times that a pool had to be applied and was left out of pool updates, by the reason of its condition Programmed.",
}, []string{"namespace", "reason"})

func init() { metrics.Registry.MustRegister(skips) }

// countSkip counts that something keeps a pool from being applied, once for each time that it begins.
func (r *Reconciler) countSkip(s *scope, pool *v1alpha1.DesignatePool, programmed *metav1.Condition) {
	reason := ""
	if programmed.Status != metav1.ConditionTrue {
		reason = programmed.Reason
	}
	if !r.skipped.News(pool.UID, reason) {
		return
	}
	switch reason {
	case "", v1alpha1.ReasonAppliedByAdministrator, v1alpha1.ReasonNoServerYet, v1alpha1.ReasonPoolUpdatePending,
		v1alpha1.ReasonPoolUpdateRunning, v1alpha1.ReasonWorkersRestarting:
		// Nothing is in the way.
	default:
		skips.WithLabelValues(s.namespace, reason).Inc()
	}
}

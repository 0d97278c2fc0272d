package pool

import (
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// blockedSince is explained in docs/metrics.md.
var blockedSince = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "designate_pool_operator_pool_removal_blocked_timestamp_seconds",
	Help: "Since when the removal of a DesignatePool is wanted and blocked, in Unix time, by the reason. Absent while it is not.",
}, []string{"namespace", "pool", "reason"})

func init() { metrics.Registry.MustRegister(blockedSince) }

// blockedCondition is a copy of what a pool's status says of what blocks its removal; nil when nothing does.
func blockedCondition(pool *v1alpha1.DesignatePool) *metav1.Condition {
	return meta.FindStatusCondition(pool.Status.Conditions, v1alpha1.ConditionRemovalBlocked).DeepCopy()
}

// tellBlocked has metrics and Events say what blocks a removal, Events only when that has changed since before.
func (r *Reconciler) tellBlocked(s *scope, before *metav1.Condition) {
	forgetBlocked(types.NamespacedName{Namespace: s.pool.Namespace, Name: s.pool.Name})
	now := blockedCondition(s.pool)
	if now == nil {
		return
	}
	blockedSince.WithLabelValues(s.pool.Namespace, s.pool.Name, now.Reason).Set(float64(now.LastTransitionTime.Unix()))
	if before == nil || before.Reason != now.Reason || before.Message != now.Message {
		r.Recorder.Eventf(s.pool, nil, corev1.EventTypeWarning, now.Reason, "Remove", "The removal is blocked. %s", now.Message)
	}
}

func forgetBlocked(pool types.NamespacedName) {
	blockedSince.DeletePartialMatch(prometheus.Labels{"namespace": pool.Namespace, "pool": pool.Name})
}

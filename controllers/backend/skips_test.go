package backend

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// R38.
func TestAPoolThatIsLeftOutIsCountedOncePerReason(t *testing.T) {
	r, s, edge := &Reconciler{}, &scope{namespace: "skips"}, pool("edge", 0)
	for _, pass := range []struct {
		what   string
		status metav1.ConditionStatus
		reason string
		held   float64
	}{
		{"it is about to be applied", metav1.ConditionFalse, v1alpha1.ReasonPoolUpdatePending, 0},
		{"zones are being deleted", metav1.ConditionFalse, v1alpha1.ReasonWaitingForDeletions, 1},
		{"as before", metav1.ConditionFalse, v1alpha1.ReasonWaitingForDeletions, 1},
		{"Designate knows it", metav1.ConditionTrue, v1alpha1.ReasonProgrammed, 1},
		{"zones are being deleted again", metav1.ConditionFalse, v1alpha1.ReasonWaitingForDeletions, 2},
	} {
		r.countSkip(s, &edge, &metav1.Condition{Status: pass.status, Reason: pass.reason})
		if got := testutil.ToFloat64(skips.WithLabelValues("skips", v1alpha1.ReasonWaitingForDeletions)); got != pass.held {
			t.Errorf("%s: %v, want %v", pass.what, got, pass.held)
		}
	}
}

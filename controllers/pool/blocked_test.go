package pool

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// TestWhatBlocksARemovalIsToldOncePerChange plays passes over a pool whose removal is blocked for one reason, then for another.
func TestWhatBlocksARemovalIsToldOncePerChange(t *testing.T) {
	since := metav1.NewTime(time.Unix(1_700_000_000, 0))
	blocked := func(reason, message string) []metav1.Condition {
		return []metav1.Condition{{
			Type: v1alpha1.ConditionRemovalBlocked, Status: metav1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: since,
		}}
	}
	recorder := events.NewFakeRecorder(10)
	r := &Reconciler{Recorder: recorder}
	s := &scope{pool: &v1alpha1.DesignatePool{ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Name: "edge"}}}
	for _, pass := range []struct {
		what       string
		conditions []metav1.Condition
		events     int
		metric     float64
	}{
		{"nobody asked", nil, 0, 0},
		{"zones are there", blocked(v1alpha1.ReasonZonesExist, "2 zones"), 1, 1_700_000_000},
		{"as before", blocked(v1alpha1.ReasonZonesExist, "2 zones"), 0, 1_700_000_000},
		{"one zone less", blocked(v1alpha1.ReasonZonesExist, "1 zone"), 1, 1_700_000_000},
		{"it is being deleted", blocked(v1alpha1.ReasonZonesBeingDeleted, "1 zone"), 1, 1_700_000_000},
		{"it may go on", nil, 0, 0},
	} {
		before := blockedCondition(s.pool)
		s.pool.Status.Conditions = pass.conditions
		r.tellBlocked(s, before)
		told := len(recorder.Events)
		for range told {
			<-recorder.Events
		}
		if told != pass.events {
			t.Errorf("%s: %d Events, want %d", pass.what, told, pass.events)
		}
		wantSeries := 0
		if len(pass.conditions) > 0 {
			wantSeries = 1
			if got := testutil.ToFloat64(blockedSince.WithLabelValues("dns", "edge", pass.conditions[0].Reason)); got != pass.metric {
				t.Errorf("%s: the metric is %v, want %v", pass.what, got, pass.metric)
			}
		}
		if got := testutil.CollectAndCount(blockedSince); got != wantSeries {
			t.Errorf("%s: %d series, want %d", pass.what, got, wantSeries)
		}
	}
	s.pool.Status.Conditions = blocked(v1alpha1.ReasonZonesExist, "2 zones")
	r.tellBlocked(s, nil)
	forgetBlocked(types.NamespacedName{Namespace: "dns", Name: "edge"})
	if got := testutil.CollectAndCount(blockedSince); got != 0 {
		t.Errorf("%d series are left of a pool that is gone", got)
	}
}

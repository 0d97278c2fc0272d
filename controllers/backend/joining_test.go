package backend

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// TestWhoMayJoin: server 0 of a pool that Designate and its workers know was filled at noon, and has been seen to serve every zone
// of a listing from a minute later.
func TestWhoMayJoin(t *testing.T) {
	noon := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	later := noon.Add(time.Minute)
	for name, test := range map[string]struct {
		change func(*scope)
		want   bool
		// awaited says that a listing younger than noon is asked for.
		awaited bool
	}{
		"one that was filled and serves all": {func(*scope) {}, true, false},
		"one that nobody can ask": {func(s *scope) {
			s.backend.Spec.Designate.Access, s.servesAll = nil, func(types.UID, int32, types.UID, time.Time) bool { panic("asked") }
		}, true, false},
		"one of the default pool while that changes its mode": {func(s *scope) { s.facts.Mode = v1alpha1.SinglePool }, false, false},
		"one that nobody can ask about zones, and that takes over from another which has no more than it": {func(s *scope) {
			s.backend.Spec.Designate.Access = nil
			s.stored.Pools[0].Former = &ledger.Former{Mode: v1alpha1.SinglePool}
		}, true, false},
		"one that takes over from another which has more": {func(s *scope) {
			s.backend.Spec.Designate.Access = nil
			s.stored.Pools[0].Former = &ledger.Former{Mode: v1alpha1.SinglePool}
			s.servesAll = func(types.UID, int32, types.UID, time.Time) bool { return false }
		}, false, false},
		"one that has not been filled":         {func(s *scope) { s.stored.Pools[0].Servers[0].FilledAt = nil }, false, false},
		"one that the workers do not know":     {func(s *scope) { s.stored.Pools[0].Applied.Workers = "older" }, false, false},
		"one of a pool that was never applied": {func(s *scope) { s.stored.Pools[0].Applied = nil }, false, false},
		"one that serves all of an older listing": {func(s *scope) {
			s.stored.Pools[0].Servers[0].FilledAt = &metav1.Time{Time: later}
		}, false, true},
		"one whose pod is another one by now": {func(s *scope) {
			s.servesAll = func(_ types.UID, _ int32, pod types.UID, _ time.Time) bool { return pod == "older" }
		}, false, false},
		"one where people apply pools.yaml, by any listing": {func(s *scope) {
			s.backend.Spec.Designate.Apply = v1alpha1.ApplyExternal
			s.stored.Pools[0].Applied, s.stored.Pools[0].Servers[0].FilledAt = nil, nil
		}, true, false},
		"one while the newest attempt to list has failed": {func(s *scope) { s.zones.Failure = errors.New("no") }, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			pool := entry("gold", 1, 1, 1)
			pool.Applied = &ledger.Applied{Entry: "entry", Targets: "servers", Workers: "servers"}
			pool.Servers[0].FilledAt = &metav1.Time{Time: noon}
			s := inForce(pool)
			s.now = later
			s.backend.Spec.Designate.Access = &v1alpha1.DesignateAccess{Endpoint: "http://192.0.2.1:9001"}
			s.backend.Spec.Designate.Apply, s.backend.Spec.Designate.PoolUpdate = v1alpha1.ApplyJob, &v1alpha1.PoolUpdate{}
			s.zones = zones.View{Listing: &zones.Listing{Began: later}, FreshFor: time.Hour}
			s.servesAll = func(pool types.UID, ordinal int32, pod types.UID, since time.Time) bool {
				return pool == "uid-gold" && ordinal == 0 && pod == "uid-pod" && later.After(since)
			}
			test.change(s)
			if got := s.mayJoin("uid-gold", 0, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "uid-pod"}}); got != test.want {
				t.Errorf("it may join: %v", got)
			}
			if awaited := !s.listingAfter.IsZero(); awaited != test.awaited {
				t.Errorf("a listing is awaited: %v", awaited)
			}
		})
	}
}

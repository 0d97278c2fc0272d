package backend

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/removal"
)

// withReady is a pool with a Ready condition.
func withReady(name string, age int64, status metav1.ConditionStatus, reason string) v1alpha1.DesignatePool {
	p := pool(name, age)
	p.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: status, Reason: reason, Message: "message of " + name}}
	return p
}

// healthy is a scope in which all is well.
func healthy() *scope {
	s := inForce()
	s.pools = []v1alpha1.DesignatePool{
		withReady("default", 0, metav1.ConditionTrue, v1alpha1.ReasonReady), withReady("edge", 1, metav1.ConditionTrue, v1alpha1.ReasonReady),
	}
	s.poolsYAML = poolsYAMLOutcome{settled: true, written: true, reason: v1alpha1.ReasonWritten, message: "written"}
	return s
}

func (s *scope) bridgeSays(conditionType, reason string) {
	s.backend.Status.Conditions = append(s.backend.Status.Conditions, metav1.Condition{
		Type: conditionType, Status: metav1.ConditionFalse, Reason: reason, Message: "message of the bridge",
	})
}

func TestConditions(t *testing.T) {
	const yes, no = "True ", "False "
	type want struct{ PoolsYAMLWritten, Migrating, RemovalBlocked, Ready string }
	written := yes + v1alpha1.ReasonWritten
	for name, test := range map[string]struct {
		change func(*scope)
		want   want
		// says is part of the message of Ready.
		says string
	}{
		"all is well": {func(*scope) {}, want{PoolsYAMLWritten: written, Ready: yes + v1alpha1.ReasonReady}, "as it should be"},
		"the ConfigMap cannot be used": {
			func(s *scope) { s.bridgeSays(v1alpha1.ConditionMultipoolConfigValid, v1alpha1.ReasonInvalidConfig) },
			want{PoolsYAMLWritten: written, Ready: no + v1alpha1.ReasonInvalidConfig}, "message of the bridge",
		},
		"the bridge could not apply": {
			func(s *scope) { s.bridgeSays(v1alpha1.ConditionPoolsApplied, v1alpha1.ReasonPoolNotOwned) },
			want{PoolsYAMLWritten: written, Ready: no + v1alpha1.ReasonPoolNotOwned}, "message of the bridge",
		},
		"the default pool moves to another mode": {
			func(s *scope) {
				moving := entry("default", 0, 1, 1)
				moving.UID = s.pools[0].UID
				moving.Former = &ledger.Former{Mode: v1alpha1.SinglePool, Servers: []ledger.Server{{Ordinal: 0, Joined: true}, {Ordinal: 1}}}
				s.stored.Pools = append(s.stored.Pools, moving)
			},
			want{PoolsYAMLWritten: written, Migrating: yes + v1alpha1.ReasonServersMoving, Ready: no + v1alpha1.ReasonServersMoving},
			"from StatefulSet designate-backendbind9 to designate-backendbind9-pool0: clients of 1 of its 1 servers are led to the new ones, and 2 old ones",
		},
		"the ConfigMap is gone, and one of its pools is not": {
			func(s *scope) {
				s.unconfigured = true
				s.pools[1].Labels = map[string]string{v1alpha1.LabelSource: v1alpha1.SourceBridge}
			},
			want{PoolsYAMLWritten: written, Migrating: yes + v1alpha1.ReasonWaitingForPools, Ready: no + v1alpha1.ReasonWaitingForPools},
			"once these pools are removed: edge",
		},
		"there is no ConfigMap, and people made a pool": {
			func(s *scope) { s.unconfigured = true }, want{PoolsYAMLWritten: written, Ready: yes + v1alpha1.ReasonReady}, "",
		},
		"nothing that can be relied on was asked for": {
			func(s *scope) { s.wantedMode = "" }, want{PoolsYAMLWritten: written, Ready: yes + v1alpha1.ReasonReady}, "",
		},
		"pools.yaml was not written": {
			func(s *scope) { s.poolsYAML = poolsYAMLOutcome{reason: v1alpha1.ReasonNameTaken, message: "taken"} },
			want{PoolsYAMLWritten: no + v1alpha1.ReasonNameTaken, Ready: no + v1alpha1.ReasonNameTaken}, "taken",
		},
		"there is nothing to write yet": {
			func(s *scope) {
				s.poolsYAML = poolsYAMLOutcome{settled: true, reason: v1alpha1.ReasonNoServersYet, message: "none"}
			},
			want{PoolsYAMLWritten: no + v1alpha1.ReasonNoServersYet, Ready: no + v1alpha1.ReasonNoServersYet}, "none",
		},
		"a pool is not ready": {
			func(s *scope) { s.pools[1] = withReady("edge", 1, metav1.ConditionFalse, v1alpha1.ReasonRollingOut) },
			want{PoolsYAMLWritten: written, Ready: no + v1alpha1.ReasonRollingOut}, "Pool edge: message of edge",
		},
		"nobody knows whether a pool is ready": {
			func(s *scope) { s.pools[1] = withReady("edge", 1, metav1.ConditionUnknown, "Unknown") },
			want{PoolsYAMLWritten: written, Ready: no + "Unknown"}, "Pool edge",
		},
		"several are not, and the oldest counts": {
			func(s *scope) {
				s.pools = []v1alpha1.DesignatePool{
					withReady("young", 9, metav1.ConditionFalse, v1alpha1.ReasonRollingOut),
					withReady("old", 1, metav1.ConditionFalse, v1alpha1.ReasonNameTaken), pool("none", 5),
				}
			},
			want{PoolsYAMLWritten: written, Ready: no + v1alpha1.ReasonNameTaken}, "Pool old: message of old Also not ready: none, young.",
		},
		"a pool has no status yet": {
			func(s *scope) { s.pools = append(s.pools, pool("new", 9)) },
			want{PoolsYAMLWritten: written, Ready: no + v1alpha1.ReasonPoolsNotReady}, "Pool new",
		},
		"a pool is scaled to 0, as was asked": {
			func(s *scope) { s.pools[1] = withReady("edge", 1, metav1.ConditionFalse, v1alpha1.ReasonScaledToZero) },
			want{PoolsYAMLWritten: written, Ready: yes + v1alpha1.ReasonReady}, "",
		},
		"there is no pool": {
			func(s *scope) { s.pools = nil }, want{PoolsYAMLWritten: written, Ready: no + v1alpha1.ReasonPoolsNotReady}, "no pool yet",
		},
		"a removal is blocked, and all goes on": {
			func(s *scope) {
				s.removals = map[types.UID]removal.Verdict{"uid-edge": {Wanted: true, Reason: v1alpha1.ReasonDesignateAccessMissing, Message: "m"}}
			},
			want{PoolsYAMLWritten: written, RemovalBlocked: yes + v1alpha1.ReasonDesignateAccessMissing, Ready: yes + v1alpha1.ReasonReady}, "",
		},
		"what leaves is not blocked": {
			func(s *scope) {
				s.removals = map[types.UID]removal.Verdict{"uid-edge": {Wanted: true, Allowed: true}}
				s.stored.Pools = []ledger.Pool{{UID: "uid-edge", Removal: ledger.Withdrawing}}
			},
			want{PoolsYAMLWritten: written, Ready: yes + v1alpha1.ReasonReady}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy()
			test.change(s)
			conditions := s.conditions()
			of := func(conditionType string) string {
				if c := meta.FindStatusCondition(conditions, conditionType); c != nil {
					return string(c.Status) + " " + c.Reason
				}
				return ""
			}
			got := want{
				of(v1alpha1.ConditionPoolsYAMLWritten), of(v1alpha1.ConditionMigrating),
				of(v1alpha1.ConditionRemovalBlocked), of(v1alpha1.ConditionReady),
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady); !strings.Contains(ready.Message, test.says) {
				t.Errorf("Ready says %q, want it to say %q", ready.Message, test.says)
			}
			for _, c := range conditions {
				if !slices.Contains(ownedConditions, c.Type) {
					t.Errorf("%s is written and not owned, so it would never go", c.Type)
				}
			}
		})
	}
}

func TestTheFirstBlockedRemovalIsNamedAndTheOthersToo(t *testing.T) {
	s := healthy()
	s.pools = []v1alpha1.DesignatePool{pool("young", 9), pool("old", 1), pool("free", 0)}
	s.removals = map[types.UID]removal.Verdict{
		"uid-young": {Wanted: true, Reason: "Young", Message: "young."}, "uid-old": {Wanted: true, Reason: "Old", Message: "old."},
	}
	condition := s.removalCondition()
	if condition.Reason != "Old" || condition.Message != "Pool old: old. Also blocked: young." {
		t.Errorf("got %s: %q", condition.Reason, condition.Message)
	}
}

func TestCounts(t *testing.T) {
	s := healthy()
	s.pools[0].Spec.BINDReplicas, s.pools[0].Status.ReadyReplicas = 3, 2
	s.pools[1] = withReady("edge", 1, metav1.ConditionFalse, "Not")
	pools, servers := s.counts()
	if diff := cmp.Diff([]v1alpha1.Count{{Total: 2, Ready: 1}, {Total: 4, Ready: 2}}, []v1alpha1.Count{*pools, *servers}); diff != "" {
		t.Errorf("pools and servers (-want +got):\n%s", diff)
	}
}

package removal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

func pool(name string, annotations map[string]string) *v1alpha1.DesignatePool {
	return &v1alpha1.DesignatePool{
		ObjectMeta: metav1.ObjectMeta{Name: "object-" + name, Annotations: annotations},
		Spec:       v1alpha1.DesignatePoolSpec{PoolName: name},
	}
}

func deleted() *metav1.Time { return &metav1.Time{Time: time.Unix(1_700_000_000, 0)} }

func leaving(backend *v1alpha1.DesignateBackend) *v1alpha1.DesignateBackend {
	backend.DeletionTimestamp = deleted()
	return backend
}

func TestOthersCountEveryPoolOnce(t *testing.T) {
	withUID := func(uid types.UID) v1alpha1.DesignatePool {
		return v1alpha1.DesignatePool{ObjectMeta: metav1.ObjectMeta{UID: uid}}
	}
	self := withUID("self")
	pools := []v1alpha1.DesignatePool{self, withUID("living"), withUID("new")}
	entries := []ledger.Pool{{UID: "self"}, {UID: "living"}, {UID: "vanished"}}
	if got := others(&self, pools, entries); got != 3 {
		t.Errorf("%d others, want living, new and vanished", got)
	}
	if got := others(&self, pools[:1], entries[:1]); got != 0 {
		t.Errorf("%d others, want none", got)
	}
}

func TestNobodyIsKnownToHoldNothingWhileTheLedgerIsLost(t *testing.T) {
	edge := pool("edge", nil)
	edge.UID = "edge"
	for _, test := range []struct {
		entries []ledger.Pool
		lost    bool
		want    bool
	}{
		{nil, false, true}, {nil, true, false}, {[]ledger.Pool{{UID: "edge"}}, false, false}, {[]ledger.Pool{{UID: "other"}}, false, true},
	} {
		if got := FactsOf(edge, nil, []v1alpha1.DesignatePool{*edge}, test.entries, test.lost).HoldsNothing; got != test.want {
			t.Errorf("entries %v, lost %v: holds nothing is %v, want %v", test.entries, test.lost, got, test.want)
		}
	}
}

func TestJudge(t *testing.T) {
	requested := map[string]string{v1alpha1.AnnotationRemovalRequested: "2026-01-01T00:00:00Z"}
	forced := func(value string) map[string]string {
		return map[string]string{v1alpha1.AnnotationRemovalRequested: "2026-01-01T00:00:00Z", v1alpha1.AnnotationForceRemoval: value}
	}
	blockedBy := func(reason string) Verdict { return Verdict{Wanted: true, Reason: reason} }
	passes := Verdict{Wanted: true, Allowed: true, Forced: true}
	backend := &v1alpha1.DesignateBackend{}
	for name, test := range map[string]struct {
		facts Facts
		want  Verdict
	}{
		"a pool that is known to hold nothing goes at once": {
			Facts{Pool: pool("edge", requested), Backend: backend, HoldsNothing: true}, Verdict{Wanted: true, Allowed: true},
		},
		"and stays while nobody asks": {Facts{Pool: pool("edge", nil), Backend: backend, HoldsNothing: true}, Verdict{}},
		"nobody asked":                {Facts{Pool: pool("edge", nil), Backend: backend}, Verdict{}},
		"the force annotation alone asks for nothing": {
			Facts{Pool: pool("edge", map[string]string{v1alpha1.AnnotationForceRemoval: "edge"}), Backend: backend}, Verdict{},
		},
		"a pool that left the ConfigMap waits for Designate": {
			Facts{Pool: pool("edge", requested), Backend: backend, OtherPools: 1}, blockedBy(v1alpha1.ReasonDesignateAccessMissing),
		},
		"so it does when the backend is deleted, which asks for all pools": {
			Facts{Pool: pool("edge", nil), Backend: leaving(&v1alpha1.DesignateBackend{}), OtherPools: 1},
			blockedBy(v1alpha1.ReasonDesignateAccessMissing),
		},
		"so it does when the backend is gone": {
			Facts{Pool: pool("edge", requested), OtherPools: 1}, blockedBy(v1alpha1.ReasonDesignateAccessMissing),
		},
		"forced with its own name it passes": {Facts{Pool: pool("edge", forced("edge")), Backend: backend, OtherPools: 1}, passes},
		"forced with the name of its object it does not": {
			Facts{Pool: pool("edge", forced("object-edge")), Backend: backend}, blockedBy(v1alpha1.ReasonForceAnnotationMismatch),
		},
		"forced with a name that folds to its own it does not": {
			Facts{Pool: pool("edge", forced("Edge")), Backend: backend}, blockedBy(v1alpha1.ReasonForceAnnotationMismatch),
		},
		"forced with nothing it does not": {
			Facts{Pool: pool("edge", forced("")), Backend: backend}, blockedBy(v1alpha1.ReasonForceAnnotationMismatch),
		},
		"default stays as long as its backend, forced or not": {
			Facts{Pool: pool("default", forced("default")), Backend: backend}, blockedBy(v1alpha1.ReasonDefaultPoolRequired),
		},
		"default goes after all others, forced or not": {
			Facts{Pool: pool("default", forced("default")), Backend: leaving(&v1alpha1.DesignateBackend{}), OtherPools: 1},
			blockedBy(v1alpha1.ReasonOtherPoolsRemain),
		},
		"default goes after all others when the backend is gone, too": {
			Facts{Pool: pool("default", forced("default")), OtherPools: 2}, blockedBy(v1alpha1.ReasonOtherPoolsRemain),
		},
		"default passes last, forced": {
			Facts{Pool: pool("default", forced("default")), Backend: leaving(&v1alpha1.DesignateBackend{})}, passes,
		},
		"default is gated like any other when it is the last": {
			Facts{Pool: pool("default", nil), Backend: leaving(&v1alpha1.DesignateBackend{})},
			blockedBy(v1alpha1.ReasonDesignateAccessMissing),
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Judge(test.facts)
			if blocked := got.Wanted && !got.Allowed; got.Blocked() != blocked || blocked != (got.Message != "") {
				t.Errorf("blocked %v with the message %q, want what blocks it and nothing else", got.Blocked(), got.Message)
			}
			got.Message = ""
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNothingPassesInDoubt goes over every combination of what the gate goes by.
func TestNothingPassesInDoubt(t *testing.T) {
	passed := 0
	for _, name := range []string{"default", "Default", "edge"} {
		for _, requested := range []bool{false, true} {
			for _, beingDeleted := range []bool{false, true} {
				for _, force := range []string{"absent", "", "edge", "default", "true"} {
					for _, backend := range []string{"missing", "living", "leaving"} {
						for _, others := range []int{0, 1} {
							facts := combine(name, requested, beingDeleted, force, backend, others)
							verdict := Judge(facts)
							isDefault := name == v1alpha1.DefaultPoolName
							want := (requested || beingDeleted || backend == "leaving") && force == name &&
								(!isDefault || (backend != "living" && others == 0))
							if verdict.Allowed != want || verdict.Forced != want {
								t.Errorf("pool %s, requested %v, being deleted %v, force %q, backend %s, %d others: %+v, want allowed %v",
									name, requested, beingDeleted, force, backend, others, verdict, want)
							}
							if want {
								passed++
							}
						}
					}
				}
			}
		}
	}
	if passed == 0 {
		t.Error("no combination passes: the test holds the gate against nothing")
	}
}

func combine(name string, requested, beingDeleted bool, force, backend string, others int) Facts {
	facts := Facts{Pool: pool(name, map[string]string{}), OtherPools: others}
	if requested {
		facts.Pool.Annotations[v1alpha1.AnnotationRemovalRequested] = "2026-01-01T00:00:00Z"
	}
	if beingDeleted {
		facts.Pool.DeletionTimestamp = deleted()
	}
	if force != "absent" {
		facts.Pool.Annotations[v1alpha1.AnnotationForceRemoval] = force
	}
	switch backend {
	case "living":
		facts.Backend = &v1alpha1.DesignateBackend{}
	case "leaving":
		facts.Backend = leaving(&v1alpha1.DesignateBackend{})
	}
	return facts
}

func TestWhatBlocksSaysHowToGoOn(t *testing.T) {
	verdict := Judge(Facts{Pool: pool("edge", map[string]string{v1alpha1.AnnotationRemovalRequested: "now"})})
	for _, want := range []string{v1alpha1.AnnotationForceRemoval, fmt.Sprintf("%q", "edge"), "keeps working"} {
		if !strings.Contains(verdict.Message, want) {
			t.Errorf("the message does not say %s: %s", want, verdict.Message)
		}
	}
}

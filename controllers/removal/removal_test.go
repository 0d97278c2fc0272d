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
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
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
		if got := FactsOf(edge, nil, []v1alpha1.DesignatePool{*edge}, test.entries, test.lost, zones.View{}, now).HoldsNothing; got != test.want {
			t.Errorf("entries %v, lost %v: holds nothing is %v, want %v", test.entries, test.lost, got, test.want)
		}
	}
}

func TestZonesAreThoseOfThePoolsIDAndOfAFreshListing(t *testing.T) {
	edge := pool("edge", nil)
	edge.UID = "edge"
	entries := []ledger.Pool{{UID: "edge", ID: "id-edge"}, {UID: "other", ID: "id-other"}}
	facts := func(view zones.View) Facts {
		return FactsOf(edge, nil, []v1alpha1.DesignatePool{*edge}, entries, false, view, now)
	}
	if got := facts(listed("id-other", 3)).Zones; got == nil || got.Total != 0 {
		t.Errorf("zones of another pool: %+v, want a known 0", got)
	}
	if got := facts(listed("id-edge", 3)).Zones; got == nil || got.Total != 3 {
		t.Errorf("zones of the pool: %+v, want 3", got)
	}
	stale := listed("id-edge", 0)
	stale.Listing.Began = now.Add(-stale.FreshFor - time.Second)
	for name, view := range map[string]zones.View{"no listing": {}, "a listing that is too old": stale} {
		if got := facts(view).Zones; got != nil {
			t.Errorf("%s: %+v, want nothing to be known", name, got)
		}
	}
}

var now = time.Unix(1_700_000_000, 0)

// listed is what is known after a listing with so many active zones in one pool.
func listed(id string, total int) zones.View {
	return zones.View{FreshFor: time.Minute, Listing: &zones.Listing{Began: now, Ended: now, Total: total, Pools: map[string]*zones.PoolZones{
		id: {Total: total, Names: []string{"a.example."}, States: map[zones.State]int{{Status: "ACTIVE", Action: "NONE"}: total}},
	}}}
}

func TestJudgeWithAccessToDesignate(t *testing.T) {
	backend := &v1alpha1.DesignateBackend{}
	backend.Spec.Designate.Access = &v1alpha1.DesignateAccess{Endpoint: "http://designate"}
	state := func(status, action string) zones.State { return zones.State{Status: status, Action: action} }
	failing := func(kind designate.Kind) zones.View {
		return zones.View{Failure: &designate.Error{Kind: kind, Operation: "list zones"}, FailingSince: now}
	}
	for name, test := range map[string]struct {
		view   zones.View
		zones  *zones.PoolZones
		reason string
		says   string
	}{
		"nobody has asked yet": {zones.View{}, nil, v1alpha1.ReasonZonesUnknown, ""},
		"Designate cannot be asked": {
			failing(designate.Unreachable), nil, v1alpha1.ReasonDesignateUnreachable, "list zones",
		},
		"Designate cannot be asked, and said 0 before": {
			failing(designate.Unreachable), &zones.PoolZones{}, v1alpha1.ReasonDesignateUnreachable, "",
		},
		"the credentials are refused": {failing(designate.Unauthorised), nil, v1alpha1.ReasonCredentialsRefused, ""},
		"there are no credentials":    {failing(designate.Unusable), nil, v1alpha1.ReasonCredentialsUnusable, ""},
		"zones exist": {
			zones.View{}, &zones.PoolZones{Total: 7, Names: []string{"a.example.", "b.example."}, States: map[zones.State]int{
				state("ACTIVE", "NONE"): 6, state("PENDING", "DELETE"): 1,
			}}, v1alpha1.ReasonZonesExist, "7 (a.example., b.example., ...)",
		},
		"zones in error exist": {
			zones.View{}, &zones.PoolZones{Total: 1, Names: []string{"a.example."}, States: map[zones.State]int{state("ERROR", "CREATE"): 1}},
			v1alpha1.ReasonZonesExist, "1 (a.example.)",
		},
		"the last zones are being deleted": {
			zones.View{}, &zones.PoolZones{Total: 2, Names: []string{"a.example.", "b.example."}, States: map[zones.State]int{
				state("PENDING", "DELETE"): 1, state("ERROR", "DELETE"): 1,
			}}, v1alpha1.ReasonZonesBeingDeleted, "2 (a.example., b.example.)",
		},
		"no zone is left": {zones.View{}, &zones.PoolZones{}, v1alpha1.ReasonForceRequired, v1alpha1.AnnotationForceRemoval},
	} {
		t.Run(name, func(t *testing.T) {
			requested := map[string]string{v1alpha1.AnnotationRemovalRequested: "2026-01-01T00:00:00Z"}
			facts := Facts{Pool: pool("edge", requested), Backend: backend, View: test.view, Zones: test.zones, Now: now}
			got := Judge(facts)
			if !got.Blocked() || got.Reason != test.reason || !strings.Contains(got.Message, test.says) {
				t.Errorf("got %+v, want it blocked as %s, saying %q", got, test.reason, test.says)
			}
			facts.Pool.Annotations[v1alpha1.AnnotationForceRemoval] = "edge"
			if got := Judge(facts); !got.Allowed || !got.Forced {
				t.Errorf("forced it got %+v, want it to pass", got)
			}
		})
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
	knownZones := map[string]*zones.PoolZones{"zones unknown": nil, "no zones": {}, "one zone": {Total: 1}}
	for _, name := range []string{"default", "Default", "edge"} {
		for _, requested := range []bool{false, true} {
			for _, beingDeleted := range []bool{false, true} {
				for _, force := range []string{"absent", "", "edge", "default", "true"} {
					for _, backend := range []string{"missing", "living", "leaving", "leaving with access"} {
						for _, others := range []int{0, 1} {
							for known, zones := range knownZones {
								facts := combine(name, requested, beingDeleted, force, backend, others)
								facts.Zones = zones
								verdict := Judge(facts)
								isDefault := name == v1alpha1.DefaultPoolName
								want := (requested || beingDeleted || strings.HasPrefix(backend, "leaving")) && force == name &&
									(!isDefault || (backend != "living" && others == 0))
								if verdict.Allowed != want || verdict.Forced != want {
									t.Errorf("pool %s, requested %v, being deleted %v, force %q, backend %s, %d others, %s: %+v, want allowed %v",
										name, requested, beingDeleted, force, backend, others, known, verdict, want)
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
	case "leaving with access":
		facts.Backend = leaving(&v1alpha1.DesignateBackend{})
		facts.Backend.Spec.Designate.Access = &v1alpha1.DesignateAccess{Endpoint: "http://designate"}
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

package removal

import (
	"errors"
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
	"github.com/designate-pools/designate-pool-operator/controllers/pooldeletion"
	"github.com/designate-pools/designate-pool-operator/controllers/serving"
	"github.com/designate-pools/designate-pool-operator/controllers/statistics"
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

// somewhere is a namespace in which nothing is known.
func somewhere(pools []v1alpha1.DesignatePool, entries ...ledger.Pool) *Namespace {
	return &Namespace{
		Pools: pools, Ledger: &ledger.Ledger{Pools: entries}, Now: now,
		ListedSince: func(zones.Intent) *zones.Listing { return nil },
		Answer:      func(string) pooldeletion.Answer { return pooldeletion.Answer{} },
		Serving:     func(types.UID) serving.View { return serving.View{} },
	}
}

func TestOthersCountEveryPoolOnce(t *testing.T) {
	withUID := func(uid types.UID) v1alpha1.DesignatePool {
		return v1alpha1.DesignatePool{ObjectMeta: metav1.ObjectMeta{UID: uid}}
	}
	self := withUID("self")
	pools := []v1alpha1.DesignatePool{self, withUID("living"), withUID("new")}
	if got := somewhere(pools, ledger.Pool{UID: "self"}, ledger.Pool{UID: "living"}, ledger.Pool{UID: "vanished"}).Of(&self).OtherPools; got != 3 {
		t.Errorf("%d others, want living, new and vanished", got)
	}
	if got := somewhere(pools[:1], ledger.Pool{UID: "self"}).Of(&self).OtherPools; got != 0 {
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
		from := somewhere(nil, test.entries...)
		from.LedgerLost = test.lost
		if got := from.Of(edge).HoldsNothing; got != test.want {
			t.Errorf("entries %v, lost %v: holds nothing is %v, want %v", test.entries, test.lost, got, test.want)
		}
	}
}

func TestAListingCountsIfItBeganAfterTheWish(t *testing.T) {
	edge := pool("edge", map[string]string{v1alpha1.AnnotationRemovalRequested: "now"})
	edge.UID = "edge"
	from := somewhere(nil, ledger.Pool{UID: "edge", ID: "id-edge"})
	from.Backend, from.View = withAccess(&v1alpha1.DesignateBackend{}), listed("id-edge", 0)
	if got := from.Of(edge).Listing; got != nil {
		t.Error("one that began before counts")
	}
	from.ListedSince = func(zones.Intent) *zones.Listing { return from.View.Listing }
	if got := from.Of(edge).Listing; got == nil {
		t.Error("one that began after it does not count")
	}
	from.Ledger.Pools[0].Deletion = &ledger.Deletion{Refused: ledger.At(now.Add(-firstDelay)), Refusals: 1}
	if got := from.Of(edge).Listing; got != nil {
		t.Error("one counts that began right after zones were found past the point of no return")
	}
	from.View.Listing.Began = now.Add(time.Second)
	if got := from.Of(edge).Listing; got == nil {
		t.Error("one that began later does not count")
	}
}

func TestAListingCountsForAVanishedPoolIfItBeganAfterThatWasSeen(t *testing.T) {
	from := somewhere(nil, ledger.Pool{UID: "edge", ID: "id-edge"})
	from.Backend, from.View = withAccess(&v1alpha1.DesignateBackend{}), listed("id-edge", 0)
	entry := &from.Ledger.Pools[0]
	for name, test := range map[string]struct {
		seen *metav1.Time
		want bool
	}{
		"not seen": {nil, false}, "seen after it": {ledger.At(now.Add(time.Second)), false}, "seen before it": {ledger.At(now.Add(-time.Second)), true},
	} {
		entry.Vanished = test.seen
		if got := from.OfVanished(entry).Listing != nil; got != test.want {
			t.Errorf("%s: it counts: %v, want %v", name, got, test.want)
		}
	}
}

func TestServersAreAskedAgainAfterEachRefusalLaterAndLater(t *testing.T) {
	for refusals, want := range map[int32]time.Duration{1: firstDelay, 2: 2 * firstDelay, 3: 4 * firstDelay, 20: longestDelay} {
		entry := ledger.Pool{Deletion: &ledger.Deletion{Refused: ledger.At(now), Refusals: refusals}}
		if got := NextTry(&entry).Sub(now); got != want {
			t.Errorf("after %d refusals: %s, want %s", refusals, got, want)
		}
	}
	if !NextTry(&ledger.Pool{}).IsZero() {
		t.Error("without a refusal there is nothing to wait for")
	}
}

func withAccess(backend *v1alpha1.DesignateBackend) *v1alpha1.DesignateBackend {
	backend.Spec.Designate.Access = &v1alpha1.DesignateAccess{Endpoint: "http://designate"}
	return backend
}

var now = time.Unix(1_700_000_000, 0)

// listed is what is known after a listing with so many active zones in one pool, which Designate has.
func listed(id string, total int) zones.View {
	return zones.View{FreshFor: time.Minute, Listing: &zones.Listing{
		Began: now, Ended: now, Total: total, Known: []designate.Pool{{ID: id, Name: "edge"}},
		Pools: map[string]*zones.PoolZones{id: {
			Total: total, Names: []string{"a.example."}, States: map[zones.State]int{{Status: "ACTIVE", Action: "NONE"}: total},
		}},
	}}
}

func TestJudgeWithAccessToDesignate(t *testing.T) {
	state := func(status, action string) zones.State { return zones.State{Status: status, Action: action} }
	failing := func(kind designate.Kind) func(*Facts) {
		return func(f *Facts) {
			f.View.Failure, f.View.FailingSince = &designate.Error{Kind: kind, Operation: "list zones"}, now
		}
	}
	holding := func(names []string, states map[zones.State]int) func(*Facts) {
		return func(f *Facts) {
			held := f.Listing.Pools["id-edge"]
			held.Names, held.States, held.Total = names, states, 0
			for _, count := range states {
				held.Total += count
			}
		}
	}
	unknown := func(f *Facts) { f.Listing.Known = nil }
	deleting := func(f *Facts) {
		f.Entry.Removal, f.Entry.Deletion = ledger.Deleting, &ledger.Deletion{Attempt: 1, Began: ledger.At(now)}
	}
	deleted := func(f *Facts) {
		f.Entry.Removal, f.Entry.Deletion = ledger.Deleted, &ledger.Deletion{Attempt: 1, Began: ledger.At(now), Ended: ledger.At(now)}
	}
	for name, test := range map[string]struct {
		change func(*Facts)
		reason string
		says   string
	}{
		"no zone is left":                {func(*Facts) {}, "", ""},
		"nobody has asked since":         {func(f *Facts) { f.Listing = nil }, v1alpha1.ReasonZonesUnknown, ""},
		"Designate cannot be asked":      {failing(designate.Unreachable), v1alpha1.ReasonDesignateUnreachable, "list zones"},
		"the credentials are refused":    {failing(designate.Unauthorised), v1alpha1.ReasonCredentialsRefused, ""},
		"there are no credentials":       {failing(designate.Unusable), v1alpha1.ReasonCredentialsUnusable, ""},
		"a pool update with it goes on":  {func(f *Facts) { f.Updating = true }, v1alpha1.ReasonPoolUpdateRunning, "Job"},
		"a zone in error was never made": {holding([]string{"a.example."}, map[zones.State]int{state("ERROR", "CREATE"): 1}), v1alpha1.ReasonZonesExist, "1 (a.example.)"},
		"zones exist": {
			holding([]string{"a.example.", "b.example."}, map[zones.State]int{state("ACTIVE", "NONE"): 6, state("PENDING", "DELETE"): 1}),
			v1alpha1.ReasonZonesExist, "7 (a.example., b.example., ...)",
		},
		"the last zones are being deleted": {
			holding([]string{"a.example.", "b.example."}, map[zones.State]int{state("PENDING", "DELETE"): 1, state("ERROR", "DELETE"): 1}),
			v1alpha1.ReasonZonesBeingDeleted, "2 (a.example., b.example.)",
		},
		"Designate does not know the pool, and nothing holds zones": {unknown, "", ""},
		"Designate does not know the pool, and a server holds zones": {
			func(f *Facts) {
				unknown(f)
				f.Held = statistics.Tally{Total: 2, Names: []string{"a.example", "b.example"}}
			},
			v1alpha1.ReasonServersHoldZones, "2 (a.example, b.example)",
		},
		"Designate does not know the pool, and a server could not be asked": {
			func(f *Facts) { unknown(f); f.Unasked = errors.New("no answer") }, v1alpha1.ReasonServersNotAsked, "no answer",
		},
		"Designate knows the pool, and a server holds zones that were deleted while it was away": {
			func(f *Facts) { f.Held = statistics.Tally{Total: 2} }, "", "",
		},
		"zones are in a pool that Designate lost, and people apply pools.yaml": {
			func(f *Facts) {
				unknown(f)
				holding([]string{"a.example."}, map[zones.State]int{state("ACTIVE", "NONE"): 1})(f)
			},
			v1alpha1.ReasonZonesExist, "apply pools.yaml",
		},
		"Designate is to delete it": {deleting, v1alpha1.ReasonDeletingInDesignate, "point of no return"},
		"Designate is to delete it and does not answer": {
			func(f *Facts) {
				deleting(f)
				f.Answer.Err = &designate.Error{Kind: designate.Unreachable, Operation: "delete pool"}
			},
			v1alpha1.ReasonDesignateUnreachable, "delete pool",
		},
		"Designate has deleted it": {deleted, v1alpha1.ReasonConfirmingRemoval, "no zone was made"},
		"Designate has deleted it and does not answer any more": {
			func(f *Facts) { deleted(f); failing(designate.Unreachable)(f) }, v1alpha1.ReasonDesignateUnreachable, "list zones",
		},
	} {
		t.Run(name, func(t *testing.T) {
			facts := Facts{
				Pool:    pool("edge", map[string]string{v1alpha1.AnnotationRemovalRequested: "2026-01-01T00:00:00Z"}),
				Backend: withAccess(&v1alpha1.DesignateBackend{}), Entry: &ledger.Pool{ID: "id-edge", Name: "edge"},
				View: listed("id-edge", 0), Now: now,
			}
			facts.Listing = facts.View.Listing
			test.change(&facts)
			got := Judge(facts)
			if got.Allowed != (test.reason == "") || got.Forced || got.Reason != test.reason || !strings.Contains(got.Message, test.says) {
				t.Errorf("got %+v, want it blocked as %q, saying %q", got, test.reason, test.says)
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
		"what leaves is blocked by nothing": {
			Facts{Pool: pool("edge", forced("Edge")), Entry: &ledger.Pool{Removal: ledger.Withdrawn}}, Verdict{Wanted: true, Allowed: true},
		},
		"a mark that was taken off past the point of no return takes nothing back": {
			Facts{Pool: pool("edge", nil), Backend: withAccess(&v1alpha1.DesignateBackend{}), Entry: &ledger.Pool{Name: "edge", Removal: ledger.Deleting}},
			blockedBy(v1alpha1.ReasonDeletingInDesignate),
		},
		"a pool that has vanished waits for Designate": {
			Facts{Entry: &ledger.Pool{Name: "edge", Vanished: deleted()}, Backend: backend}, blockedBy(v1alpha1.ReasonDesignateAccessMissing),
		},
		"a pool that has not been seen to have vanished stays": {Facts{Entry: &ledger.Pool{Name: "edge"}, Backend: backend}, Verdict{}},
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
	none, one := listed("id", 0).Listing, listed("id", 1).Listing
	listings := map[string]*zones.Listing{"zones unknown": nil, "no zones": none, "one zone": one}
	for _, name := range []string{"default", "Default", "edge"} {
		for _, requested := range []bool{false, true} {
			for _, beingDeleted := range []bool{false, true} {
				for _, force := range []string{"absent", "", "edge", "default", "true"} {
					for _, backend := range []string{"missing", "living", "living with access", "leaving", "leaving with access"} {
						for _, others := range []int{0, 1} {
							for known, listing := range listings {
								facts := combine(name, requested, beingDeleted, force, backend, others)
								facts.Entry, facts.Listing = &ledger.Pool{ID: "id", Name: name}, listing
								verdict := Judge(facts)
								isDefault := name == v1alpha1.DefaultPoolName
								empty := strings.HasSuffix(backend, "with access") && force == "absent" && listing == none
								want := (requested || beingDeleted || strings.HasPrefix(backend, "leaving")) && (force == name || empty) &&
									(!isDefault || (!strings.HasPrefix(backend, "living") && others == 0))
								if verdict.Allowed != want || verdict.Forced != (want && force == name) {
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
	if backend != "missing" {
		facts.Backend = &v1alpha1.DesignateBackend{}
	}
	if strings.HasPrefix(backend, "leaving") {
		leaving(facts.Backend)
	}
	if strings.HasSuffix(backend, "with access") {
		withAccess(facts.Backend)
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

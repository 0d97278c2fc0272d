package serving

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestAServerServesAllOnceItIsSeenTo(t *testing.T) {
	w := newWorld(t, 2)
	w.has[address(0)], w.has[address(1)] = []string{"a.example.", "b.example."}, []string{"a.example."}
	w.pass()
	if len(w.asked) > 0 {
		t.Error("servers were asked before there was anything to hold them against")
	}
	w.listed("a.example.", "b.example.")
	w.pass()
	before := noon.Add(-time.Second)
	for name, test := range map[string]struct{ got, want bool }{
		"one that does":                           {w.view().ServesAll(0, "pod-0", before), true},
		"one that lacks a zone":                   {w.view().ServesAll(1, "pod-1", before), false},
		"another pod of the one that does":        {w.view().ServesAll(0, "another", before), false},
		"one held against a listing from before":  {w.view().ServesAll(0, "pod-0", noon), false},
		"one that nobody knows":                   {w.view().ServesAll(7, "", before), false},
		"one of a pool that nobody has looked at": {w.observer.View("other").ServesAll(0, "pod-0", before), false},
	} {
		if test.got != test.want {
			t.Errorf("%s: %v", name, test.got)
		}
	}
	delete(w.has, address(0))
	w.clock.SetTime(noon.Add(time.Minute))
	w.listed("a.example.", "b.example.")
	w.pass()
	if w.view().ServesAll(0, "pod-0", before) || w.view().Failure(0) == nil {
		t.Error("one that does not answer any more counts as before")
	}
	if _, known := w.view().Confirmed(0); known {
		t.Error("what it has is known all the same")
	}
}

func TestEachServerIsAskedOnceForEachListingAndPod(t *testing.T) {
	w := newWorld(t, 1)
	w.ledger.Pools[0].Servers[0].Joined = true
	w.record()
	w.has[address(0)] = []string{}
	expect := func(what string, times int) {
		t.Helper()
		for range 3 {
			if wait := w.pass(); wait != 0 {
				t.Errorf("%s: looks again after %s", what, wait)
			}
		}
		if w.asked[address(0)] != times {
			t.Errorf("%s: asked %d times, want %d", what, w.asked[address(0)], times)
		}
	}
	w.listed("a.example.")
	expect("after a listing, though a zone is missing", 1)
	w.clock.SetTime(noon.Add(time.Minute))
	expect("a minute later", 1)
	w.listed("a.example.")
	expect("after another listing", 2)
	w.start(0, "another")
	expect("by another pod", 3)
}

func TestServersThatAreToJoinAreAskedAgain(t *testing.T) {
	w := newWorld(t, 1)
	w.has[address(0)] = []string{}
	w.listed("a.example.")
	for i, want := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second, 30 * time.Second} {
		if wait := w.pass(); wait != want {
			t.Errorf("look %d: waits %s, want %s", i, wait, want)
		}
		w.clock.SetTime(w.clock.Now().Add(want))
	}
	if w.asked[address(0)] != 5 {
		t.Errorf("asked %d times, want 5", w.asked[address(0)])
	}
	w.has[address(0)] = []string{"a.example."}
	if wait := w.pass(); wait != 0 || !w.view().ServesAll(0, "pod-0", noon.Add(-time.Second)) {
		t.Errorf("once it has all zones: looks again after %s", wait)
	}
}

func TestWhatDiffersCountsOnceItIsFoundTwice(t *testing.T) {
	w := newWorld(t, 1)
	w.ledger.Pools[0].Servers[0].Joined = true
	w.record()
	look := func(has, wanted []string) (missing, extra int, known bool) {
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
		w.has[address(0)] = has
		w.listed(wanted...)
		w.pass()
		difference, known := w.view().Confirmed(0)
		return difference.Missing.Total, difference.Extra.Total, known
	}
	all := []string{"a.example.", "b.example."}
	for i, step := range []struct {
		has            []string
		missing, extra int
		known          bool
	}{
		{[]string{"a.example."}, 0, 0, false},
		{[]string{"a.example."}, 1, 0, true},
		{[]string{}, 1, 0, true},
		{[]string{}, 2, 0, true},
		{all, 0, 0, true},
		{append([]string{"x.example."}, all...), 0, 0, true},
		{append([]string{"x.example."}, all...), 0, 1, true},
	} {
		missing, extra, known := look(step.has, all)
		if missing != step.missing || extra != step.extra || known != step.known {
			t.Errorf("look %d: missing %d, extra %d, known %v", i, missing, extra, known)
		}
	}
	w.start(0, "another")
	if _, _, known := look([]string{"a.example."}, all); known {
		t.Error("what another pod lacks is known at once")
	}
}

func TestServersThatAreNotReadyOrNotListedAreNotAsked(t *testing.T) {
	w := newWorld(t, 2)
	w.has[address(0)], w.has[address(1)] = []string{}, []string{}
	w.ledger.Pools[0].Servers[1].Address = ""
	w.record()
	w.listed()
	w.pass()
	if w.asked[address(0)] != 1 || w.asked[address(1)] != 0 || w.asked[""] != 0 {
		t.Errorf("asked: %v", w.asked)
	}
	pod := &corev1.Pod{}
	if err := w.kube.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: "designate-backendbind9-pool1-0"}, pod); err != nil {
		t.Fatal(err)
	}
	pod.Status.Conditions = nil
	if err := w.kube.Status().Update(context.Background(), pod); err != nil {
		t.Fatal(err)
	}
	w.clock.SetTime(noon.Add(time.Minute))
	w.listed()
	w.pass()
	if w.asked[address(0)] != 1 {
		t.Error("one that is not ready was asked")
	}
}

func TestNothingIsKnownOfAPoolThatIsGone(t *testing.T) {
	w := newWorld(t, 1)
	w.has[address(0)] = []string{}
	w.listed()
	w.pass()
	if !w.view().ServesAll(0, "pod-0", noon.Add(-time.Second)) {
		t.Fatal("nothing is known at all")
	}
	if metrics := w.observer.collect(); len(metrics) != 4 {
		t.Errorf("%d metrics, want 4", len(metrics))
	}
	w.ledger.Pools = nil
	w.record()
	w.pass()
	if w.view().ServesAll(0, "pod-0", noon.Add(-time.Second)) || len(w.observer.collect()) > 0 {
		t.Error("it is known as before")
	}
}

// What nobody knows has no series: a 0 would say that all is well.
func TestNoDifferenceIsToldWhileNoServerCouldBeAsked(t *testing.T) {
	w := newWorld(t, 2)
	w.listed("a.example.")
	w.pass()
	if metrics := w.observer.collect(); len(metrics) != 1 {
		t.Errorf("%d metrics, want that of the servers that could not be asked and no other", len(metrics))
	}
	w.has[address(1)] = []string{"a.example."}
	w.clock.SetTime(noon.Add(time.Minute))
	w.listed("a.example.")
	w.pass()
	if metrics := w.observer.collect(); len(metrics) != 4 {
		t.Errorf("%d metrics once one of them was, want 4", len(metrics))
	}
}

package serving

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

const formerAddress = "10.0.1.0"

// takingOver is a pool of one server that takes over from a former one, without access to Designate.
func takingOver(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, 1)
	backend := &v1alpha1.DesignateBackend{}
	if err := w.kube.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: v1alpha1.BackendName}, backend); err != nil {
		t.Fatal(err)
	}
	backend.Spec.Designate.Access = nil
	if err := w.kube.Update(context.Background(), backend); err != nil {
		t.Fatal(err)
	}
	w.ledger.Pools[0].Former = &ledger.Former{Mode: v1alpha1.SinglePool, Servers: []ledger.Server{{Address: formerAddress, Joined: true}}}
	w.record()
	return w
}

func (w *world) servesAll() bool {
	return w.view().ServesAll(0, "pod-0", noon.AddDate(-1, 0, 0))
}

func TestWhoTakesOverAnswersForAsMuchAsTheServerBefore(t *testing.T) {
	both := []string{"a.example.", "b.example."}
	for name, test := range map[string]struct {
		former, has []string
		change      func(w *world)
		want        bool
	}{
		"one that has all zones":                      {former: both, has: both, want: true},
		"one that has more":                           {former: []string{"a.example."}, has: both, want: true},
		"one that lacks a zone":                       {former: both, has: []string{"a.example."}},
		"one of which nobody can tell":                {former: both},
		"where the former server does not answer":     {has: both},
		"where the former server has no zones either": {former: []string{}, has: []string{}, want: true},
		"where no client is led to the former server, which does not answer": {
			has: both, want: true, change: func(w *world) { w.ledger.Pools[0].Former.Servers[0].Joined = false },
		},
		"where one of two former servers does not answer": {
			former: both, has: both, change: func(w *world) {
				w.ledger.Pools[0].Former.Servers = append(w.ledger.Pools[0].Former.Servers, ledger.Server{Ordinal: 1, Address: "10.0.1.1", Joined: true})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := takingOver(t)
			w.has[formerAddress], w.has[address(0)] = test.former, test.has
			if test.change != nil {
				test.change(w)
				w.record()
			}
			w.pass()
			if w.servesAll() != test.want {
				t.Errorf("it may take over: %v, and is said to lack %+v, %v", w.servesAll(), w.view().Lacks(0), w.view().Failure(0))
			}
		})
	}
}

func TestWhoIsToTakeOverIsAskedUntilItCan(t *testing.T) {
	w := takingOver(t)
	w.has[formerAddress], w.has[address(0)] = []string{"a.example."}, []string{}
	for range 3 {
		wait := w.pass()
		if wait == 0 || w.servesAll() {
			t.Fatalf("looks again after %s; it may take over: %v", wait, w.servesAll())
		}
		w.clock.SetTime(w.clock.Now().Add(wait))
	}
	w.has[address(0)] = []string{"a.example."}
	if wait := w.pass(); wait != 0 || !w.servesAll() {
		t.Errorf("looks again after %s; it may take over: %v", wait, w.servesAll())
	}
	w.ledger.Pools[0].Former = nil
	w.record()
	w.pass()
	if len(w.view().servers) != 0 {
		t.Error("once it has taken over, there is nothing to hold it against, and something is remembered")
	}
}

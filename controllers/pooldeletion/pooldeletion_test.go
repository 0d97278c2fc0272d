package pooldeletion

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

const namespace = "dns"

// world is a deleter with all that it sees. The pool gold is to be deleted.
type world struct {
	*testing.T
	clock   *clocktesting.FakeClock
	backend *v1alpha1.DesignateBackend
	// cached is the ledger in the cache, live that of the API server; lost says that there is none.
	cached, live ledger.Ledger
	lost         bool
	// has are the pools that Designate has, full those with zones, fails what a call fails with; asked are the ids that it was asked to
	// delete.
	has, full []string
	fails     map[string]error
	asked     []string
	deleter   *Deleter
}

// DeletePool implements Designate.
func (w *world) DeletePool(_ context.Context, id string) error {
	w.asked = append(w.asked, id)
	switch {
	case w.fails[id] != nil:
		return w.fails[id]
	case !slices.Contains(w.has, id):
		return &designate.Error{Kind: designate.NotFound}
	case slices.Contains(w.full, id):
		return &designate.Error{Kind: designate.PoolNotEmpty}
	}
	w.has = slices.DeleteFunc(w.has, func(other string) bool { return other == id })
	return nil
}

func newWorld(t *testing.T) *world {
	clock := clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	w := &world{T: t, clock: clock, has: []string{"id-default", "id-gold", "id-iron"}, fails: map[string]error{}}
	w.backend = &v1alpha1.DesignateBackend{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.BackendName}}
	w.backend.Spec.Designate.Access = &v1alpha1.DesignateAccess{Endpoint: "http://one"}
	w.deleter = &Deleter{Clock: clock, Connect: func(context.Context, *v1alpha1.DesignateBackend) (Designate, error) {
		return w, w.fails["connect"]
	}}
	w.set(w.pool("default", ""), w.pool("gold", ledger.Deleting), w.pool("iron", ""))
	return w
}

func (w *world) pool(name string, removal ledger.RemovalPhase) ledger.Pool {
	pool := ledger.Pool{UID: types.UID("uid-" + name), Object: name, Name: name, ID: "id-" + name, Removal: removal}
	if removal != "" {
		pool.Deletion = &ledger.Deletion{Attempt: 1, Began: ledger.At(w.clock.Now())}
	}
	return pool
}

func (w *world) set(pools ...ledger.Pool) {
	w.live = ledger.Ledger{Version: 1, Mode: v1alpha1.MultiPool, Pools: pools}
	w.cached = *w.live.DeepCopy()
}

func (w *world) reader(of *ledger.Ledger) client.Reader {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			w.Fatal(err)
		}
	}
	text, err := json.Marshal(of)
	if err != nil {
		w.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme)
	if w.backend != nil {
		builder = builder.WithObjects(w.backend.DeepCopy())
	}
	if !w.lost {
		builder = builder.WithObjects(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: v1alpha1.LedgerName, Labels: map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator},
			},
			Data: map[string]string{v1alpha1.LedgerKey: string(text)},
		})
	}
	return builder.Build()
}

// reconcile makes a pass, and returns what Designate is asked and when the next pass is to be.
func (w *world) reconcile() ([]string, time.Duration) {
	w.Helper()
	w.asked = nil
	w.deleter.Client, w.deleter.APIReader = w.reader(&w.cached), w.reader(&w.live)
	result, err := w.deleter.Reconcile(w.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: v1alpha1.BackendName}})
	if err != nil {
		w.Fatal(err)
	}
	return w.asked, result.RequeueAfter
}

func (w *world) expectAsked(want ...string) {
	w.Helper()
	if asked, _ := w.reconcile(); !slices.Equal(asked, want) {
		w.Errorf("Designate is asked to delete %q, want %q", asked, want)
	}
}

func (w *world) answer(name string) Answer {
	return w.deleter.Answer(w.live.Pool(types.UID("uid-" + name)).DeletionToken())
}

// R16: that there is no such pool is what was asked for.
func TestAPoolIsDeletedOnce(t *testing.T) {
	for name, before := range map[string][]string{"Designate has it": {"id-gold", "id-iron"}, "Designate has none": {"id-iron"}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.has = before
			w.expectAsked("id-gold")
			if answer := w.answer("gold"); !answer.Gone || answer.NotEmpty || answer.Err != nil {
				t.Errorf("the answer is %+v, want it gone", answer)
			}
			w.expectAsked()
			if !slices.Equal(w.has, []string{"id-iron"}) {
				t.Errorf("Designate has %q", w.has)
			}
		})
	}
}

func TestAPoolWithZonesIsKeptAndEachAttemptHasAnAnswerOfItsOwn(t *testing.T) {
	w := newWorld(t)
	w.full = []string{"id-gold"}
	w.expectAsked("id-gold")
	if answer := w.answer("gold"); !answer.NotEmpty || answer.Gone {
		t.Errorf("the answer is %+v, want it not empty", answer)
	}
	w.expectAsked()
	w.full = nil
	again := w.pool("gold", ledger.Deleting)
	again.Deletion.Attempt = 2
	w.set(again)
	if answer := w.answer("gold"); answer != (Answer{}) {
		t.Errorf("the second attempt has the answer %+v of the first", answer)
	}
	w.expectAsked("id-gold")
	if !w.answer("gold").Gone {
		t.Error("it is not gone after the second attempt")
	}
}

func TestNothingIsDeletedThatIsNotPastThePointOfNoReturn(t *testing.T) {
	for name, change := range map[string]func(*world){
		"the API server knows that it was taken back": func(w *world) { w.live.Pools[1].Removal = "" },
		"the cache does not know of it yet":           func(w *world) { w.cached.Pools[1].Removal = "" },
		"it is further on":                            func(w *world) { w.set(w.pool("gold", ledger.Deleted), w.pool("iron", ledger.Withdrawing)) },
		"it is the default pool":                      func(w *world) { w.set(w.pool("default", ledger.Deleting)) },
		"the ledger is lost":                          func(w *world) { w.lost = true },
		"the operator may not reach Designate":        func(w *world) { w.backend.Spec.Designate.Access = nil },
		"the DesignateBackend is gone":                func(w *world) { w.backend = nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			change(w)
			w.expectAsked()
		})
	}
}

func TestWhatFailsIsToldAndTriedAgainLaterAndKeepsNoOtherWaiting(t *testing.T) {
	for _, where := range []string{"connect", "id-gold"} {
		t.Run(where, func(t *testing.T) {
			w := newWorld(t)
			w.set(w.pool("gold", ledger.Deleting), w.pool("iron", ledger.Deleting))
			failure := &designate.Error{Kind: designate.Unreachable, Operation: "delete pool"}
			w.fails[where] = failure
			_, next := w.reconcile()
			if answer := w.answer("gold"); answer.Gone || answer.NotEmpty || !errors.Is(answer.Err, failure) {
				t.Errorf("the answer is %+v, want the failure", answer)
			}
			if next != 5*time.Second {
				t.Errorf("it is tried again after %s, want 5s", next)
			}
			if where == "id-gold" && !w.answer("iron").Gone {
				t.Error("the other pool waits")
			}
			w.expectAsked()
			delete(w.fails, where)
			w.clock.Step(5 * time.Second)
			w.reconcile()
			if !w.answer("gold").Gone {
				t.Error("it is not tried again")
			}
		})
	}
}

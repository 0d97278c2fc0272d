package tsigkeys

import (
	"context"
	"encoding/json"
	"fmt"
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
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

const namespace = "dns"

// stateful is a Designate that has keys, as the real one has: names are unique, ids its own.
type stateful struct {
	keys  []designate.TSIGKey
	made  int
	calls []string
	// fails answers a call with an error, by what is called and the name of the key.
	fails map[string]error
}

func (d *stateful) call(what string) error {
	d.calls = append(d.calls, what)
	return d.fails[what]
}

func (d *stateful) TSIGKeys(context.Context) ([]designate.TSIGKey, error) {
	return slices.Clone(d.keys), d.call("list")
}

func (d *stateful) CreateTSIGKey(_ context.Context, key designate.TSIGKey) (designate.TSIGKey, error) {
	if err := d.call("create " + key.Name); err != nil {
		return designate.TSIGKey{}, err
	}
	if d.key(key.Name) != nil {
		return designate.TSIGKey{}, &designate.Error{Kind: designate.AlreadyExists, Operation: "create TSIG key"}
	}
	d.made++
	key.ID = fmt.Sprintf("id-%d", d.made)
	d.keys = append(d.keys, key)
	return key, nil
}

func (d *stateful) DeleteTSIGKey(_ context.Context, id string) error {
	if err := d.call("delete " + id); err != nil {
		return err
	}
	before := len(d.keys)
	d.keys = slices.DeleteFunc(d.keys, func(k designate.TSIGKey) bool { return k.ID == id })
	if len(d.keys) == before {
		return &designate.Error{Kind: designate.NotFound, Operation: "delete TSIG key"}
	}
	return nil
}

func (d *stateful) key(name string) *designate.TSIGKey {
	for i := range d.keys {
		if d.keys[i].Name == name {
			return &d.keys[i]
		}
	}
	return nil
}

func (d *stateful) drop(name string) {
	d.keys = slices.DeleteFunc(d.keys, func(k designate.TSIGKey) bool { return k.Name == name })
}

// world is a registrar with all that it sees. The pool gold may be opened at once.
type world struct {
	*testing.T
	clock     *clocktesting.FakeClock
	designate *stateful
	listing   *zones.Listing
	ledger    ledger.Ledger
	backend   *v1alpha1.DesignateBackend
	secrets   map[string]*corev1.Secret
	registrar *Registrar
}

// View implements zones.Viewer.
func (w *world) View(string) zones.View {
	return zones.View{Listing: w.listing, FreshFor: time.Hour}
}

const goldKey = "designate-pool-uid-gold"

func newWorld(t *testing.T) *world {
	clock := clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	w := &world{T: t, clock: clock, designate: &stateful{fails: map[string]error{}}, secrets: map[string]*corev1.Secret{}}
	w.backend = &v1alpha1.DesignateBackend{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.BackendName, UID: "backend"}}
	w.backend.Spec.Designate.Access = &v1alpha1.DesignateAccess{Endpoint: "http://one"}
	w.ledger = ledger.Ledger{Version: 1, Mode: v1alpha1.MultiPool, Pools: []ledger.Pool{
		{UID: "uid-default", Object: "default", Name: "default", ID: "id-default", Servers: []ledger.Server{{Address: "192.0.2.1", Joined: true}}},
	}}
	w.listing = &zones.Listing{Began: clock.Now(), Ended: clock.Now(), Pools: map[string]*zones.PoolZones{}}
	w.registrar = &Registrar{Zones: w, Clock: clock, Connect: func(context.Context, *v1alpha1.DesignateBackend) (Designate, error) {
		return w.designate, w.designate.fails["connect"]
	}}
	w.pool("gold")
	return w
}

// pool adds a pool that may be opened, and its Secret.
func (w *world) pool(name string) {
	w.Helper()
	entry := ledger.Pool{
		UID: types.UID("uid-" + name), Object: name, Name: name, ID: "id-of-" + name, Index: int32(len(w.ledger.Pools)),
		Servers: []ledger.Server{{Address: "192.0.2.2", Joined: true}},
		Applied: &ledger.Applied{Entry: "e", Targets: "t", Workers: "t"},
	}
	w.ledger.Pools = append(w.ledger.Pools, entry)
	w.listing.Known = append(w.listing.Known, designate.Pool{ID: entry.ID, Name: name})
	key, err := builders.NewKey(builders.TSIGKeyName(entry.UID))
	if err != nil {
		w.Fatal(err)
	}
	w.secrets[name] = &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: builders.TSIGSecretName(entry.Index), Labels: map[string]string{v1alpha1.LabelPoolUID: string(entry.UID)},
		},
		Data: map[string][]byte{"name": []byte(key.Name), "algorithm": []byte(key.Algorithm), "secret": []byte(key.Secret)},
	}
}

func (w *world) gold() *ledger.Pool { return w.ledger.Pool("uid-gold") }

// reconcile makes a pass over what there is now, and returns when the next one is to be.
func (w *world) reconcile() time.Duration {
	w.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			w.Fatal(err)
		}
	}
	text, err := json.Marshal(w.ledger)
	if err != nil {
		w.Fatal(err)
	}
	objects := []client.Object{w.backend.DeepCopy(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: v1alpha1.LedgerName, Labels: map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator},
		},
		Data: map[string]string{v1alpha1.LedgerKey: string(text)},
	}}
	for _, secret := range w.secrets {
		objects = append(objects, secret.DeepCopy())
	}
	w.registrar.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	result, err := w.registrar.Reconcile(w.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(w.backend)})
	if err != nil {
		w.Fatal(err)
	}
	return result.RequeueAfter
}

// later makes a pass after some time.
func (w *world) later(after time.Duration) {
	w.Helper()
	w.clock.Step(after)
	w.designate.calls = nil
	w.reconcile()
}

// condition is status and reason of a pool's condition; empty when there is none.
func (w *world) condition(pool string) string {
	c, known := w.registrar.View(namespace).Condition(types.UID("uid-" + pool))
	if !known {
		return ""
	}
	return string(c.Status) + " " + c.Reason
}

func (w *world) expect(pool, want string) {
	w.Helper()
	if got := w.condition(pool); got != want {
		w.Errorf("the condition of %s is %q, want %q", pool, got, want)
	}
}

func (w *world) expectCalls(want ...string) {
	w.Helper()
	if !slices.Equal(w.designate.calls, want) {
		w.Errorf("Designate is asked %q, want %q", w.designate.calls, want)
	}
}

package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

const namespace = "dns"

// world is a namespace with the pool default, and objects of a pool gold that does not exist.
type world struct {
	*testing.T
	clock    *clocktesting.FakeClock
	api      client.WithWatch
	view     zones.View
	demanded []time.Time
	recorder *events.FakeRecorder
	sweeper  *Sweeper
}

// View implements zones.Viewer.
func (w *world) View(string) zones.View { return w.view }

func (w *world) Demand(_ string, after time.Time) { w.demanded = append(w.demanded, after) }

func object(name, uid, pool string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name,
		Labels:      map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator, v1alpha1.LabelPoolUID: uid},
		Annotations: map[string]string{v1alpha1.AnnotationPoolName: pool},
	}
}

func withAccess() *v1alpha1.DesignateBackend {
	backend := &v1alpha1.DesignateBackend{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.BackendName}}
	backend.Spec.Designate.Access = &v1alpha1.DesignateAccess{Endpoint: "http://designate"}
	return backend
}

// ledgerWith is a ledger with pools of these names.
func ledgerWith(t *testing.T, names ...string) *corev1.ConfigMap {
	l := ledger.Ledger{Version: 1, Mode: v1alpha1.MultiPool}
	for i, name := range names {
		l.Pools = append(l.Pools, ledger.Pool{UID: types.UID("uid-" + name), Object: name, Name: name, Index: int32(i)})
	}
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: v1alpha1.LedgerName, Labels: map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator},
		},
		Data: map[string]string{v1alpha1.LedgerKey: string(text)},
	}
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{T: t, clock: clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)), recorder: events.NewFakeRecorder(20)}
	w.api = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	w.sweeper = &Sweeper{Client: w.api, APIReader: w.api, Recorder: w.recorder, Zones: w, Clock: w.clock}
	w.view.FreshFor = time.Hour
	return w
}

func (w *world) reconcile() (ctrl.Result, error) {
	return w.sweeper.Reconcile(w.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: v1alpha1.BackendName}})
}

// pass makes a pass, and lists the zones after it.
func (w *world) pass(known []designate.Pool, counts map[string]int) {
	w.Helper()
	if _, err := w.reconcile(); err != nil {
		w.Fatal(err)
	}
	w.clock.Step(time.Second)
	listing := &zones.Listing{Began: w.clock.Now(), Ended: w.clock.Now(), Known: known, Pools: map[string]*zones.PoolZones{}}
	for id, count := range counts {
		listing.Pools[id] = &zones.PoolZones{Total: count, Names: []string{"a.example."}}
	}
	w.view.Listing = listing
	w.clock.Step(time.Second)
}

// left are the names of the Secrets, Services and StatefulSets of pools that there are.
func (w *world) left() []string {
	w.Helper()
	var names []string
	for _, list := range []client.ObjectList{&corev1.SecretList{}, &corev1.ServiceList{}, &appsv1.StatefulSetList{}} {
		if err := w.api.List(w.Context(), list, client.HasLabels{v1alpha1.LabelPoolUID}); err != nil {
			w.Fatal(err)
		}
		switch l := list.(type) {
		case *corev1.SecretList:
			for i := range l.Items {
				names = append(names, l.Items[i].Name)
			}
		case *corev1.ServiceList:
			for i := range l.Items {
				names = append(names, l.Items[i].Name)
			}
		case *appsv1.StatefulSetList:
			for i := range l.Items {
				names = append(names, l.Items[i].Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

func (w *world) events() string {
	var all []string
	for {
		select {
		case event := <-w.recorder.Events:
			all = append(all, event)
		default:
			return strings.Join(all, "\n")
		}
	}
}

func TestWhatBelongsToNoPool(t *testing.T) {
	goldID := conversion.PoolID(namespace, "gold")
	secret := func() client.Object { return &corev1.Secret{ObjectMeta: object("secret", "uid-old", "gold")} }
	set := func() client.Object { return &appsv1.StatefulSet{ObjectMeta: object("set", "uid-old", "gold")} }
	known := []designate.Pool{{ID: goldID, Name: "gold"}}
	for name, test := range map[string]struct {
		objects []client.Object
		backend *v1alpha1.DesignateBackend
		pools   []string
		known   []designate.Pool
		zones   map[string]int
		gone    bool
		says    string
	}{
		"goes when Designate has no zones in its pool":      {[]client.Object{secret()}, withAccess(), nil, known, nil, true, "deleted"},
		"goes when Designate does not know its pool":        {[]client.Object{secret(), set()}, withAccess(), nil, nil, nil, true, "deleted"},
		"stays when Designate has zones under its id":       {[]client.Object{secret()}, withAccess(), nil, nil, map[string]int{goldID: 1}, false, "a.example."},
		"stays when the pool of its name there has zones":   {[]client.Object{secret()}, withAccess(), nil, []designate.Pool{{ID: "x", Name: "gold"}}, map[string]int{"x": 1}, false, "a.example."},
		"stays when it serves a pool that Designate has":    {[]client.Object{set()}, withAccess(), nil, known, nil, false, "DELETE /v2/pools/" + goldID},
		"stays without access":                              {[]client.Object{secret()}, &v1alpha1.DesignateBackend{ObjectMeta: withAccess().ObjectMeta}, nil, nil, nil, false, "cannot ask"},
		"stays without a backend":                           {[]client.Object{secret()}, nil, nil, nil, nil, false, ""},
		"stays when it does not tell its pool":              {[]client.Object{&corev1.Secret{ObjectMeta: object("secret", "uid-old", "")}}, withAccess(), nil, nil, nil, false, "do not tell"},
		"stays when its objects name two pools":             {[]client.Object{secret(), &corev1.Service{ObjectMeta: object("service", "uid-old", "iron")}}, withAccess(), nil, nil, nil, false, "do not tell"},
		"goes when another pool has taken its place":        {[]client.Object{secret()}, nil, []string{"gold"}, nil, nil, true, ""},
		"stays when it serves, whoever has taken its place": {[]client.Object{set()}, nil, []string{"gold"}, nil, nil, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			objects := append([]client.Object{ledgerWith(t, append([]string{"default"}, test.pools...)...)}, test.objects...)
			if test.backend != nil {
				objects = append(objects, test.backend)
			}
			w := newWorld(t, objects...)
			for range 4 {
				w.pass(test.known, test.zones)
			}
			if got := len(w.left()) == 0; got != test.gone {
				t.Errorf("left is %q, want it gone: %v", w.left(), test.gone)
			}
			if said := w.events(); !strings.Contains(said, test.says) || strings.Count(said, v1alpha1.EventOrphanedObjects) > 2 {
				t.Errorf("the Events are %q, want them to say %q, and nothing twice", said, test.says)
			}
		})
	}
}

func TestWhatBelongsToAPoolIsNoOrphan(t *testing.T) {
	for name, objects := range map[string][]client.Object{
		"of a DesignatePool": {ledgerWith(t), &v1alpha1.DesignatePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "gold", UID: "uid-gold"}}},
		"of the ledger":      {ledgerWith(t, "gold")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, append(objects, withAccess(), &corev1.Secret{ObjectMeta: object("secret", "uid-gold", "gold")})...)
			for range 4 {
				w.pass(nil, nil)
			}
			if len(w.left()) != 1 || len(w.demanded) > 0 {
				t.Errorf("left is %q, and %d listings were asked for", w.left(), len(w.demanded))
			}
		})
	}
}

func TestAListingFromBeforeLetsNothingGo(t *testing.T) {
	w := newWorld(t, ledgerWith(t, "default"), withAccess(), &corev1.Secret{ObjectMeta: object("secret", "uid-old", "gold")})
	w.view.Listing = &zones.Listing{Began: w.clock.Now()}
	for range 3 {
		if _, err := w.reconcile(); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.left()) != 1 || len(w.demanded) == 0 {
		t.Errorf("left is %q, and %d listings were asked for", w.left(), len(w.demanded))
	}
}

// R7.
func TestNothingGoesWhileSomethingCannotBeRead(t *testing.T) {
	for name, objects := range map[string][]client.Object{
		"the ledger is lost":     {withAccess()},
		"the ledger is not ours": {withAccess(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.LedgerName}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, append(objects, &corev1.Secret{ObjectMeta: object("secret", "uid-old", "gold")})...)
			for range 4 {
				_, _ = w.reconcile() // One of them fails.
				w.clock.Step(time.Second)
				w.view.Listing = &zones.Listing{Began: w.clock.Now()}
			}
			if len(w.left()) != 1 {
				t.Error("it is gone")
			}
		})
	}
	asked := 0
	for failing := 1; failing == 1 || asked >= failing-1; failing++ {
		w := newWorld(t, ledgerWith(t, "gold"), withAccess(), &corev1.Secret{ObjectMeta: object("secret", "uid-gold", "gold")})
		asked = 0
		fails := func() error {
			asked++
			if asked == failing {
				return errors.New("the API server is down")
			}
			return nil
		}
		w.sweeper.APIReader = interceptor.NewClient(w.api, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
				return errors.Join(fails(), c.Get(ctx, key, into, opts...))
			},
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				return errors.Join(fails(), c.List(ctx, list, opts...))
			},
		})
		_, err := w.reconcile()
		if asked < failing {
			break // Every question has failed once.
		}
		if err == nil || len(w.left()) != 1 {
			t.Errorf("question %d failed: error %v, left is %q", failing, err, w.left())
		}
	}
	if asked < 8 {
		t.Errorf("%d questions were asked, want one for each kind, the pools and the ledger", asked)
	}
}

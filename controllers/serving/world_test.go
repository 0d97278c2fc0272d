package serving

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/statistics"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

const (
	namespace = "dns"
	poolID    = "id-of-gold"
)

var (
	noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	gold = types.UID("uid-gold")
)

// world is a pool gold with servers whose zones a test says, and a Designate whose listing it says.
type world struct {
	t        *testing.T
	clock    *clocktesting.FakePassiveClock
	kube     client.Client
	observer *Observer
	listing  *zones.Listing
	ledger   ledger.Ledger

	mutex sync.Mutex
	// has are the zones of each server, nil of one that does not answer; asked counts how many times each was.
	has   map[string][]string
	asked map[string]int
}

// View implements zones.Viewer.
func (w *world) View(string) zones.View { return zones.View{Listing: w.listing, FreshFor: time.Hour} }

func newWorld(t *testing.T, servers int32) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	backend := &v1alpha1.DesignateBackend{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.BackendName}}
	backend.Spec.Designate.Access = &v1alpha1.DesignateAccess{Endpoint: "http://192.0.2.1:9001"}
	w := &world{
		t: t, clock: clocktesting.NewFakePassiveClock(noon), has: map[string][]string{}, asked: map[string]int{},
		kube: fake.NewClientBuilder().WithScheme(scheme).WithObjects(
			backend, &v1alpha1.DesignatePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "gold", UID: gold}},
		).Build(),
		ledger: ledger.Ledger{Version: 1, Mode: v1alpha1.MultiPool, Pools: []ledger.Pool{{
			UID: gold, Object: "gold", Name: "gold", ID: poolID, Index: 1,
		}}},
	}
	for ordinal := range servers {
		w.ledger.Pools[0].Servers = append(w.ledger.Pools[0].Servers, ledger.Server{Ordinal: ordinal, RNDCKey: ordinal + 1, Address: address(ordinal)})
		w.start(ordinal, types.UID(fmt.Sprintf("pod-%d", ordinal)))
	}
	w.record()
	w.observer = &Observer{Client: w.kube, Ask: w.ask, Zones: w, Clock: w.clock}
	return w
}

func address(ordinal int32) string { return fmt.Sprintf("10.0.0.%d", ordinal) }

// start makes a server's pod anew, ready.
func (w *world) start(ordinal int32, uid types.UID) {
	w.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: fmt.Sprintf("designate-backendbind9-pool1-%d", ordinal), UID: uid,
			Labels: map[string]string{v1alpha1.LabelPoolUID: string(gold)},
		},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
	_ = w.kube.Delete(context.Background(), pod.DeepCopy())
	if err := w.kube.Create(context.Background(), pod); err != nil {
		w.t.Fatal(err)
	}
}

// record writes the ledger.
func (w *world) record() {
	w.t.Helper()
	text, err := json.Marshal(w.ledger)
	if err != nil {
		w.t.Fatal(err)
	}
	configMap := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: v1alpha1.LedgerName, Labels: map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator},
		},
		Data: map[string]string{v1alpha1.LedgerKey: string(text)},
	}
	_ = w.kube.Delete(context.Background(), configMap.DeepCopy())
	if err := w.kube.Create(context.Background(), configMap); err != nil {
		w.t.Fatal(err)
	}
}

// listed is a listing that begins now and finds zones in the pool.
func (w *world) listed(names ...string) {
	w.t.Helper()
	var builder statistics.WantedBuilder
	for _, name := range names {
		if err := builder.Add(&designate.Zone{Name: name, Status: "ACTIVE", Action: "NONE", Serial: 1}); err != nil {
			w.t.Fatal(err)
		}
	}
	w.listing = &zones.Listing{Began: w.clock.Now(), Wanted: map[string]*statistics.Wanted{poolID: builder.Wanted()}}
}

// ask answers as BIND's statistics channel does.
func (w *world) ask(_ context.Context, address string) (*statistics.Zones, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.asked[address]++
	names := w.has[address]
	if names == nil {
		return nil, errors.New("it does not answer")
	}
	var records []string
	for _, name := range names {
		records = append(records, fmt.Sprintf(`{"name":%q,"class":"IN","type":"secondary","serial":1}`, strings.TrimSuffix(name, ".")))
	}
	return statistics.Decode(strings.NewReader(fmt.Sprintf(`{"views":{"_default":{"zones":[%s]}}}`, strings.Join(records, ","))))
}

// pass is one pass over the pool.
func (w *world) pass() time.Duration {
	w.t.Helper()
	result, err := w.observer.Reconcile(context.Background(),
		ctrl.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: "gold"}})
	if err != nil {
		w.t.Fatal(err)
	}
	return result.RequeueAfter
}

func (w *world) view() View { return w.observer.View(gold) }

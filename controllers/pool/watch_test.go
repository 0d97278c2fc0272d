package pool

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

func ledgerOf(t *testing.T, mode v1alpha1.Mode, pools ...ledger.Pool) *corev1.ConfigMap {
	t.Helper()
	text, err := json.Marshal(ledger.Ledger{Version: 1, Mode: mode, Pools: pools})
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "dns", Name: v1alpha1.LedgerName, Labels: map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator},
		},
		Data: map[string]string{v1alpha1.LedgerKey: string(text)},
	}
}

func entryOf(name string, keys ...int32) ledger.Pool {
	entry := ledger.Pool{UID: types.UID("uid-" + name), Object: name, Name: name}
	for i, key := range keys {
		entry.Servers = append(entry.Servers, ledger.Server{Ordinal: int32(i), RNDCKey: key})
	}
	return entry
}

func keysOf(data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Name: v1alpha1.RNDCSecretName}, Data: data}
}

// cacheWith has the pools default, edge and gold, and a ledger.
func cacheWith(t *testing.T, objects ...client.Object) client.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"default", "edge", "gold"} {
		objects = append(objects, &v1alpha1.DesignatePool{ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Name: name}})
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

func TestAChangeAsksForThePoolsThatItIsAbout(t *testing.T) {
	const multi = v1alpha1.MultiPool
	all := []string{"default", "edge", "gold"}
	before := ledgerOf(t, multi, entryOf("default", 1), entryOf("edge", 2))
	garbled := ledgerOf(t, multi)
	garbled.Data[v1alpha1.LedgerKey] = "{"
	key := func(text string) []byte { return []byte(text) }
	for name, test := range map[string]struct {
		watch         func(client.Reader) handler.EventHandler
		before, after client.Object
		want          []string
	}{
		"an entry that changed":               {onLedger, before, ledgerOf(t, multi, entryOf("default", 1), entryOf("edge", 2, 3)), []string{"edge"}},
		"a new entry":                         {onLedger, before, ledgerOf(t, multi, entryOf("default", 1), entryOf("edge", 2), entryOf("gold", 3)), []string{"gold"}},
		"no entry changed":                    {onLedger, before, before.DeepCopy(), nil},
		"an entry that went frees a name":     {onLedger, before, ledgerOf(t, multi, entryOf("default", 1)), all},
		"the mode changed":                    {onLedger, before, ledgerOf(t, v1alpha1.SinglePool, entryOf("default", 1), entryOf("edge", 2)), all},
		"the ledger was garbled":              {onLedger, before, garbled, all},
		"the ledger was mended":               {onLedger, garbled, before, all},
		"a key that changed":                  {onKeys, keysOf(map[string][]byte{"rndc-key-2": key("old")}), keysOf(map[string][]byte{"rndc-key-2": key("new")}), []string{"edge"}},
		"a key that came":                     {onKeys, keysOf(nil), keysOf(map[string][]byte{"rndc-key-1": key("new")}), []string{"default"}},
		"a key that nobody has":               {onKeys, keysOf(nil), keysOf(map[string][]byte{"rndc-key-9": key("new")}), nil},
		"the same keys, but perhaps not ours": {onKeys, keysOf(nil), keysOf(nil), all},
	} {
		t.Run(name, func(t *testing.T) {
			queue := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Hour, time.Hour))
			defer queue.ShutDown()
			test.watch(cacheWith(t, before)).Update(context.Background(), event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after}, queue)
			var got []string
			for range queue.Len() {
				request, _ := queue.Get()
				got = append(got, request.Name)
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("asked for (-want +got):\n%s", diff)
			}
		})
	}
}

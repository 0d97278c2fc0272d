package ledger

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
)

const namespace = "dns"

// written is a ledger that uses every field.
func written() *Ledger {
	return &Ledger{Version: formatVersion, Mode: v1alpha1.MultiPool, Pools: []Pool{{
		UID: "uid-1", Object: "edge", Name: "Edge: #1", ID: "an-id", Index: 3, Removal: Withdrawing,
		Accepted: v1alpha1.DesignatePoolSpec{
			PoolName: "Edge: #1",
			PoolSettings: v1alpha1.PoolSettings{
				Description: "two\nlines", Attributes: map[string]string{"zone": "yes"}, BINDReplicas: 2,
				NSRecords: []v1alpha1.NSRecord{{Hostname: "ns1.example.org.", Priority: 1}},
			},
			BIND: &v1alpha1.PoolBIND{Storage: &v1alpha1.BINDStorage{Size: ptr.To(resource.MustParse("1024Mi"))}},
		},
		Servers: []Server{{Ordinal: 0, RNDCKey: 1, Address: "2001:db8::1", Joined: true}, {Ordinal: 1, RNDCKey: 4}},
	}}}
}

// ours is the ConfigMap of the ledger with a text in it.
func ours(text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: v1alpha1.LedgerName, Labels: map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator},
		},
		Data: map[string]string{v1alpha1.LedgerKey: text},
	}
}

// counting is an API server that counts what is written to it.
func counting(writes *int, objects ...client.Object) client.WithWatch {
	return interceptor.NewClient(fake.NewClientBuilder().WithObjects(objects...).Build(), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			*writes++
			return c.Create(ctx, obj, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.UpdateOption) error {
			*writes++
			return c.Update(ctx, obj, opts...)
		},
	})
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	ctx, writes := context.Background(), 0
	c := counting(&writes)
	stored, err := Read(ctx, c, namespace)
	if !errors.Is(err, ErrLost) {
		t.Fatalf("reading no ledger: error %v, want ErrLost", err)
	}
	// Once to make it, once to change it, and not again: through one Stored and through another.
	next := written()
	for _, step := range []struct {
		change func()
		wrote  bool
	}{{func() {}, true}, {func() {}, false}, {func() { next.Pools[0].Removal = Withdrawn }, true}, {func() {}, false}} {
		step.change()
		before := writes
		wrote, err := stored.Write(ctx, c, namespace, next)
		if err != nil || wrote != step.wrote || writes-before != map[bool]int{true: 1}[step.wrote] {
			t.Errorf("wrote %v with %d writes, error %v; want %v", wrote, writes-before, err, step.wrote)
		}
	}
	again, err := Read(ctx, c, namespace)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*next, again.Ledger); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	if wrote, err := again.Write(ctx, c, namespace, next); err != nil || wrote {
		t.Errorf("what was read is written again: %v, error %v", wrote, err)
	}
	if err := apply.OfOperator(configMapIn(t, c)); err != nil {
		t.Errorf("the ledger is not marked as ours: %v", err)
	}
}

func configMapIn(t *testing.T, c client.Reader) *corev1.ConfigMap {
	t.Helper()
	configMap := &corev1.ConfigMap{}
	if err := c.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: v1alpha1.LedgerName}, configMap); err != nil {
		t.Fatal(err)
	}
	return configMap
}

func TestAnUnusableLedgerIsLostAndReplaced(t *testing.T) {
	for name, text := range map[string]string{
		"empty":                      "",
		"cut off":                    `{"version": 1, "pools": [`,
		"no ledger":                  `["a list"]`,
		"without a version":          `{"mode": "MultiPool"}`,
		"with a number out of range": `{"version": 1, "pools": [{"index": 99999999999}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, writes := context.Background(), 0
			c := counting(&writes, ours(text))
			stored, err := Read(ctx, c, namespace)
			if !errors.Is(err, ErrLost) || stored == nil || len(stored.Pools) != 0 || stored.Mode != "" {
				t.Fatalf("read %+v, error %v; want an empty one and ErrLost", stored, err)
			}
			if wrote, err := stored.Write(ctx, c, namespace, written()); err != nil || !wrote {
				t.Fatalf("wrote %v, error %v", wrote, err)
			}
			again, err := Read(ctx, c, namespace)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(*written(), again.Ledger); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFieldThatANewerOperatorAddedLosesNothing(t *testing.T) {
	writes := 0
	c := counting(&writes, ours(`{"version": 1, "mode": "MultiPool", "pools": [{"uid": "a", "index": 3, "accepted": {"bindReplicas": 1, "later": true}}]}`))
	stored, err := Read(context.Background(), c, namespace)
	if err != nil || stored.Pool("a") == nil || stored.Pool("a").Index != 3 {
		t.Errorf("read %+v, error %v; want the pool with index 3", stored, err)
	}
}

func TestAGarbledLedgerIsReplacedEvenByAnEmptyOne(t *testing.T) {
	ctx, writes := context.Background(), 0
	c := counting(&writes, ours("{"))
	stored, err := Read(ctx, c, namespace)
	if !errors.Is(err, ErrLost) {
		t.Fatal(err)
	}
	if wrote, err := stored.Write(ctx, c, namespace, &Ledger{Version: formatVersion}); err != nil || !wrote {
		t.Errorf("wrote %v, error %v; want it written", wrote, err)
	}
	if _, err := Read(ctx, c, namespace); err != nil {
		t.Errorf("what was written is lost again: %v", err)
	}
}

func TestALedgerThatMustNotBeReplacedIsNotLost(t *testing.T) {
	foreign := ours(`{"version": 1}`)
	foreign.Labels = nil
	down := errors.New("the API server is down")
	for name, test := range map[string]struct {
		reader client.Reader
		want   string
	}{
		"written by a newer operator": {
			fake.NewClientBuilder().WithObjects(ours(`{"version": 2, "new": {"field": true}, "pools": "a list no more"}`)).Build(), "format version 2",
		},
		"somebody else's ConfigMap": {fake.NewClientBuilder().WithObjects(foreign).Build(), "not this operator's"},
		"cannot be read": {interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return down
			},
		}), down.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			stored, err := Read(context.Background(), test.reader, namespace)
			if err == nil || errors.Is(err, ErrLost) || stored != nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("read %+v, error %v; want nothing and an error that says %q", stored, err, test.want)
			}
		})
	}
}

func TestAWriterThatIsBehindGetsAConflict(t *testing.T) {
	ctx, writes := context.Background(), 0
	c := counting(&writes, ours(`{"version": 1}`))
	first, err := Read(ctx, c, namespace)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Read(ctx, c, namespace)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Write(ctx, c, namespace, written()); err != nil {
		t.Fatal(err)
	}
	other := written()
	other.Pools[0].Index = 9
	if wrote, err := second.Write(ctx, c, namespace, other); !apierrors.IsConflict(err) || wrote {
		t.Errorf("wrote %v, error %v; want a conflict", wrote, err)
	}
	if second.Mode != "" {
		t.Error("a write that failed counts as done")
	}
	if strings.Contains(configMapIn(t, c).Data[v1alpha1.LedgerKey], `"index": 9`) {
		t.Error("the later write undid the earlier one")
	}
}

func TestTwoThatMakeTheLedgerAtOnceDoNotBothSucceed(t *testing.T) {
	ctx, writes := context.Background(), 0
	c := counting(&writes)
	first, _ := Read(ctx, c, namespace)
	second, _ := Read(ctx, c, namespace)
	if _, err := first.Write(ctx, c, namespace, written()); err != nil {
		t.Fatal(err)
	}
	if wrote, err := second.Write(ctx, c, namespace, written()); !apierrors.IsAlreadyExists(err) || wrote {
		t.Errorf("wrote %v, error %v; want AlreadyExists", wrote, err)
	}
}

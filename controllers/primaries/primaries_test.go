package primaries

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

var key = client.ObjectKey{Namespace: "dns", Name: v1alpha1.BackendName}

// world is a watcher of one DesignateBackend with three primaries.
type world struct {
	*testing.T
	watcher *Watcher
	// fails is what each primary answers; asked is how often each was asked, meanwhile is done while the first is.
	fails     map[string]error
	mutex     sync.Mutex
	asked     map[string]int
	meanwhile func()
	// writes are those of a status.
	writes int
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, fails: map[string]error{}, asked: map[string]int{}, meanwhile: func() {}}
	backend := &v1alpha1.DesignateBackend{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "uid", Generation: 3}}
	backend.Spec.Primaries = []v1alpha1.Primary{
		{Address: "192.0.2.10", Port: 5354}, {Address: "192.0.2.11", Port: 5354}, {Address: "2001:db8::1", Port: 53},
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	w.watcher = &Watcher{
		Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(backend).WithStatusSubresource(backend).
			WithInterceptorFuncs(interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, subresource string, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
				w.writes++
				return c.SubResource(subresource).Patch(ctx, object, patch, opts...)
			}}).Build(),
		Ask: func(_ context.Context, address string) error {
			w.mutex.Lock()
			defer w.mutex.Unlock()
			w.asked[address]++
			w.meanwhile()
			return w.fails[address]
		},
	}
	return w
}

func (w *world) backend() *v1alpha1.DesignateBackend {
	w.Helper()
	backend := &v1alpha1.DesignateBackend{}
	if err := w.watcher.Client.Get(w.Context(), key, backend); err != nil {
		w.Fatal(err)
	}
	return backend
}

func (w *world) reconcile(ctx context.Context) ctrl.Result {
	w.Helper()
	result, err := w.watcher.Reconcile(ctx, ctrl.Request{NamespacedName: key})
	if err != nil {
		w.Fatal(err)
	}
	return result
}

func (w *world) condition() metav1.Condition {
	w.Helper()
	condition := meta.FindStatusCondition(w.backend().Status.Conditions, v1alpha1.ConditionPrimariesReachable)
	if condition == nil {
		return metav1.Condition{}
	}
	return *condition
}

func TestPrimariesThatAllAnswer(t *testing.T) {
	w := newWorld(t)
	result := w.reconcile(t.Context())
	c := w.condition()
	if c.Status != metav1.ConditionTrue || c.Reason != v1alpha1.ReasonPrimariesAnswer || c.ObservedGeneration != 3 {
		t.Errorf("the condition is %+v", c)
	}
	for _, address := range []string{"192.0.2.10:5354", "192.0.2.11:5354", "[2001:db8::1]:53"} {
		if w.asked[address] != 1 {
			t.Errorf("%s was asked %d times", address, w.asked[address])
		}
	}
	if result.RequeueAfter != interval {
		t.Errorf("they are asked again after %s", result.RequeueAfter)
	}
	w.reconcile(t.Context())
	if w.writes != 1 {
		t.Errorf("%d writes for one change", w.writes)
	}
}

func TestPrimariesOfWhichSomeAreSilentAreNamed(t *testing.T) {
	w := newWorld(t)
	w.fails["192.0.2.11:5354"] = errors.Join(errors.New("UDP: i/o timeout"), errors.New("TCP: connect: connection refused"))
	w.fails["[2001:db8::1]:53"] = errors.New("TCP: i/o timeout")
	result := w.reconcile(t.Context())
	c := w.condition()
	if c.Status != metav1.ConditionFalse || c.Reason != v1alpha1.ReasonPrimariesSilent {
		t.Errorf("the condition is %+v", c)
	}
	want := "192.0.2.11:5354 (UDP: i/o timeout; TCP: connect: connection refused), [2001:db8::1]:53 (TCP: i/o timeout)."
	if !strings.Contains(c.Message, want) || strings.Contains(c.Message, "192.0.2.10") {
		t.Errorf("the message is %q", c.Message)
	}
	if result.RequeueAfter != soon {
		t.Errorf("they are asked again after %s", result.RequeueAfter)
	}
	clear(w.fails)
	w.reconcile(t.Context())
	if c := w.condition(); c.Status != metav1.ConditionTrue {
		t.Errorf("they answer again, and the condition is %+v", c)
	}
}

func TestWhatWasAskedOfAnOlderSpecIsNotTold(t *testing.T) {
	w := newWorld(t)
	w.meanwhile = func() {
		backend := w.backend()
		backend.Generation++
		if err := w.watcher.Client.Update(t.Context(), backend); err != nil {
			t.Error(err)
		}
	}
	w.reconcile(t.Context())
	if c := w.condition(); c.Type != "" {
		t.Errorf("it tells of primaries that may not be in the spec any more: %+v", c)
	}
}

func TestAnOperatorThatStopsDoesNotTakePrimariesForSilent(t *testing.T) {
	w := newWorld(t)
	ctx, stop := context.WithCancel(t.Context())
	w.meanwhile = stop
	w.fails["192.0.2.10:5354"] = context.Canceled
	if _, err := w.watcher.Reconcile(ctx, ctrl.Request{NamespacedName: key}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if c := w.condition(); c.Type != "" {
		t.Errorf("the condition is %+v", c)
	}
}

func TestADesignateBackendThatIsGoneIsAskedNothing(t *testing.T) {
	w := newWorld(t)
	if err := w.watcher.Client.Delete(t.Context(), w.backend()); err != nil {
		t.Fatal(err)
	}
	if result := w.reconcile(t.Context()); result.RequeueAfter != 0 || len(w.asked) != 0 {
		t.Errorf("result %+v, asked %v", result, w.asked)
	}
}

package zones

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
)

const namespace = "dns"

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// scripted is a Designate: it has pools and zones, and can be made to fail.
type scripted struct {
	clock *clocktesting.FakeClock

	mutex sync.Mutex
	known []designate.Pool
	zones []designate.Zone
	// cost is how long a listing takes.
	cost time.Duration
	// failure is what it answers, after failsAfter zones, or at connecting when that is negative.
	failure    error
	failsAfter int
	// hangs makes it give no answer once it is listing zones; listing is told when one begins, and
	// again when it may end.
	hangs   bool
	listing chan struct{}
	// calls are what it was asked, in order.
	calls []string
}

func (d *scripted) set(change func()) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	change()
}

func (d *scripted) called(call string) int {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	times := 0
	for _, was := range d.calls {
		if was == call {
			times++
		}
	}
	return times
}

func (d *scripted) connect(_ context.Context, backend *v1alpha1.DesignateBackend) (Designate, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.calls = append(d.calls, "connect to "+backend.Spec.Designate.Access.Endpoint)
	if d.failure != nil && d.failsAfter < 0 {
		return nil, d.failure
	}
	return d, nil
}

// Pools implements Designate.
func (d *scripted) Pools(context.Context) ([]designate.Pool, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.calls = append(d.calls, "pools")
	return slices.Clone(d.known), nil
}

// EachZone implements Designate.
func (d *scripted) EachZone(ctx context.Context, each func(designate.Zone) error) error {
	d.mutex.Lock()
	d.calls = append(d.calls, "zones")
	zones, failure, failsAfter, hangs, listing, cost := slices.Clone(d.zones), d.failure, d.failsAfter, d.hangs, d.listing, d.cost
	d.mutex.Unlock()
	if listing != nil {
		listing <- struct{}{}
	}
	if hangs {
		<-ctx.Done()
		return &designate.Error{Kind: designate.Unreachable, Operation: "list zones", Err: ctx.Err()}
	}
	if listing != nil {
		listing <- struct{}{}
	}
	d.clock.Step(cost)
	for i, zone := range zones {
		if failure != nil && i == failsAfter {
			return failure
		}
		if err := each(zone); err != nil {
			return err
		}
	}
	return failure
}

// world is an observer with all that it sees.
type world struct {
	*testing.T
	clock     *clocktesting.FakeClock
	designate *scripted
	client    client.WithWatch
	observer  *Observer
	// backends and pools are the workqueues of those who are told.
	backends, pools queue
}

func worldWith(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{T: t, clock: clocktesting.NewFakeClock(noon)}
	w.designate = &scripted{clock: w.clock, cost: time.Second}
	w.client = fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.DesignatePool{}).Build()
	w.observer = &Observer{
		Client: w.client, APIReader: w.client, Connect: w.designate.connect, Clock: w.clock,
		Disconnect: func(string) { w.designate.set(func() { w.designate.calls = append(w.designate.calls, "disconnect") }) },
		Chance:     func() float64 { return 0.5 },
	}
	w.backends, w.pools = w.subscribe(w.observer.BackendChanges()), w.subscribe(w.observer.PoolChanges())
	return w
}

func (w *world) subscribe(changes source.Source) queue {
	w.Helper()
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	ctx, stop := context.WithCancel(context.Background())
	if err := changes.Start(ctx, q); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { stop(); q.ShutDown() })
	return q
}

// drained empties a workqueue and says which objects it held, sorted.
func drained(q queue) []string {
	names := []string{}
	for q.Len() > 0 {
		request, _ := q.Get()
		names = append(names, request.Name)
		q.Done(request)
	}
	slices.Sort(names)
	return names
}

// pass reconciles once.
func (w *world) pass() ctrl.Result {
	w.Helper()
	return w.passWithin(context.Background())
}

func (w *world) passWithin(ctx context.Context) ctrl.Result {
	w.Helper()
	result, err := w.observer.Reconcile(ctx, ctrl.Request{NamespacedName: backendKey})
	if err != nil {
		w.Fatalf("Reconcile() = %v", err)
	}
	return result
}

// settle reconciles until there is something to wait for, and says how long.
func (w *world) settle() time.Duration {
	w.Helper()
	for range 5 {
		if result := w.pass(); result.RequeueAfter > time.Millisecond || result.RequeueAfter == 0 {
			return result.RequeueAfter
		}
	}
	w.Fatal("an attempt follows the other without a pause")
	return 0
}

// elapse lets time go by as the workqueue would have it: with a pass whenever one is due.
func (w *world) elapse(duration time.Duration) {
	w.Helper()
	end := w.clock.Now().Add(duration)
	for {
		wait := w.settle()
		left := end.Sub(w.clock.Now())
		if left <= 0 {
			return
		}
		if wait == 0 || wait > left {
			w.clock.Step(left)
			return
		}
		w.clock.Step(wait)
	}
}

func (w *world) view() View { return w.observer.View(namespace) }

// update changes an object that exists.
func update[T client.Object](w *world, key client.ObjectKey, object T, change func(T)) {
	w.Helper()
	if err := w.client.Get(context.Background(), key, object); err != nil {
		w.Fatal(err)
	}
	change(object)
	if err := w.client.Update(context.Background(), object); err != nil {
		w.Fatal(err)
	}
}

func (w *world) updateBackend(change func(*v1alpha1.DesignateBackend)) {
	w.Helper()
	update(w, backendKey, &v1alpha1.DesignateBackend{}, change)
}

func (w *world) updatePool(name string, change func(*v1alpha1.DesignatePool)) *v1alpha1.DesignatePool {
	w.Helper()
	pool := &v1alpha1.DesignatePool{}
	update(w, client.ObjectKey{Namespace: namespace, Name: name}, pool, change)
	return pool
}

var (
	backendKey = client.ObjectKey{Namespace: namespace, Name: v1alpha1.BackendName}
	errDown    = &designate.Error{Kind: designate.Unreachable, Operation: "list zones", Status: 503}
	errRefused = &designate.Error{Kind: designate.Unauthorised, Operation: "authenticate", Status: 401}
	errOther   = errors.New("an error of another kind")
)

func backendAt(endpoint string) *v1alpha1.DesignateBackend {
	return &v1alpha1.DesignateBackend{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.BackendName, UID: "uid-backend"},
		Spec: v1alpha1.DesignateBackendSpec{Designate: v1alpha1.Designate{
			Access:       &v1alpha1.DesignateAccess{Endpoint: endpoint},
			PollInterval: &metav1.Duration{Duration: time.Minute},
		}},
	}
}

func backendWithSecret() *v1alpha1.DesignateBackend {
	backend := backendAt("")
	backend.Spec.Designate.Access.CloudCredentialsRef = &v1alpha1.CloudCredentialsRef{SecretName: "cloud", CloudName: "main"}
	return backend
}

// designatePool is a DesignatePool whose id in Designate is its name.
func designatePool(name string) *v1alpha1.DesignatePool {
	return &v1alpha1.DesignatePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + name)},
		Status:     v1alpha1.DesignatePoolStatus{PoolID: name},
	}
}

func wantRemoval(at string) func(*v1alpha1.DesignatePool) {
	return func(pool *v1alpha1.DesignatePool) {
		pool.Annotations = map[string]string{v1alpha1.AnnotationRemovalRequested: at}
	}
}

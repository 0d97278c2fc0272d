package zones

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
)

const (
	// credentialsChecked is how often the Secret of a Designate is looked at for having changed: it is in no cache.
	credentialsChecked = 30 * time.Second
	defaultPoll        = time.Minute
	// operation is what errors of the observer's own say that was tried.
	operation = "list zones"
)

// errOtherTarget ends an attempt to list the zones of a Designate that is not the namespace's any more.
var errOtherTarget = errors.New("the DesignateBackend says another Designate")

// Designate is what the observer asks of one.
type Designate interface {
	// EachZone hands on every zone of all projects, or returns an error.
	EachZone(ctx context.Context, each func(designate.Zone) error) error
	// Pools are all pools that there are.
	Pools(ctx context.Context) ([]designate.Pool, error)
}

// Observer lists the zones of the Designate of each DesignateBackend again and again, and remembers what came of it. It is
// one controller; a request names a DesignateBackend, and is answered when an attempt is over.
type Observer struct {
	// Client reads from the cache.
	Client client.Reader
	// APIReader reads from the API server: the Secrets with credentials are in no cache. Of those it reads metadata only.
	APIReader client.Reader
	// Connect returns the Designate that a DesignateBackend says.
	Connect func(ctx context.Context, backend *v1alpha1.DesignateBackend) (Designate, error)
	// Disconnect lets go of what Connect keeps for a namespace.
	Disconnect func(namespace string)
	Clock      clock.WithDelayedExecution
	// Chance returns a random number from 0 to 1; math/rand/v2's when nil.
	Chance func() float64

	mutex    sync.Mutex
	memories map[string]*memory

	backends, pools audience
}

// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatebackends;designatepools,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get

// BackendChanges asks for the DesignateBackend after each attempt to list its zones, and when the last listing has become
// too old.
func (o *Observer) BackendChanges() source.Source { return o.backends.source() }

// PoolChanges asks for DesignatePools when what a status says of their zones changes, and for those whose removal is
// wanted after each attempt.
func (o *Observer) PoolChanges() source.Source { return o.pools.source() }

// View implements Viewer. What is known of another Designate than the one that the DesignateBackend says now, or of one
// that it does not let the operator reach any more, is not told.
func (o *Observer) View(namespace string) View {
	backend := o.backendOf(namespace)
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if m := o.memoryOf(backend); m != nil {
		return m.view
	}
	return View{}
}

// ListedSince is the last listing, if it is fresh and began after this process first saw that the removal of a pool of the
// namespace is wanted; nil while there is none.
func (o *Observer) ListedSince(namespace string, intent Intent) *Listing {
	backend := o.backendOf(namespace)
	o.mutex.Lock()
	defer o.mutex.Unlock()
	m := o.memoryOf(backend)
	if m == nil || m.note(intent) > m.listedAt {
		return nil
	}
	return m.view.Fresh(o.Clock.Now())
}

// backendOf is a namespace's DesignateBackend in the cache, if it lets the operator reach a Designate; else nil. A caller
// that has read it from the same cache has none that is newer.
func (o *Observer) backendOf(namespace string) *v1alpha1.DesignateBackend {
	backend := &v1alpha1.DesignateBackend{}
	key := client.ObjectKey{Namespace: namespace, Name: v1alpha1.BackendName}
	if err := o.Client.Get(context.Background(), key, backend); err != nil || backend.Spec.Designate.Access == nil {
		return nil
	}
	return backend
}

// memoryOf is what is known of the Designate that a DesignateBackend says; nil when nothing is.
func (o *Observer) memoryOf(backend *v1alpha1.DesignateBackend) *memory {
	if backend == nil {
		return nil
	}
	m := o.memories[backend.Namespace]
	if m == nil || m.target != targetOf(backend) {
		return nil
	}
	return m
}

// Reconcile makes an attempt to list the zones, if it is time to. That it fails is no error of this controller: the View
// and the metrics tell it, and the next attempt has a time of its own.
func (o *Observer) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	backend := &v1alpha1.DesignateBackend{}
	err := o.Client.Get(ctx, request.NamespacedName, backend)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("read DesignateBackend: %w", err)
	}
	if gone := apierrors.IsNotFound(err); gone || backend.Spec.Designate.Access == nil {
		o.forget(request.Namespace)
		return ctrl.Result{}, nil
	}
	pools, err := o.poolsOf(ctx, request.Namespace)
	if err != nil {
		return ctrl.Result{}, err
	}
	credentials, err := o.credentialsVersion(ctx, backend)
	if err != nil {
		return ctrl.Result{}, err
	}
	if wait := o.prepare(backend, pools, credentials); wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	o.attempt(ctx, backend, credentials)
	// What happened meanwhile counts too, so nothing is decided here about the next attempt.
	return ctrl.Result{RequeueAfter: time.Millisecond}, nil
}

// prepare brings what is remembered up to date, and returns how long to wait for the next attempt or the next look.
func (o *Observer) prepare(backend *v1alpha1.DesignateBackend, pools []v1alpha1.DesignatePool, credentials string) time.Duration {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	m := o.memoryOf(backend)
	if m == nil {
		o.drop(backend.Namespace)
		m = &memory{target: targetOf(backend), failed: map[designate.Kind]int{}, told: map[string]time.Time{}}
		if o.memories == nil {
			o.memories = map[string]*memory{}
		}
		o.memories[backend.Namespace] = m
	}
	m.rememberPools(pools, backend)
	poll := pollInterval(backend)
	m.view.FreshFor = m.history.fresh(poll)
	o.watchAge(backend.Namespace, m)
	m.history.demanded = m.demanded()
	if credentials != m.credentials {
		return 0
	}
	wait := m.history.next(poll).Sub(o.Clock.Now())
	if m.target.endpoint == "" {
		wait = min(wait, credentialsChecked)
	}
	return wait
}

// attempt lists the zones once, remembers what came of it and tells whom it concerns.
func (o *Observer) attempt(ctx context.Context, backend *v1alpha1.DesignateBackend, credentials string) {
	ctx, abandon := context.WithCancelCause(ctx)
	defer abandon(nil)
	m, step := o.begin(backend, abandon)
	if m == nil {
		return
	}
	began := o.Clock.Now()
	listing, err := o.list(ctx, backend, began)
	ended := o.Clock.Now()
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		// The operator stops, or the Designate is another one by now.
		o.end(m)
		return
	}

	o.mutex.Lock()
	m.abandon, m.credentials = nil, credentials
	before := m.view
	if err != nil {
		m.fail(asDesignateError(err), began, ended, o.chance())
	} else {
		listing.Ended = ended
		m.succeed(listing, step, o.chance())
	}
	m.view.FreshFor = m.history.fresh(pollInterval(backend))
	// Of another Designate meanwhile, nothing is to be told.
	current := o.memories[backend.Namespace] == m
	if current {
		o.watchAge(backend.Namespace, m)
	}
	after := m.view
	o.mutex.Unlock()

	if current {
		report(ctx, before, after)
		// The time for the attempt may be over; that to tell of it is not.
		o.tell(context.WithoutCancel(ctx), backend, m, before)
	}
}

// begin notes that an attempt begins. There is none when its target is not the current one any more.
func (o *Observer) begin(backend *v1alpha1.DesignateBackend, abandon context.CancelCauseFunc) (m *memory, step int64) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if m = o.memoryOf(backend); m == nil {
		return nil, 0
	}
	m.step++
	m.abandon = abandon
	return m, m.step
}

// end notes that an attempt came to nothing.
func (o *Observer) end(m *memory) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	m.abandon = nil
}

// list lists the zones once. The pools come first: one page or two, against which the zones are held.
func (o *Observer) list(ctx context.Context, backend *v1alpha1.DesignateBackend, began time.Time) (*Listing, error) {
	connection, err := o.Connect(ctx, backend)
	if err != nil {
		return nil, err
	}
	known, err := connection.Pools(ctx)
	if err != nil {
		return nil, err
	}
	count := newCounter(began, known)
	if err := connection.EachZone(ctx, count.add); err != nil {
		return nil, err
	}
	return count.listing, nil
}

// tell tells the DesignateBackend of an attempt, and those pools that it is news for.
func (o *Observer) tell(ctx context.Context, backend *v1alpha1.DesignateBackend, m *memory, before View) {
	o.backends.tell(client.ObjectKeyFromObject(backend))
	pools, err := o.poolsOf(ctx, backend.Namespace)
	if err != nil {
		log.FromContext(ctx).Error(err, "Pools are not told of their zones before the next attempt")
		return
	}
	o.mutex.Lock()
	names := m.audienceOf(pools, backend, before)
	o.mutex.Unlock()
	for _, name := range names {
		o.pools.tell(client.ObjectKey{Namespace: backend.Namespace, Name: name})
	}
}

// watchAge tells everybody of a namespace when the last listing has become too old, which no attempt may be over to tell:
// one that hangs takes its time.
func (o *Observer) watchAge(namespace string, m *memory) {
	if m.view.Listing == nil {
		return
	}
	// At the very end it still counts.
	staleAt := m.view.Listing.Began.Add(m.view.FreshFor + time.Second)
	if m.staleAt.Equal(staleAt) {
		return
	}
	m.stopWatching()
	now := o.Clock.Now()
	if m.staleAt = staleAt; staleAt.After(now) {
		m.stale = o.Clock.AfterFunc(staleAt.Sub(now), func() { o.tellAll(namespace) })
	}
}

func (o *Observer) tellAll(namespace string) {
	o.backends.tell(client.ObjectKey{Namespace: namespace, Name: v1alpha1.BackendName})
	ctx := context.Background()
	pools, err := o.poolsOf(ctx, namespace)
	if err != nil {
		log.FromContext(ctx).Error(err, "Pools are not told that what is known of their zones is too old", "namespace", namespace)
		return
	}
	for i := range pools {
		o.pools.tell(client.ObjectKeyFromObject(&pools[i]))
	}
}

// forget lets go of all that is known for a namespace without access to a Designate.
func (o *Observer) forget(namespace string) {
	o.mutex.Lock()
	o.drop(namespace)
	o.mutex.Unlock()
	o.Disconnect(namespace)
}

// drop forgets a namespace's Designate, and ends an attempt that is going on.
func (o *Observer) drop(namespace string) {
	m := o.memories[namespace]
	if m == nil {
		return
	}
	m.stopWatching()
	if m.abandon != nil {
		m.abandon(errOtherTarget)
	}
	delete(o.memories, namespace)
}

// redirect ends at once an attempt that goes on for another Designate than the one that a DesignateBackend says now.
func (o *Observer) redirect(backend *v1alpha1.DesignateBackend) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	m := o.memories[backend.Namespace]
	if m != nil && (backend.Spec.Designate.Access == nil || m.target != targetOf(backend)) {
		o.drop(backend.Namespace)
	}
}

func (o *Observer) poolsOf(ctx context.Context, namespace string) ([]v1alpha1.DesignatePool, error) {
	var pools v1alpha1.DesignatePoolList
	if err := o.Client.List(ctx, &pools, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list DesignatePools: %w", err)
	}
	return pools.Items, nil
}

// credentialsVersion tells one content of the Secret with credentials from another; empty without a Secret.
func (o *Observer) credentialsVersion(ctx context.Context, backend *v1alpha1.DesignateBackend) (string, error) {
	ref := backend.Spec.Designate.Access.CloudCredentialsRef
	if ref == nil {
		return "", nil
	}
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	err := o.APIReader.Get(ctx, client.ObjectKey{Namespace: backend.Namespace, Name: ref.SecretName}, secret)
	if client.IgnoreNotFound(err) != nil {
		return "", fmt.Errorf("read the version of the Secret with credentials: %w", err)
	}
	return string(secret.UID) + secret.ResourceVersion, nil
}

func (o *Observer) chance() float64 {
	if o.Chance == nil {
		return 2*rand.Float64() - 1 //nolint:gosec // spreads load, and keeps no secret
	}
	return 2*o.Chance() - 1
}

func pollInterval(backend *v1alpha1.DesignateBackend) time.Duration {
	if backend.Spec.Designate.PollInterval == nil {
		return defaultPoll
	}
	return backend.Spec.Designate.PollInterval.Duration
}

// asDesignateError is an error as designate has it.
func asDesignateError(err error) *designate.Error {
	if e, ok := errors.AsType[*designate.Error](err); ok {
		return e
	}
	return &designate.Error{Kind: designate.Unreachable, Operation: operation, Err: err}
}

// report logs when listing begins to fail, fails in another way, or succeeds again: not each attempt.
func report(ctx context.Context, before, after View) {
	logger := log.FromContext(ctx)
	switch {
	case after.Failure == nil && before.Failure != nil:
		logger.Info("Designate lists the zones again", "failedSince", before.FailingSince)
	case after.Failure != nil && (before.Failure == nil || designate.KindOf(before.Failure) != designate.KindOf(after.Failure)):
		logger.Info("The zones cannot be listed", "kind", designate.KindOf(after.Failure), "reason", after.Failure.Error())
	}
}

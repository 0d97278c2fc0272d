package zones

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
)

const (
	// credentialsChecked is how often the Secret of a Designate is looked at for having changed: it is in no cache.
	credentialsChecked = 10 * time.Second
	defaultPoll        = time.Minute
	// operation is what errors of the observer's own say that was tried.
	operation = "list zones"
)

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
	credentials := o.credentialsVersion(ctx, backend)
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
	if credentials != unknownVersion && credentials != m.credentials {
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
	listing, err := o.list(ctx, backend)
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
func (o *Observer) list(ctx context.Context, backend *v1alpha1.DesignateBackend) (*Listing, error) {
	connection, err := o.Connect(ctx, backend)
	if err != nil {
		return nil, err
	}
	// Not before: what a new token costs says nothing of what listings do.
	began := o.Clock.Now()
	known, err := connection.Pools(ctx)
	if err != nil {
		return nil, err
	}
	count := newCounter(began, known)
	if err := connection.EachZone(ctx, count.add); err != nil {
		return nil, err
	}
	return count.done(), nil
}

// unknownVersion is the version of a Secret that the API server does not let us look at. An attempt then says why not.
const unknownVersion = "unknown"

// credentialsVersion tells one content of the Secret with credentials from another; empty without a Secret.
func (o *Observer) credentialsVersion(ctx context.Context, backend *v1alpha1.DesignateBackend) string {
	ref := backend.Spec.Designate.Access.CloudCredentialsRef
	if ref == nil {
		return ""
	}
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	err := o.APIReader.Get(ctx, client.ObjectKey{Namespace: backend.Namespace, Name: ref.SecretName}, secret)
	if client.IgnoreNotFound(err) != nil {
		log.FromContext(ctx).V(1).Info("Cannot tell whether the Secret with credentials has changed", "error", err.Error())
		return unknownVersion
	}
	return string(secret.UID) + secret.ResourceVersion
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

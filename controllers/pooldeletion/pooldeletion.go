// Package pooldeletion asks Designate to delete the pools that are past the point of no return of their removal. What Designate
// said lives in memory: asking twice does no harm, for it answers that there is no such pool.
package pooldeletion

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/requests"
)

// longestRetry is the longest wait after a failure.
const longestRetry = 5 * time.Minute

// Designate is what the deleter asks of one.
type Designate interface {
	DeletePool(ctx context.Context, id string) error
}

// Answer is what Designate said to an attempt to delete a pool; nothing while it has not been asked.
type Answer struct {
	// Gone says that it has no such pool any more, NotEmpty that it keeps the pool because it sees zones in it.
	Gone, NotEmpty bool
	// Err is why the last request told neither.
	Err error
}

// Viewer tells what Designate said.
type Viewer interface {
	// Answer is that to the attempt that a token marks, as ledger.Pool.DeletionToken makes it.
	Answer(token string) Answer
}

// Deleter deletes pools in Designate. It is one controller; a request names a DesignateBackend.
type Deleter struct {
	// Client reads from the cache, APIReader from the API server: the point of no return counts only when that says so.
	Client, APIReader client.Reader
	// Connect returns the Designate that a DesignateBackend says.
	Connect func(ctx context.Context, backend *v1alpha1.DesignateBackend) (Designate, error)
	Clock   clock.PassiveClock

	mutex sync.Mutex
	// known are the attempts of each namespace.
	known           map[string]map[string]attempt
	backends, pools requests.Audience
}

// attempt is what has come of one.
type attempt struct {
	answer  Answer
	setback designate.Setback
}

func (a attempt) over() bool { return a.answer.Gone || a.answer.NotEmpty }

// BackendChanges asks for the DesignateBackend when Designate has said something new.
func (d *Deleter) BackendChanges() source.Source { return d.backends.Source() }

// PoolChanges asks for the DesignatePool that it concerns.
func (d *Deleter) PoolChanges() source.Source { return d.pools.Source() }

// Answer implements Viewer.
func (d *Deleter) Answer(token string) Answer {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for _, attempts := range d.known {
		if found, known := attempts[token]; known {
			return found.answer
		}
	}
	return Answer{}
}

// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatebackends,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch

// Reconcile makes one pass over a namespace. What fails in Designate is no error of this controller: Answer tells it, and the
// next attempt has a time of its own.
func (d *Deleter) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	backend := &v1alpha1.DesignateBackend{}
	err := d.Client.Get(ctx, request.NamespacedName, backend)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("read DesignateBackend: %w", err)
	}
	if apierrors.IsNotFound(err) || backend.Spec.Designate.Access == nil {
		d.forget(request.Namespace)
		return ctrl.Result{}, nil
	}
	pools, err := d.deleting(ctx, d.Client, request.Namespace)
	if err == nil && len(pools) > 0 {
		pools, err = d.deleting(ctx, d.APIReader, request.Namespace)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	d.keep(request.Namespace, pools)
	return ctrl.Result{RequeueAfter: d.seeAll(ctx, backend, pools)}, nil
}

// seeAll has all pools deleted that are to be, and says when to try again; never when 0.
func (d *Deleter) seeAll(ctx context.Context, backend *v1alpha1.DesignateBackend, pools []ledger.Pool) time.Duration {
	var next time.Time
	for i := range pools {
		at := d.see(ctx, backend, &pools[i])
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if next.IsZero() || errors.Is(ctx.Err(), context.Canceled) {
		return 0
	}
	return max(next.Sub(d.Clock.Now()), time.Second)
}

// deleting are the pools that Designate is to delete. The default pool is never one of them.
func (d *Deleter) deleting(ctx context.Context, reader client.Reader, namespace string) ([]ledger.Pool, error) {
	stored, err := ledger.Read(ctx, reader, namespace)
	if errors.Is(err, ledger.ErrLost) {
		return nil, nil // Nothing is known of any pool until it has been written anew, which is an event.
	}
	if err != nil {
		return nil, err
	}
	var pools []ledger.Pool
	for _, pool := range stored.Pools {
		if pool.DeletionToken() != "" && pool.Name != v1alpha1.DefaultPoolName {
			pools = append(pools, pool)
		}
	}
	return pools, nil
}

// see has one pool deleted, unless that is over, and says when to try again; never when the time is zero.
func (d *Deleter) see(ctx context.Context, backend *v1alpha1.DesignateBackend, pool *ledger.Pool) time.Time {
	before := d.attempt(backend.Namespace, pool.DeletionToken())
	switch {
	case before.over():
		return time.Time{}
	case before.setback.Waits(d.Clock.Now()):
		return before.setback.Next
	}
	connection, err := d.Connect(ctx, backend)
	if err == nil {
		err = connection.DeletePool(ctx, pool.ID)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return time.Time{} // The operator stops, which says nothing of Designate.
	}
	var now attempt
	switch kind := designate.KindOf(err); {
	case err == nil || kind == designate.NotFound:
		now.answer.Gone = true
	case kind == designate.PoolNotEmpty:
		now.answer.NotEmpty = true
	default:
		now.answer.Err = err
		now.setback = before.setback.After(err, kind, longestRetry, d.Clock.Now())
	}
	log.FromContext(ctx).Info("Asked Designate to delete a pool", "pool", pool.Name, "id", pool.ID,
		"gone", now.answer.Gone, "holdsZones", now.answer.NotEmpty, "failed", now.answer.Err != nil)
	d.remember(backend.Namespace, pool.DeletionToken(), now)
	d.backends.Tell(client.ObjectKeyFromObject(backend))
	d.pools.Tell(client.ObjectKey{Namespace: backend.Namespace, Name: pool.Object})
	return now.setback.Next
}

func (d *Deleter) attempt(namespace, token string) attempt {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.known[namespace][token]
}

func (d *Deleter) remember(namespace, token string, now attempt) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.known == nil {
		d.known = map[string]map[string]attempt{}
	}
	if d.known[namespace] == nil {
		d.known[namespace] = map[string]attempt{}
	}
	d.known[namespace][token] = now
}

// keep forgets the attempts that do not go on any more.
func (d *Deleter) keep(namespace string, pools []ledger.Pool) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	before := d.known[namespace]
	delete(d.known, namespace)
	for i := range pools {
		if found, known := before[pools[i].DeletionToken()]; known {
			if d.known[namespace] == nil {
				d.known[namespace] = map[string]attempt{}
			}
			d.known[namespace][pools[i].DeletionToken()] = found
		}
	}
}

func (d *Deleter) forget(namespace string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	delete(d.known, namespace)
}

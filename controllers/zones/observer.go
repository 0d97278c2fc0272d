package zones

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/requests"
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

	backends, pools, listings requests.Audience
	// own is the observer itself.
	own requests.Audience
}

// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatebackends;designatepools,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get

// BackendChanges asks for the DesignateBackend after each attempt to list its zones, and when the last listing has become
// too old.
func (o *Observer) BackendChanges() source.Source { return o.backends.Source() }

// PoolChanges asks for DesignatePools when what a status says of their zones changes, and for those whose removal is
// wanted after each attempt.
func (o *Observer) PoolChanges() source.Source { return o.pools.Source() }

// Listings asks for all DesignatePools of a namespace after each complete listing of its zones.
func (o *Observer) Listings() source.Source { return o.listings.Source() }

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
// namespace is wanted; nil while there is none. The intent is what IntentOf says with the namespace's DesignateBackend.
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

// Demand has the zones of a namespace listed soon, unless a complete listing has begun after a time: somebody waits for one that
// has. How soon, costs decide.
func (o *Observer) Demand(namespace string, after time.Time) {
	o.mutex.Lock()
	m := o.memories[namespace]
	news := m != nil && after.After(m.wantedAfter)
	if news {
		m.wantedAfter = after
	}
	o.mutex.Unlock()
	if news {
		o.own.Tell(client.ObjectKey{Namespace: namespace, Name: v1alpha1.BackendName})
	}
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

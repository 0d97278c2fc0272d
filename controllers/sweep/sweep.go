// Package sweep finds what bears the operator's labels and belongs to no pool: neither a DesignatePool nor an entry of the ledger has
// its UID. No pool drives it: it looks at every namespace that has such objects when the operator starts, and again and again.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/owned"
	"github.com/designate-pools/designate-pool-operator/controllers/removal"
	"github.com/designate-pools/designate-pool-operator/controllers/teardown"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

const (
	// interval is how often a namespace with objects of pools is looked at without an event.
	interval = 10 * time.Minute
	// soon is the same while something is left over.
	soon = 15 * time.Second
)

// orphans is explained in docs/metrics.md.
var orphans = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "designate_pool_operator_orphaned_pools",
	Help: "Pools that do not exist and of which objects are left, other than those that a DesignateBackend tells of.",
}, []string{"namespace"})

func init() { metrics.Registry.MustRegister(orphans) }

// Sweeper is one controller; a request names the DesignateBackend of a namespace, whether that exists or not.
type Sweeper struct {
	Client client.Client
	// APIReader reads from the API server: absence counts only when that says so.
	APIReader client.Reader
	Recorder  events.EventRecorder
	// Zones tells what is known of Designate's zones.
	Zones interface {
		zones.Viewer
		// Demand has the zones listed soon.
		Demand(namespace string, after time.Time)
	}
	Clock clock.PassiveClock

	mutex sync.Mutex
	known map[string]map[types.UID]orphan
}

// orphan is what is remembered of one.
type orphan struct {
	// since is when it was first seen, said what was last said of it.
	since time.Time
	said  string
}

// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatebackends;designatepools,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups="",resources=services;secrets;configmaps;persistentvolumeclaims,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile looks at one namespace. An object that cannot be listed, or a ledger that cannot be read, leaves everything as it is.
func (s *Sweeper) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	// Objects first: what is made after that belongs to a pool that is listed afterwards.
	leftovers, err := owned.ByUID(ctx, s.APIReader, request.Namespace)
	if err != nil {
		return ctrl.Result{}, err
	}
	if len(leftovers) == 0 {
		s.keep(request.Namespace, nil)
		return ctrl.Result{}, nil
	}
	backend, err := s.backend(ctx, request)
	if err != nil {
		return ctrl.Result{}, err
	}
	pools := &v1alpha1.DesignatePoolList{}
	if err := s.APIReader.List(ctx, pools, client.InNamespace(request.Namespace)); err != nil {
		return ctrl.Result{}, fmt.Errorf("list DesignatePools: %w", err)
	}
	stored, err := ledger.Read(ctx, s.APIReader, request.Namespace)
	switch {
	case errors.Is(err, ledger.ErrLost) && (backend != nil || len(pools.Items) > 0):
		return ctrl.Result{RequeueAfter: soon}, nil // It is about to be written anew, from these objects among others.
	case err != nil && !errors.Is(err, ledger.ErrLost):
		return ctrl.Result{}, err
	}
	maps.DeleteFunc(leftovers, func(uid types.UID, _ []client.Object) bool {
		return stored.Pool(uid) != nil || slices.ContainsFunc(pools.Items, func(p v1alpha1.DesignatePool) bool { return p.UID == uid })
	})
	s.keep(request.Namespace, leftovers)
	return s.seeAll(ctx, backend, &stored.Ledger, request.Namespace, leftovers)
}

func (s *Sweeper) seeAll(
	ctx context.Context, backend *v1alpha1.DesignateBackend, l *ledger.Ledger, namespace string, leftovers map[types.UID][]client.Object,
) (ctrl.Result, error) {
	var failures []error
	for uid, objects := range leftovers {
		failures = append(failures, s.see(ctx, backend, l, namespace, uid, objects))
	}
	if len(leftovers) > 0 {
		return ctrl.Result{RequeueAfter: soon}, errors.Join(failures...)
	}
	return ctrl.Result{RequeueAfter: interval}, nil
}

// backend is that of the namespace; nil when it has none.
func (s *Sweeper) backend(ctx context.Context, request ctrl.Request) (*v1alpha1.DesignateBackend, error) {
	backend := &v1alpha1.DesignateBackend{}
	err := s.Client.Get(ctx, request.NamespacedName, backend)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // None is an answer here.
	}
	if err != nil {
		return nil, fmt.Errorf("read DesignateBackend: %w", err)
	}
	return backend, nil
}

// see takes down what nothing holds, and says of anything else why it stays.
func (s *Sweeper) see(
	ctx context.Context, backend *v1alpha1.DesignateBackend, l *ledger.Ledger, namespace string, uid types.UID, objects []client.Object,
) error {
	facts := factsOf(namespace, objects)
	facts.Pools, facts.Backend, facts.Now = l.Pools, backend, s.Clock.Now()
	facts.Since = s.first(namespace, uid, facts.Now)
	if backend != nil && backend.Spec.Designate.Access != nil {
		facts.View = s.Zones.View(namespace)
	}
	verdict := removal.JudgeOrphan(facts)
	if !verdict.Allowed {
		if verdict.Reason == v1alpha1.ReasonZonesUnknown {
			s.Zones.Demand(namespace, facts.Since)
		}
		s.say(ctx, backend, namespace, uid, fmt.Sprintf("Objects bear the label %s=%s of no pool, and stay: %s",
			v1alpha1.LabelPoolUID, uid, verdict.Message))
		return nil
	}
	s.say(ctx, backend, namespace, uid, fmt.Sprintf("Objects bear the label %s=%s of no pool, and nothing needs them: they are deleted.",
		v1alpha1.LabelPoolUID, uid))
	of := teardown.Teardown{Client: s.Client, Live: s.APIReader, Namespace: namespace, UID: uid}
	_, err := of.Step(ctx)
	return err
}

// say tells people something of an orphan, unless that was the last thing that they were told.
func (s *Sweeper) say(ctx context.Context, backend *v1alpha1.DesignateBackend, namespace string, uid types.UID, message string) {
	s.mutex.Lock()
	found := s.known[namespace][uid]
	news := found.said != message
	found.said = message
	s.known[namespace][uid] = found
	s.mutex.Unlock()
	if !news {
		return
	}
	log.FromContext(ctx).Info("Objects without a pool", "uid", uid, "verdict", message)
	if backend != nil {
		s.Recorder.Eventf(backend, nil, corev1.EventTypeWarning, v1alpha1.EventOrphanedObjects, "Sweep", "%s", message)
	}
}

// first is when an orphan was first seen.
func (s *Sweeper) first(namespace string, uid types.UID, now time.Time) time.Time {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	found := s.known[namespace][uid]
	if found.since.IsZero() {
		found.since = now
		s.known[namespace][uid] = found
	}
	return found.since
}

// keep forgets what is no orphan any more.
func (s *Sweeper) keep(namespace string, leftovers map[types.UID][]client.Object) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	before := s.known[namespace]
	delete(s.known, namespace)
	if len(leftovers) == 0 {
		orphans.DeleteLabelValues(namespace)
		return
	}
	orphans.WithLabelValues(namespace).Set(float64(len(leftovers)))
	if s.known == nil {
		s.known = map[string]map[types.UID]orphan{}
	}
	s.known[namespace] = map[types.UID]orphan{}
	for uid := range leftovers {
		s.known[namespace][uid] = before[uid]
	}
}

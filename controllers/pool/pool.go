// Package pool runs the BIND servers of one DesignatePool: its StatefulSet, Services, Secrets and configuration, and the
// finalizer that holds the pool until all of it may go.
package pool

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/acceptance"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/pooldeletion"
	"github.com/designate-pools/designate-pool-operator/controllers/removal"
	"github.com/designate-pools/designate-pool-operator/controllers/serving"
	"github.com/designate-pools/designate-pool-operator/controllers/tsigkeys"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// FieldOwner owns what the pool controller applies.
const FieldOwner client.FieldOwner = "designate-pool-operator-pool"

// Reconciler runs one pool.
type Reconciler struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// APIReader reads from the API server: absence counts only when it says so.
	APIReader client.Reader
	Recorder  events.EventRecorder
	Clock     clock.PassiveClock
	// Zones tells what is known of Designate's zones.
	Zones interface {
		zones.Viewer
		// ListedSince is the last listing that counts and began after a wish to remove a pool was first seen.
		ListedSince(namespace string, intent zones.Intent) *zones.Listing
	}
	// Deletions tells what Designate said when it was to delete a pool.
	Deletions pooldeletion.Viewer
	// TSIGKeys tells what is known of the TSIG keys that Designate has.
	TSIGKeys tsigkeys.Viewer
	// Serving tells which zones servers have.
	Serving serving.Viewer

	statuses apply.Statuses
}

// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatebackends,verbs=get;list;watch
// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatepools,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatepools/status,verbs=get;patch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services;secrets;configmaps,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile makes one pass over a pool.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	pool := &v1alpha1.DesignatePool{}
	if err := r.Client.Get(ctx, request.NamespacedName, pool); apierrors.IsNotFound(err) {
		r.statuses.Forget(request.NamespacedName)
		forgetBlocked(request.NamespacedName)
		return ctrl.Result{}, nil
	} else if err != nil {
		return ctrl.Result{}, fmt.Errorf("read DesignatePool: %w", err)
	}
	if pool.DeletionTimestamp == nil {
		// Before the first effect outside of the object.
		if err := apply.AddFinalizer(ctx, r.Client, pool, v1alpha1.PoolFinalizer); err != nil {
			return apply.Outcome(err)
		}
	}
	s, err := r.gather(ctx, pool)
	if err != nil {
		return apply.Outcome(err, r.reportUnknown(ctx, pool, err))
	}
	var failures []error
	for _, phase := range s.phases() {
		done, err := phase(ctx, s)
		failures = append(failures, err)
		if done {
			return apply.Outcome(failures...)
		}
	}
	result, err := apply.Outcome(append(failures, r.writeStatus(ctx, s))...)
	if err == nil && result.RequeueAfter == 0 {
		result.RequeueAfter = s.lookAgain
	}
	return result, err
}

// phase does one part of a pass. done says that the object has been let go, so that there is no status left to write.
// A phase that fails does not keep the others from being tried.
type phase func(ctx context.Context, s *scope) (done bool, err error)

func (s *scope) phases() []phase {
	switch {
	case s.entry == nil && s.removal.Wanted:
		return []phase{s.reconciler.releaseUnheld}
	case s.entry != nil && s.entry.Removal == ledger.Withdrawn:
		return []phase{s.reconciler.requestDeletion, s.reconciler.tearDown}
	case s.entry != nil && s.backend != nil && s.backendErr == nil:
		return []phase{s.reconciler.applyChildren, s.reconciler.deleteUnwanted, s.reconciler.emptyServers,
			s.reconciler.remindOfMissingPods}
	default:
		return nil
	}
}

// gather reads everything that a pass goes by.
func (r *Reconciler) gather(ctx context.Context, pool *v1alpha1.DesignatePool) (*scope, error) {
	s := &scope{reconciler: r, pool: pool, now: r.Clock.Now(), serving: r.Serving.View(pool.UID)}
	backend := &v1alpha1.DesignateBackend{}
	key := client.ObjectKey{Namespace: pool.Namespace, Name: v1alpha1.BackendName}
	if err := r.Client.Get(ctx, key, backend); err == nil {
		s.backend = backend
		if backend.Spec.Designate.Access != nil {
			s.zones = r.Zones.View(pool.Namespace)
			s.tsig = r.TSIGKeys.View(pool.Namespace)
		}
	} else if !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("read DesignateBackend: %w", err)
	}
	stored, err := ledger.Read(ctx, r.Client, pool.Namespace)
	switch {
	case errors.Is(err, ledger.ErrLost):
		// Nothing is known of any pool until the aggregator has written it anew.
		s.ledgerLost = true
	case err != nil:
		return nil, err
	}
	s.ledger = &stored.Ledger
	s.entry = stored.Pool(pool.UID)
	var pools v1alpha1.DesignatePoolList
	if err := r.Client.List(ctx, &pools, client.InNamespace(pool.Namespace)); err != nil {
		return nil, fmt.Errorf("list DesignatePools: %w", err)
	}
	if s.backend != nil {
		_, s.backendErr = conversion.ValidateBackend(s.backend)
	}
	var statefulSets appsv1.StatefulSetList
	if err := r.Client.List(ctx, &statefulSets, client.InNamespace(pool.Namespace), client.HasLabels{v1alpha1.LabelPoolUID}); err != nil {
		return nil, fmt.Errorf("list StatefulSets: %w", err)
	}
	s.verdict = acceptance.Judge(pools.Items, acceptance.Claims(statefulSets.Items, stored.Pools))[pool.UID]
	from := removal.Namespace{
		Backend: s.backend, Pools: pools.Items, Ledger: s.ledger, LedgerLost: s.ledgerLost, View: s.zones,
		ListedSince: func(intent zones.Intent) *zones.Listing { return r.Zones.ListedSince(pool.Namespace, intent) },
		Answer:      r.Deletions.Answer,
		Serving:     r.Serving.View,
		Now:         s.now,
	}
	s.removal = removal.Judge(from.Of(pool))
	return s, r.gatherChildren(ctx, s)
}

// Package backend brings the pools of a namespace together: it keeps the ledger, the Secret with all RNDC keys and
// Designate's pools.yaml, lets pools pass the removal gate, and says in the DesignateBackend's status how all of it is.
package backend

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/rndckeys"
)

// FieldOwner owns what the aggregator applies.
const FieldOwner = rndckeys.Owner

// Reconciler aggregates the pools of a namespace. A request names the namespace's DesignateBackend, whether that exists
// or not, so that pools can still be removed after it has gone.
type Reconciler struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// APIReader reads from the API server: the ledger, and whatever is about to be taken for gone.
	APIReader client.Reader
	Recorder  events.EventRecorder

	statuses apply.Statuses
}

// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatebackends,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatebackends/status,verbs=get;patch
// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatebackends/finalizers,verbs=update
// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatepools,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=services;pods;persistentvolumeclaims,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=configmaps;secrets,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile makes one pass over a namespace. The order is what makes a crash at any point harmless: a number is in the
// ledger before anything uses it, and out of pools.yaml before anything gives it up.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	s, err := r.gather(ctx, request.Namespace)
	if err != nil {
		return apply.Outcome(err, r.reportUnknown(ctx, request.Namespace, err))
	}
	if s.idle() {
		return ctrl.Result{}, nil
	}
	if s.backend != nil && !s.backendLeaves() {
		if err := apply.AddFinalizer(ctx, r.Client, s.backend, v1alpha1.BackendFinalizer); err != nil {
			return apply.Outcome(err)
		}
	}
	planned := ledger.Plan(&s.stored.Ledger, s.facts)
	if s.backendLeaves() && len(s.pools) == 0 && len(planned.Pools) == 0 {
		return apply.Outcome(r.releaseBackend(ctx, s))
	}
	r.announceWithdrawals(ctx, s, planned)
	if _, err := s.stored.Write(ctx, r.Client, s.namespace, planned); err != nil {
		return apply.Outcome(err, r.reportUnknown(ctx, s.namespace, err))
	}
	var failures []error
	failures = append(failures, s.keysOutcome(r.ensureKeys(ctx, s)))
	failures = append(failures, r.ensurePoolsYAML(ctx, s))
	if s.poolsYAML.settled {
		_, err := s.stored.Write(ctx, r.Client, s.namespace, ledger.Settle(planned, s.facts))
		failures = append(failures, err)
	}
	if s.backend != nil {
		failures = append(failures, r.writeStatus(ctx, s))
	}
	return apply.Outcome(failures...)
}

// announceWithdrawals says of each pool that is about to pass the point of no return that it does, and why.
func (r *Reconciler) announceWithdrawals(ctx context.Context, s *scope, planned *ledger.Ledger) {
	for i := range s.pools {
		pool := &s.pools[i]
		before, after := s.stored.Pool(pool.UID), planned.Pool(pool.UID)
		if before == nil || before.Removal != "" || after.Removal == "" {
			continue
		}
		if s.removals[pool.UID].Forced {
			log.FromContext(ctx).Info("Removing pool by force, without knowing whether it has zones", "pool", after.Name)
			r.Recorder.Eventf(pool, s.relatedBackend(), corev1.EventTypeWarning, "ForcedRemoval", "Remove",
				"The annotation %s was set: the pool is removed without asking Designate whether it still has zones.",
				v1alpha1.AnnotationForceRemoval)
		}
	}
}

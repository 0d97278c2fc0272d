// Package backend brings the pools of a namespace together: it keeps the ledger, the Secret with all RNDC keys and
// Designate's pools.yaml, lets pools pass the removal gate, and says in the DesignateBackend's status how all of it is.
package backend

import (
	"context"
	"errors"
	"time"

	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/pooldeletion"
	"github.com/designate-pools/designate-pool-operator/controllers/rndckeys"
	"github.com/designate-pools/designate-pool-operator/controllers/serving"
	"github.com/designate-pools/designate-pool-operator/controllers/tsigkeys"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
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
	// Zones tells what is known of Designate's zones.
	Zones interface {
		zones.Viewer
		// ListedSince is the last listing that counts and began after a wish to remove a pool was first seen.
		ListedSince(namespace string, intent zones.Intent) *zones.Listing
		// Demand has the zones listed soon.
		Demand(namespace string, after time.Time)
	}
	// Deletions tells what Designate said when it was to delete a pool.
	Deletions pooldeletion.Viewer
	// TSIGKeys tells what is known of the TSIG keys that Designate has.
	TSIGKeys tsigkeys.Viewer
	// Serving tells which zones servers have.
	Serving serving.Viewer
	Clock   clock.PassiveClock

	statuses, poolStatuses apply.Statuses
	// rests are those of what is to be applied, refusals those of why servers are not rebuilt, skipped those of why pools are not applied.
	rests, refusals, skipped rests
}

// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatebackends,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatebackends/status,verbs=get;patch
// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatepools,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatepools/status,verbs=get;patch
// What a vanished DesignatePool has left, this deletes.
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=services;persistentvolumeclaims,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile makes one pass over a namespace.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	s, err := r.gather(ctx, request.Namespace)
	if err != nil {
		return apply.Outcome(err, r.reportUnknown(ctx, request.Namespace, err))
	}
	switch {
	case s.backend == nil:
		r.statuses.Forget(request.NamespacedName)
	case !s.backendLeaves():
		if err := apply.AddFinalizer(ctx, r.Client, s.backend, v1alpha1.BackendFinalizer); err != nil {
			return apply.Outcome(err)
		}
	}
	if s.idle() {
		return ctrl.Result{}, nil
	}
	r.rests.Forget(s.facts.Gone)
	r.refusals.Forget(s.facts.Gone)
	r.skipped.Forget(s.facts.Gone)
	planned := s.plan()
	if s.backendLeaves() && len(s.pools) == 0 && len(planned.Pools) == 0 {
		return apply.Outcome(r.releaseBackend(ctx, s))
	}
	return r.carryOut(ctx, s, planned)
}

// carryOut brings a plan into force. The order is what makes a crash at any point harmless: a number is in the ledger
// before anything uses it, and out of pools.yaml before anything gives it up.
func (r *Reconciler) carryOut(ctx context.Context, s *scope, planned *ledger.Ledger) (ctrl.Result, error) {
	forced, before := s.forcedRemovals(planned), s.stored.DeepCopy()
	if _, err := s.stored.Write(ctx, r.Client, s.namespace, planned); err != nil {
		return apply.Outcome(err, r.reportUnknown(ctx, s.namespace, err))
	}
	r.announce(ctx, s, forced)
	s.keysErr = r.ensureKeys(ctx, s)
	failures := []error{r.announceRebuilds(ctx, s, before), s.keysErr, r.ensurePoolsYAML(ctx, s)}
	if s.poolsYAML.settled {
		failures = append(failures, r.program(ctx, s))
		_, err := s.stored.Write(ctx, r.Client, s.namespace, ledger.Settle(&s.stored.Ledger, s.facts))
		failures = append(failures, err)
	} else {
		// Nobody has looked at what Designate knows.
		s.programming.err = errors.New("pools.yaml is not as it should be: " + s.poolsYAML.message)
	}
	failures = append(failures, r.tearDownVanished(ctx, s))
	if !s.listingAfter.IsZero() {
		r.Zones.Demand(s.namespace, s.listingAfter)
	}
	failures = append(failures, r.writePoolStatuses(ctx, s))
	if s.backend != nil {
		failures = append(failures, r.writeStatus(ctx, s))
	}
	result, err := apply.Outcome(failures...)
	if err == nil && result.RequeueAfter == 0 {
		result.RequeueAfter = s.lookAgain
	}
	return result, err
}

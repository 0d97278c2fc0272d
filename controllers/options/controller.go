package options

import (
	"fmt"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// For returns what the controller of that name is built with. Each call makes a rate limiter of its own, so that the
// failures of one controller delay no other.
func (o Options) For(name string) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: o.concurrency(name),
		RateLimiter:             o.rateLimiter(),
		ReconciliationTimeout:   o.timeout(name),
	}
}

func (o Options) timeout(name string) time.Duration {
	if name == Zones {
		return o.ZoneListingTimeout
	}
	return o.ReconcileTimeout
}

func (o Options) concurrency(name string) int {
	switch name {
	case Bridge:
		return o.BridgeConcurrency
	case Pool:
		return o.PoolConcurrency
	case Backend:
		return o.BackendConcurrency
	case Zones:
		return o.ZonesConcurrency
	case TSIG:
		return o.TSIGConcurrency
	case Serving:
		return o.ServingConcurrency
	case PoolDeletion:
		return o.PoolDeletionConcurrency
	case Sweep:
		return o.SweepConcurrency
	case Primaries:
		return o.PrimariesConcurrency
	}
	panic(fmt.Sprintf("options: no controller is named %q", name))
}

func (o Options) rateLimiter() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](o.RetryBaseDelay, o.RetryMaxDelay),
		&workqueue.TypedBucketRateLimiter[reconcile.Request]{
			Limiter: rate.NewLimiter(rate.Limit(o.RetryQPS), o.RetryBurst),
		},
	)
}

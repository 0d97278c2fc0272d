package webhooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// zoneKeeper judges the removal of pools by the zones that their statuses tell of. It never asks Designate: an answer that
// takes long would hold up everybody's edits, and the controllers ask again anyway before anything is taken away.
type zoneKeeper struct {
	reader client.Reader
	clock  clock.PassiveClock
}

// mayGo denies the removal of pools that are known to have zones, and warns of the others.
func (k zoneKeeper) mayGo(ctx context.Context, namespace string, names sets.Set[string]) (admission.Warnings, error) {
	if names.Len() == 0 {
		return nil, nil
	}
	backend, err := backendOf(ctx, k.reader, namespace)
	if err != nil {
		return nil, err
	}
	pools, err := poolsOf(ctx, k.reader, namespace)
	if err != nil {
		return nil, err
	}
	unknown, empty := names.Clone(), []string{}
	var denials []string
	for i := range pools {
		pool := &pools[i]
		// A pool without an index does not hold its name, or has nothing yet.
		if !names.Has(pool.PoolName()) || pool.Status.Index == nil {
			continue
		}
		denial, known := k.judge(pool, backend)
		switch {
		case denial != "":
			denials = append(denials, denial)
		case known:
			unknown.Delete(pool.PoolName())
			empty = append(empty, pool.PoolName())
		}
	}
	if len(denials) > 0 {
		slices.Sort(denials)
		return nil, fmt.Errorf("%s", strings.Join(denials, "; "))
	}
	return append(unknownWarnings(unknown), emptyWarnings(empty)...), nil
}

// judge says why a pool may not go, and whether it is known that it may as far as zones are concerned.
func (k zoneKeeper) judge(pool *v1alpha1.DesignatePool, backend *v1alpha1.DesignateBackend) (denial string, known bool) {
	seen := pool.Status.Zones
	if seen == nil || backend == nil || pool.Annotations[v1alpha1.AnnotationForceRemoval] == pool.PoolName() {
		return "", false
	}
	age := k.clock.Since(seen.ObservedAt.Time)
	if age > zones.StatusCounts(backend.Spec.Designate.PollInterval) {
		return "", false
	}
	if seen.Total == 0 {
		return "", true
	}
	return fmt.Sprintf("pool %q cannot be removed: Designate listed %d zones in it %s ago (%s); "+
		"delete them, or move them to another pool, first",
		pool.PoolName(), seen.Total, max(0, age).Round(time.Second), zones.Few(seen.Names, int(seen.Total))), false
}

func unknownWarnings(names sets.Set[string]) admission.Warnings {
	if names.Len() == 0 {
		return nil
	}
	return admission.Warnings{fmt.Sprintf("this asks for the removal of %s: whether zones are left there cannot be known "+
		"here, and each stays as it is until its removal is allowed (condition %s)",
		quotedList(names.UnsortedList()), v1alpha1.ConditionRemovalBlocked)}
}

func emptyWarnings(names []string) admission.Warnings {
	if len(names) == 0 {
		return nil
	}
	return admission.Warnings{fmt.Sprintf("this asks for the removal of %s: Designate listed no zones there, and each stays as it is "+
		"until its removal is allowed (condition %s)", quotedList(names), v1alpha1.ConditionRemovalBlocked)}
}

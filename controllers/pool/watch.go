package pool

import (
	"bytes"
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/requests"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// onLedger asks for the pools that a change of the ledger is about: with many pools, asking for all of them at every
// change of one would make each change cost as much as the namespace is large. What it cannot tell, it asks for all of.
func onLedger(reader client.Reader) handler.EventHandler {
	all := requests.ToAllPools(reader)
	return handler.Funcs{
		CreateFunc: all.Create,
		DeleteFunc: all.Delete,
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			before, beforeErr := decodeLedger(e.ObjectOld)
			after, afterErr := decodeLedger(e.ObjectNew)
			if beforeErr != nil || afterErr != nil || before.Mode != after.Mode || len(before.Pools) > len(after.Pools) {
				// A pool that is gone may have held a name that another one claims.
				all.Update(ctx, e, q)
				return
			}
			for i := range after.Pools {
				entry := &after.Pools[i]
				if !equality.Semantic.DeepEqual(before.Pool(entry.UID), entry) {
					q.Add(reconcile.Request{NamespacedName: client.ObjectKey{Namespace: e.ObjectNew.GetNamespace(), Name: entry.Object}})
				}
			}
		},
	}
}

func decodeLedger(object client.Object) (ledger.Ledger, error) {
	configMap, ok := object.(*corev1.ConfigMap)
	if !ok {
		return ledger.Ledger{}, ledger.ErrLost
	}
	return ledger.Decode(configMap)
}

// onKeys asks for the pools whose servers' keys have changed.
func onKeys(reader client.Reader) handler.EventHandler {
	all := requests.ToAllPools(reader)
	return handler.Funcs{
		CreateFunc: all.Create,
		DeleteFunc: all.Delete,
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			before, isSecret := e.ObjectOld.(*corev1.Secret)
			after, same := e.ObjectNew.(*corev1.Secret)
			current, err := ledger.Read(ctx, reader, e.ObjectNew.GetNamespace())
			if !isSecret || !same || err != nil || maps.EqualFunc(before.Data, after.Data, bytes.Equal) {
				// The keys may be the same and no longer as the aggregator wrote them.
				log.FromContext(ctx).V(1).Info("All pools look at their keys")
				all.Update(ctx, e, q)
				return
			}
			for i := range current.Pools {
				entry := &current.Pools[i]
				for _, server := range slices.Concat(entry.Servers, entry.FormerServers()) {
					name := conversion.RNDCKeyName(server.RNDCKey)
					if !bytes.Equal(before.Data[name], after.Data[name]) {
						q.Add(reconcile.Request{NamespacedName: client.ObjectKey{Namespace: after.Namespace, Name: entry.Object}})
					}
				}
			}
		},
	}
}

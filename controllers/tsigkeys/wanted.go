package tsigkeys

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// wanted is a pool and what its key depends on.
type wanted struct {
	entry *ledger.Pool
	// key is the one that the servers have, nil while there is none that can be used.
	key *builders.Key
	// awaits says what has to come before the key is registered for the first time; empty when nothing has.
	awaits string
	// used says that Designate has zones in the pool.
	used bool
}

// wantedOf are the pools whose transfers are signed.
func (r *Registrar) wantedOf(ctx context.Context, backend *v1alpha1.DesignateBackend, stored *ledger.Ledger) ([]wanted, error) {
	listing := r.Zones.View(backend.Namespace).Fresh(r.Clock.Now())
	var pools []wanted
	for i := range stored.Pools {
		entry := &stored.Pools[i]
		if entry.Name == v1alpha1.DefaultPoolName {
			continue
		}
		key, err := r.keyOf(ctx, backend.Namespace, entry)
		if err != nil {
			return nil, err
		}
		pools = append(pools, wanted{
			entry: entry, key: key, awaits: awaits(backend, entry, listing), used: listing != nil && listing.In(entry.ID).Total > 0,
		})
	}
	return pools, nil
}

// keyOf is the key in a pool's Secret, if it is that of the pool.
func (r *Registrar) keyOf(ctx context.Context, namespace string, entry *ledger.Pool) (*builders.Key, error) {
	secret := &corev1.Secret{}
	name := builders.TSIGSecretName(entry.Index)
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read Secret %s: %w", name, err)
	}
	key := builders.TSIGKeyIn(secret.Data)
	if secret.Labels[v1alpha1.LabelPoolUID] != string(entry.UID) || !key.IsTSIGOf(entry.UID) {
		return nil, nil //nolint:nilnil // No key is an answer here.
	}
	return &key, nil
}

// awaits says what has to come before a pool is opened for zones. listing is nil while nobody knows.
func awaits(backend *v1alpha1.DesignateBackend, entry *ledger.Pool, listing *zones.Listing) string {
	known := listing != nil && slices.ContainsFunc(listing.Known, func(p designate.Pool) bool { return p.ID == entry.ID })
	switch {
	case listing == nil:
		return "an answer of Designate which pools it has"
	case !known:
		return "Designate to know the pool"
	case !slices.ContainsFunc(entry.Servers, func(s ledger.Server) bool { return s.Joined }):
		return "a server to join"
	case backend.Spec.Designate.Apply == v1alpha1.ApplyJob && !entry.KnownToWorkers():
		return "Designate's workers to know the pool's servers"
	default:
		return ""
	}
}

// action is what there is to do about the key of a pool.
type action int

const (
	nothing action = iota
	// register a key that Designate does not have.
	register
	// replace one that is not the servers'.
	replace
	// remove that of a pool that is gone.
	remove
)

// action decides by what Designate had when it was last asked.
func (m *memory) action(pool *wanted) action {
	uid := pool.entry.UID
	found, exists := m.registered[uid]
	switch {
	case pool.entry.Removal == ledger.Withdrawn && exists:
		return remove
	case pool.entry.Removing() || pool.key == nil:
		return nothing
	case exists && sameKey(found, desired(pool)):
		return nothing
	case exists:
		return replace
	case m.mayRegister(pool):
		return register
	default:
		return nothing
	}
}

// mayRegister says whether a key that Designate does not have may be registered.
func (m *memory) mayRegister(pool *wanted) bool {
	uid := pool.entry.UID
	if m.foreign[uid] != "" {
		return false // Designate takes no new zones in a pool with two keys.
	}
	// One that was registered before, or whose pool has zones, opens nothing.
	return pool.awaits == "" || pool.used || m.seen[uid]
}

// desired is the key as Designate should have it.
func desired(pool *wanted) designate.TSIGKey {
	return designate.TSIGKey{
		Name: pool.key.Name, Algorithm: pool.key.Algorithm, Secret: pool.key.Secret, PoolID: pool.entry.ID,
	}
}

// sameKey compares all but the id, which Designate gives.
func sameKey(a, b designate.TSIGKey) bool {
	a.ID, b.ID = "", ""
	return a == b
}

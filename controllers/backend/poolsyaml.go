package backend

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// gatherPoolsYAML reads pools.yaml as it is. One that cannot be parsed is no reason to stop: it is about to be replaced.
func (r *Reconciler) gatherPoolsYAML(ctx context.Context, s *scope) error {
	configMap := &corev1.ConfigMap{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: v1alpha1.PoolsYAMLName}, configMap)
	if client.IgnoreNotFound(err) != nil {
		return wrap(err, "read ConfigMap "+v1alpha1.PoolsYAMLName)
	}
	s.currentText = configMap.Data[v1alpha1.PoolsYAMLKey]
	if s.currentText != "" {
		s.current, s.currentErr = conversion.ParsePoolsYAML([]byte(s.currentText))
	}
	return nil
}

// ensurePoolsYAML writes pools.yaml. What it cannot make well it does not write: the text before stays.
func (r *Reconciler) ensurePoolsYAML(ctx context.Context, s *scope) error {
	outcome := &s.poolsYAML
	entries, err := s.entries(asWritten)
	if err != nil {
		outcome.reason, outcome.message = v1alpha1.ReasonRenderFailed, err.Error()
		return err
	}
	if len(entries) == 0 {
		// An empty file would have Designate's worker serve nothing. A pool that is removed with no other left to write
		// stays in the file, which nobody needs any more.
		outcome.settled = true
		outcome.reason = v1alpha1.ReasonNoServersYet
		outcome.message = "No server has been ready and had an address, so there is nothing to write."
		return nil
	}
	text, err := conversion.RenderPoolsYAML(entries)
	if err != nil {
		outcome.reason, outcome.message = v1alpha1.ReasonRenderFailed, err.Error()
		return err
	}
	desired := corev1ac.ConfigMap(v1alpha1.PoolsYAMLName, s.namespace).
		WithLabels(map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator}).
		WithData(map[string]string{v1alpha1.PoolsYAMLKey: string(text)})
	object := apply.Object[*corev1.ConfigMap, *corev1ac.ConfigMapApplyConfiguration]{
		Live: &corev1.ConfigMap{}, Extract: corev1ac.ExtractConfigMap,
	}
	_, err = apply.Ensure(ctx, r.writer(), object, desired, apply.OfOperator)
	switch {
	case apply.IsNameTaken(err):
		outcome.reason, outcome.message = v1alpha1.ReasonNameTaken, err.Error()
		return err
	case err != nil:
		outcome.reason, outcome.message = v1alpha1.ReasonWriteFailed, err.Error()
		return err
	}
	sum := sha256.Sum256(text)
	outcome.settled, outcome.written, outcome.hash = true, true, hex.EncodeToString(sum[:])
	outcome.reason = v1alpha1.ReasonWritten
	outcome.message = fmt.Sprintf("pools.yaml holds %d pools: %s.", len(entries), strings.Join(namesOf(entries), ", "))
	return nil
}

// idPolicy says whether entries bear the ids of their pools.
type idPolicy bool

const (
	// asWritten: pools.yaml has the original format, without ids, in SinglePool mode.
	asWritten idPolicy = false
	// withIDs: what is applied says always which pool is meant.
	withIDs idPolicy = true
)

// entries are the pools that pools.yaml has to hold, in index order.
func (s *scope) entries(ids idPolicy) ([]conversion.PoolEntry, error) {
	if s.backend == nil || s.backendErr != nil {
		return s.remainingEntries()
	}
	shared := conversion.Shared{
		Primaries:        s.backend.Spec.Primaries,
		RNDCKeyDirectory: s.backend.Spec.Designate.RNDCKeyDirectory,
	}
	var entries []conversion.PoolEntry
	for i := range s.stored.Pools {
		pool := &s.stored.Pools[i]
		servers := s.targets(pool)
		if len(servers) == 0 {
			continue // Before a pool's first server is ready, Designate must not hear of it.
		}
		id := pool.ID
		if ids == asWritten && s.stored.Mode == v1alpha1.SinglePool {
			id = ""
		}
		entries = append(entries, conversion.NewPoolEntry(pool.Name, id, pool.Accepted.PoolSettings, servers, shared))
	}
	return entries, nil
}

// targets are the servers that pools.yaml has to name for a pool. Of a pool whose DesignatePool has vanished nothing is
// known of its client Services, so none counts as closed.
func (s *scope) targets(pool *ledger.Pool) []conversion.Server {
	facts, known := s.facts.Pool(pool.UID)
	led := func(ordinal int32, former bool) bool { return !known || facts.Led(ordinal, former) }
	var servers []conversion.Server
	for _, target := range pool.Targets(led) {
		servers = append(servers, conversion.Server{Ordinal: target.Ordinal, Address: target.Address, RNDCKey: target.RNDCKey})
	}
	return servers
}

// remainingEntries are those of the present file without the pools that are being removed. Without a usable
// DesignateBackend nobody knows the primaries, so nothing can be made anew.
func (s *scope) remainingEntries() ([]conversion.PoolEntry, error) {
	if s.currentErr != nil {
		return nil, fmt.Errorf("without a usable DesignateBackend pools.yaml is not made anew, and the present one cannot be read: %w",
			s.currentErr)
	}
	return slices.DeleteFunc(slices.Clone(s.current), func(entry conversion.PoolEntry) bool {
		return slices.ContainsFunc(s.stored.Pools, func(p ledger.Pool) bool { return p.Leaving() && p.Name == entry.Name })
	}), nil
}

func namesOf(entries []conversion.PoolEntry) []string {
	names := make([]string, 0, len(entries))
	for i := range entries {
		names = append(names, fmt.Sprintf("%q", entries[i].Name))
	}
	return names
}

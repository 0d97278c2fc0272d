package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// applyChildren makes everything that runs the pool's servers. What a pod mounts comes before the StatefulSet, and the
// StatefulSet waits for it; nothing else waits for anything.
func (r *Reconciler) applyChildren(ctx context.Context, s *scope) (bool, error) {
	pool := s.builderPool()
	keys, missing := s.serverKeys()
	failures := []error{
		r.applyTSIGKey(ctx, s, pool),
		ensure(ctx, s, &corev1.Secret{}, corev1ac.ExtractSecret, builders.KeySecret(pool, keys)),
		ensure(ctx, s, &corev1.ConfigMap{}, corev1ac.ExtractConfigMap, builders.ConfigMap(pool)),
	}
	if len(missing) > 0 {
		s.blame(v1alpha1.ReasonWaitingForKeys, "These RNDC keys do not exist yet: "+strings.Join(missing, ", ")+".")
	}
	if s.problem == nil {
		failures = append(failures, r.applyStatefulSet(ctx, s, pool))
	}
	failures = append(failures,
		r.shrinkFormer(ctx, s),
		r.applyServices(ctx, s, pool),
		ensure(ctx, s, &policyv1.PodDisruptionBudget{}, policyv1ac.ExtractPodDisruptionBudget, builders.DisruptionBudget(pool)),
	)
	return false, errors.Join(failures...)
}

// serverKeys are the keys of the pool's servers, and the names of those that do not exist yet. A key that the Secret of
// all servers has lost stays here as it is, for the aggregator to put back.
func (s *scope) serverKeys() (keys map[string][]byte, missing []string) {
	keys = map[string][]byte{}
	for _, server := range slices.Concat(s.entry.Servers, s.entry.FormerServers()) {
		name := conversion.RNDCKeyName(server.RNDCKey)
		switch {
		case s.keys[name] != nil:
			keys[name] = s.keys[name]
		case s.keyCopies[name] != nil:
			keys[name] = s.keyCopies[name]
		default:
			missing = append(missing, name)
		}
	}
	return keys, missing
}

func (r *Reconciler) applyServices(ctx context.Context, s *scope, pool *builders.Pool) error {
	var failures []error
	for _, server := range pool.Servers {
		failures = append(failures, ensure(ctx, s, &corev1.Service{}, corev1ac.ExtractService, builders.ControlService(pool, server)))
	}
	for _, server := range pool.Clients() {
		failures = append(failures, ensure(ctx, s, &corev1.Service{}, corev1ac.ExtractService, builders.ClientService(pool, server)))
	}
	return errors.Join(failures...)
}

// shrinkFormer has the StatefulSet of the mode before run no more servers than are needed. All else of it stays as it is, so that none
// of its pods is made anew.
func (r *Reconciler) shrinkFormer(ctx context.Context, s *scope) error {
	if s.formerName() == "" {
		return nil
	}
	former := &appsv1.StatefulSet{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: s.pool.Namespace, Name: s.formerName()}, former)
	if err != nil || former.Labels[v1alpha1.LabelPoolUID] != string(s.pool.UID) {
		return client.IgnoreNotFound(err)
	}
	desired, err := appsv1ac.ExtractStatefulSet(former, string(FieldOwner))
	if err != nil {
		return fmt.Errorf("what was applied to StatefulSet %s: %w", former.Name, err)
	}
	if desired.Spec == nil {
		return fmt.Errorf("nothing of StatefulSet %s was applied by %s, so it cannot be scaled", former.Name, FieldOwner)
	}
	desired.Spec.WithReplicas(s.entry.FormerReplicas())
	return ensure(ctx, s, &appsv1.StatefulSet{}, appsv1ac.ExtractStatefulSet, desired)
}

// applyStatefulSet keeps the claim template that an existing StatefulSet has, since it cannot be changed, and says so
// when another is asked for.
func (r *Reconciler) applyStatefulSet(ctx context.Context, s *scope, pool *builders.Pool) error {
	desired := builders.StatefulSet(pool, s.entry.Replicas())
	var applied *appsv1ac.StatefulSetSpecApplyConfiguration
	if s.statefulSet != nil {
		current, err := appsv1ac.ExtractStatefulSet(s.statefulSet, string(FieldOwner))
		if err != nil {
			return fmt.Errorf("what was applied to StatefulSet %s: %w", s.statefulSet.Name, err)
		}
		applied = current.Spec
		if current.Spec != nil && len(current.Spec.VolumeClaimTemplates) > 0 &&
			!equality.Semantic.DeepEqual(current.Spec.VolumeClaimTemplates, desired.Spec.VolumeClaimTemplates) {
			desired.Spec.VolumeClaimTemplates = current.Spec.VolumeClaimTemplates
			s.blame(v1alpha1.ReasonStorageChangeNeeded, "The storage asked for differs from that of the existing claims, which cannot "+
				"be changed in place: the servers go on with what they have. Ask for the storage as it was, or scale the pool to 0, "+
				"delete the StatefulSet "+s.statefulSet.Name+", and scale it back; Designate fills the new claims.")
		}
	}
	desired.Spec.UpdateStrategy.RollingUpdate.WithPartition(s.partition(desired.Spec, applied))
	return ensure(ctx, s, &appsv1.StatefulSet{}, appsv1ac.ExtractStatefulSet, desired)
}

// ensure makes one child as it should be, and notes for the status what keeps it from that.
func ensure[L client.Object, C apply.Configuration](
	ctx context.Context, s *scope, live L, extract func(L, string) (C, error), desired C,
) error {
	writer := apply.Writer{Client: s.reconciler.Client, Live: s.reconciler.APIReader, Owner: FieldOwner}
	object := apply.Object[L, C]{Live: live, Extract: extract}
	wrote, err := apply.Ensure(ctx, writer, object, desired, apply.OfPool(s.pool.UID))
	switch {
	case apply.IsNameTaken(err):
		s.blame(v1alpha1.ReasonNameTaken, err.Error())
		return err
	case err != nil:
		s.blame(v1alpha1.ReasonWriteFailed, err.Error())
		return err
	}
	if wrote {
		log.FromContext(ctx).V(1).Info("Applied", "kind", fmt.Sprintf("%T", live), "name", *desired.GetName())
	}
	return nil
}

// deleteUnwanted deletes Services of servers that are gone, and what the other mode has left. The entry of a server stays in the ledger
// until its pod is gone, and a pool has something in the other mode as long as a server of that has an entry. Since what is deleted
// takes its address along, the ledger is asked for again first, past the cache.
func (r *Reconciler) deleteUnwanted(ctx context.Context, s *scope) (bool, error) {
	unwanted, err := r.unwanted(ctx, s)
	if err != nil || len(unwanted) == 0 {
		return false, err
	}
	newest, err := ledger.Read(ctx, r.APIReader, s.pool.Namespace)
	if err != nil {
		return false, err
	}
	if newest.Mode != s.ledger.Mode || !equality.Semantic.DeepEqual(newest.Pool(s.pool.UID), s.entry) {
		return false, nil // The cache is behind, and an event is on its way.
	}
	var failures []error
	for _, object := range unwanted {
		failures = append(failures, apply.Delete(ctx, r.Client, object))
	}
	return false, errors.Join(failures...)
}

func (r *Reconciler) unwanted(ctx context.Context, s *scope) ([]client.Object, error) {
	wanted := map[string]bool{}
	for _, server := range s.entry.Servers {
		wanted[builders.ClientServiceName(s.entry.Index, server.Ordinal)] = true
		wanted[builders.ControlServiceName(s.statefulSetName(), server.Ordinal)] = true
	}
	for _, server := range s.entry.FormerServers() {
		wanted[builders.ClientServiceName(s.entry.Index, server.Ordinal)] = true
		wanted[builders.ControlServiceName(s.formerName(), server.Ordinal)] = true
	}
	var unwanted []client.Object
	for name, service := range s.services {
		if !wanted[name] {
			unwanted = append(unwanted, service)
		}
	}
	var statefulSets appsv1.StatefulSetList
	if err := r.Client.List(ctx, &statefulSets, s.ownObjects()...); err != nil {
		return nil, fmt.Errorf("list StatefulSets: %w", err)
	}
	for i := range statefulSets.Items {
		if name := statefulSets.Items[i].Name; name != s.statefulSetName() && name != s.formerName() {
			unwanted = append(unwanted, &statefulSets.Items[i])
		}
	}
	return unwanted, nil
}

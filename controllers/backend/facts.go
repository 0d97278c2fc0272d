package backend

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/acceptance"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// makeFacts puts together what a ledger is planned from.
func (s *scope) makeFacts(gone []types.UID) {
	s.facts = ledger.Facts{Mode: s.stored.NextMode(s.wantedMode, s.deployedMode()), Gone: gone}
	known := map[types.UID]bool{}
	for _, pool := range s.inOrder() {
		known[pool.UID] = true
		s.facts.Pools = append(s.facts.Pools, s.poolFacts(pool))
	}
	for _, entry := range s.stored.Pools {
		known[entry.UID] = true
	}
	for i := range s.objects.statefulSets {
		statefulSet := &s.objects.statefulSets[i]
		if uid := types.UID(statefulSet.Labels[v1alpha1.LabelPoolUID]); !known[uid] {
			s.facts.Pools = append(s.facts.Pools, s.orphanFacts(statefulSet, uid))
			known[uid] = true
		}
	}
	s.reserve()
}

// inOrder is the order in which pools are given indexes: the default pool, then those whose objects bear one, then as
// the ConfigMap lists them, then by age.
func (s *scope) inOrder() []*v1alpha1.DesignatePool {
	listed := map[string]int{}
	if s.configured != nil {
		for i, pool := range s.configured.Pools {
			listed[pool.Name] = i - len(s.configured.Pools)
		}
	}
	pools := acceptance.ByAge(s.pools)
	slices.SortStableFunc(pools, func(a, b *v1alpha1.DesignatePool) int {
		return cmp.Or(
			earlier(a.IsDefault(), b.IsDefault()),
			earlier(s.deployedIndex(a.UID) != nil, s.deployedIndex(b.UID) != nil),
			cmp.Compare(listed[a.PoolName()], listed[b.PoolName()]),
		)
	})
	return pools
}

// earlier orders what has a property before what has not.
func earlier(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

func (s *scope) poolFacts(pool *v1alpha1.DesignatePool) ledger.PoolFacts {
	facts := ledger.PoolFacts{
		UID:    pool.UID,
		Object: pool.Name,
		Name:   pool.PoolName(),
		Index:  s.deployedIndex(pool.UID),
		// As far as people apply pools.yaml. Without a usable DesignateBackend it is not made anew, so nothing has left it.
		Programmed: s.backend != nil && s.backendErr == nil,
	}
	id, known := s.poolID(pool.UID, pool.PoolName())
	facts.ID, facts.IDUnknown = id, !known
	facts.Accepted = s.acceptedSpec(pool, facts.Index != nil)
	index := facts.Index
	if entry := s.stored.Pool(pool.UID); entry != nil {
		index = &entry.Index
	}
	if index != nil {
		s.addServers(&facts, *index)
	}
	return facts
}

// acceptedSpec is the spec that comes into force for a pool, if one does.
func (s *scope) acceptedSpec(pool *v1alpha1.DesignatePool, deployed bool) *v1alpha1.DesignatePoolSpec {
	// A pool that is to go and never had anything gets nothing now, nor does one whose backend is missing.
	hasSomething := s.stored.Pool(pool.UID) != nil || deployed
	switch verdict := s.verdicts[pool.UID]; {
	case verdict.Accepted && (hasSomething || (!s.removals[pool.UID].Wanted && s.backend != nil)):
		return &pool.Spec
	case verdict.Holds && !verdict.Accepted && s.stored.Pool(pool.UID) == nil:
		// The last accepted spec was lost with the ledger: what Designate was told of it stays in force.
		recovered := s.recovered(pool.UID, pool.PoolName())
		if recovered != nil {
			recovered.BIND = pool.Spec.BIND
		}
		return recovered
	}
	return nil
}

// orphanFacts are those of a StatefulSet whose DesignatePool has vanished and that the ledger does not know: it keeps its
// place in pools.yaml as far as pools.yaml knows it.
func (s *scope) orphanFacts(statefulSet *appsv1.StatefulSet, uid types.UID) ledger.PoolFacts {
	name := statefulSet.Annotations[v1alpha1.AnnotationPoolName]
	facts := ledger.PoolFacts{
		UID:    uid,
		Object: statefulSet.Labels[v1alpha1.LabelPool],
		Name:   name,
		Index:  s.deployedIndex(uid),
	}
	// What was in pools.yaml is there under the id that its objects bear.
	facts.ID = s.derivedPoolID(uid, name)
	held := slices.ContainsFunc(s.stored.Pools, func(p ledger.Pool) bool {
		return conversion.FoldName(p.Name) == conversion.FoldName(name)
	})
	if facts.Index != nil && !held {
		facts.Accepted = s.recovered(uid, name)
		s.addServers(&facts, *facts.Index)
	}
	return facts
}

// addServers adds what exists of a pool's servers in the mode that is to be in force, and of the default pool's in the other one.
func (s *scope) addServers(facts *ledger.PoolFacts, index int32) {
	name := builders.StatefulSetName(s.facts.Mode, index)
	facts.Servers, facts.Replicas = s.serversOf(facts.UID, index, name)
	for _, mode := range []v1alpha1.Mode{v1alpha1.SinglePool, v1alpha1.MultiPool} {
		if other := builders.StatefulSetName(mode, index); other != name {
			facts.Former, facts.FormerReplicas = s.serversOf(facts.UID, index, other)
		}
	}
}

// serversOf is what exists of the servers that a StatefulSet runs for a pool, and how many it is told to run.
func (s *scope) serversOf(uid types.UID, index int32, statefulSet string) (servers map[int32]ledger.ServerFacts, replicas int32) {
	servers = map[int32]ledger.ServerFacts{}
	for _, service := range s.objects.services {
		labels := service.Labels
		if labels[v1alpha1.LabelPoolUID] != string(uid) || labels[v1alpha1.LabelServiceRole] != v1alpha1.ServiceRoleControl {
			continue
		}
		ordinal, ok := number(labels[v1alpha1.LabelOrdinal])
		if ok && service.Name == builders.ControlServiceName(statefulSet, ordinal) {
			servers[ordinal] = s.serverFacts(uid, index, statefulSet, ordinal, service)
		}
	}
	for i := range s.objects.statefulSets {
		object := &s.objects.statefulSets[i]
		if object.Name == statefulSet && object.Labels[v1alpha1.LabelPoolUID] == string(uid) {
			replicas = ptr.Deref(object.Spec.Replicas, 1)
		}
	}
	return servers, replicas
}

func (s *scope) serverFacts(uid types.UID, index int32, statefulSet string, ordinal int32, control *corev1.Service) ledger.ServerFacts {
	facts := ledger.ServerFacts{Address: builders.ServiceAddress(control)}
	facts.RNDCKey, _ = number(control.Annotations[v1alpha1.AnnotationRNDCKey])
	facts.InPoolsYAML = facts.Address != "" && s.inPoolsYAML(facts.Address)
	name := builders.PodName(statefulSet, ordinal)
	open := s.objects.services[builders.ClientServiceName(index, ordinal)]
	facts.ClientOpen = open != nil && open.Labels[v1alpha1.LabelPoolUID] == string(uid) && builders.ServiceLeadsTo(open, name)
	pod := s.objects.pods[name]
	facts.PodExists = pod != nil && pod.Labels[v1alpha1.LabelPoolUID] == string(uid)
	facts.Ready = facts.PodExists && builders.PodReady(pod)
	facts.MayJoin = facts.Ready && s.mayJoin(uid, ordinal, pod)
	facts.Claim = s.claimOf(uid, name)
	return facts
}

// claimOf is the UID of the claim of a server's pod; empty without one that is the pool's.
func (s *scope) claimOf(uid types.UID, pod string) types.UID {
	claim := s.objects.claims[builders.ClaimName(pod)]
	if claim == nil || claim.Labels[v1alpha1.LabelPoolUID] != string(uid) {
		return ""
	}
	return claim.UID
}

// reserve protects the numbers that objects of pools bear which neither have an entry nor get one now.
func (s *scope) reserve() {
	numbered := map[types.UID]bool{}
	for _, entry := range s.stored.Pools {
		numbered[entry.UID] = true
	}
	for _, pool := range s.facts.Pools {
		numbered[pool.UID] = numbered[pool.UID] || pool.Accepted != nil
	}
	for i := range s.objects.statefulSets {
		if index, ok := number(s.objects.statefulSets[i].Labels[v1alpha1.LabelPoolIndex]); ok {
			s.facts.ReservedIndexes = append(s.facts.ReservedIndexes, index)
		}
	}
	for _, service := range s.objects.services {
		if index, ok := number(service.Labels[v1alpha1.LabelPoolIndex]); ok {
			s.facts.ReservedIndexes = append(s.facts.ReservedIndexes, index)
		}
		key, ok := number(service.Annotations[v1alpha1.AnnotationRNDCKey])
		if ok && !numbered[types.UID(service.Labels[v1alpha1.LabelPoolUID])] {
			s.facts.ReservedKeys = append(s.facts.ReservedKeys, key)
		}
	}
	slices.Sort(s.facts.ReservedIndexes)
	slices.Sort(s.facts.ReservedKeys)
}

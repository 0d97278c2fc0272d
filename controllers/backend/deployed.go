package backend

import (
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// What objects bear of the numbers and names under which they were made. It is what a lost ledger is planned anew from.

// recovered is the spec of a pool that runs, as far as pools.yaml and its StatefulSet show it; nil when they do not.
func (s *scope) recovered(uid types.UID, name string) *v1alpha1.DesignatePoolSpec {
	at := slices.IndexFunc(s.current, func(e conversion.PoolEntry) bool { return e.Name == name })
	runs := slices.IndexFunc(s.objects.statefulSets, func(o appsv1.StatefulSet) bool {
		return o.Labels[v1alpha1.LabelPoolUID] == string(uid)
	})
	if at < 0 || runs < 0 {
		return nil
	}
	return &v1alpha1.DesignatePoolSpec{PoolName: name, PoolSettings: v1alpha1.PoolSettings{
		Description:  s.current[at].Description,
		Attributes:   s.current[at].Attributes,
		NSRecords:    s.current[at].NSRecords,
		BINDReplicas: ptr.Deref(s.objects.statefulSets[runs].Spec.Replicas, 0),
	}}
}

// inPoolsYAML says whether pools.yaml names an address.
func (s *scope) inPoolsYAML(address string) bool {
	return slices.ContainsFunc(s.current, func(entry conversion.PoolEntry) bool {
		return slices.ContainsFunc(entry.Nameservers, func(n conversion.Address) bool { return n.Host == address })
	})
}

// poolID is the id that a pool has in Designate, or gets there: that of a pool of exactly its name, where there is one. known
// is false when Designate has to be asked first.
func (s *scope) poolID(uid types.UID, name string) (id string, known bool) {
	if name == v1alpha1.DefaultPoolName && s.backend != nil {
		return s.backend.Spec.Designate.DefaultPoolID, true
	}
	listing := s.zones.Fresh(s.now)
	if listing != nil {
		for _, pool := range listing.Known {
			if pool.Name == name {
				return pool.ID, true
			}
		}
	}
	return s.derivedPoolID(uid, name), listing != nil || !s.hasAccess()
}

// derivedPoolID is the id that the pool's StatefulSet bears, else the one that follows from its name.
func (s *scope) derivedPoolID(uid types.UID, name string) string {
	for i := range s.objects.statefulSets {
		statefulSet := &s.objects.statefulSets[i]
		if id := statefulSet.Annotations[v1alpha1.AnnotationPoolID]; id != "" && statefulSet.Labels[v1alpha1.LabelPoolUID] == string(uid) {
			return id
		}
	}
	return conversion.PoolID(s.namespace, name)
}

// deployedIndex is the index that a pool's StatefulSet bears, or, where that has gone before them, its Services.
func (s *scope) deployedIndex(uid types.UID) *int32 {
	for i := range s.objects.statefulSets {
		if index := borneIndex(s.objects.statefulSets[i].Labels, uid); index != nil {
			return index
		}
	}
	for _, service := range s.objects.services {
		if index := borneIndex(service.Labels, uid); index != nil {
			return index
		}
	}
	return nil
}

func borneIndex(labels map[string]string, uid types.UID) *int32 {
	if index, ok := number(labels[v1alpha1.LabelPoolIndex]); ok && labels[v1alpha1.LabelPoolUID] == string(uid) {
		return &index
	}
	return nil
}

// deployedMode is the mode in which the default pool's servers exist. While both StatefulSets do, it is the one whose
// servers pools.yaml names.
func (s *scope) deployedMode() v1alpha1.Mode {
	var deployed v1alpha1.Mode
	for _, mode := range []v1alpha1.Mode{v1alpha1.SinglePool, v1alpha1.MultiPool} {
		name := builders.StatefulSetName(mode, 0)
		if !slices.ContainsFunc(s.objects.statefulSets, func(o appsv1.StatefulSet) bool { return o.Name == name }) {
			continue
		}
		control := s.objects.services[builders.ControlServiceName(name, 0)]
		if control != nil && s.inPoolsYAML(builders.ServiceAddress(control)) {
			return mode
		}
		deployed = mode
	}
	return deployed
}

func number(text string) (int32, bool) {
	value, err := strconv.ParseInt(text, 10, 32)
	return int32(value), err == nil
}

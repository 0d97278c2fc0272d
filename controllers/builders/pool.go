package builders

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// Labels that tell our pods from others'. Values of the Kubernetes recommended labels.
const (
	labelAppName      = "app.kubernetes.io/name"
	labelAppInstance  = "app.kubernetes.io/instance"
	labelAppComponent = "app.kubernetes.io/component"
	labelAppPartOf    = "app.kubernetes.io/part-of"

	appName      = "bind9"
	appComponent = "nameserver"
	appPartOf    = "designate"
)

// Pool is what the builders need to know of one pool.
type Pool struct {
	// Namespace of the DesignatePool and of everything built for it.
	Namespace string
	// Object is the name of the DesignatePool, UID its UID.
	Object string
	UID    types.UID
	// Name and ID are the pool's in Designate.
	Name string
	ID   string
	// Index numbers the pool's objects.
	Index int32
	// StatefulSet is the name of the StatefulSet in the mode that is in force.
	StatefulSet string
	// Spec is the accepted spec.
	Spec v1alpha1.DesignatePoolSpec
	// Template is the DesignateBackend's.
	Template v1alpha1.BINDTemplate
	// Servers are those that exist or are about to, by ordinal, and those of the mode before.
	Servers []Server
	// Primaries are Designate's mdns servers, with which the pool's servers sign transfers.
	Primaries []v1alpha1.Primary
	// TSIG is the key with which they do; that of the default pool does not matter.
	TSIG Key
}

// Server is what the builders need to know of one server.
type Server struct {
	// StatefulSet is the name of the one that runs the server.
	StatefulSet string
	Ordinal     int32
	RNDCKey     int32
	// Open says whether the client Service leads to the server.
	Open bool
}

// Pod is the name of the server's pod.
func (s Server) Pod() string { return PodName(s.StatefulSet, s.Ordinal) }

// Clients are the servers to which the client Services lead, or are to lead once they are open: of two with one ordinal the one that is
// open, else the present one.
func (p *Pool) Clients() []Server {
	var clients []Server
	for _, server := range p.Servers {
		at := slices.IndexFunc(clients, func(c Server) bool { return c.Ordinal == server.Ordinal })
		switch {
		case at < 0:
			clients = append(clients, server)
		case server.Open || (!clients[at].Open && server.StatefulSet == p.StatefulSet):
			clients[at] = server
		}
	}
	return clients
}

// labels are those of every object of a pool.
func (p *Pool) labels() map[string]string {
	return map[string]string{
		labelAppName:            appName,
		labelAppComponent:       appComponent,
		labelAppPartOf:          appPartOf,
		v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator,
		v1alpha1.LabelPool:      p.Object,
		v1alpha1.LabelPoolUID:   string(p.UID),
		v1alpha1.LabelPoolIndex: strconv.Itoa(int(p.Index)),
	}
}

// annotations are those of every object of a pool.
func (p *Pool) annotations() map[string]string {
	return map[string]string{v1alpha1.AnnotationPoolName: p.Name}
}

// podLabels are those of the pool's pods, claims and StatefulSet.
func (p *Pool) podLabels() map[string]string {
	return merged(p.labels(), map[string]string{labelAppInstance: p.StatefulSet})
}

// PodSelector chooses the pods of the pool's StatefulSet. It carries the UID, so that the pods of an object that had
// the same name before are never taken for this pool's.
func (p *Pool) PodSelector() map[string]string {
	return map[string]string{labelAppInstance: p.StatefulSet, v1alpha1.LabelPoolUID: string(p.UID)}
}

func (p *Pool) storage() v1alpha1.BINDStorage {
	if p.Spec.BIND != nil && p.Spec.BIND.Storage != nil {
		return *p.Spec.BIND.Storage
	}
	return p.Template.Storage
}

// PodReady says whether a server's pod is ready and means to stay.
func PodReady(pod *corev1.Pod) bool {
	if pod == nil || pod.DeletionTimestamp != nil {
		return false
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// PodEnded says that no container of a pod will run again.
func PodEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// merged is the union of maps; of equal keys the last one counts.
func merged(sources ...map[string]string) map[string]string {
	result := map[string]string{}
	for _, source := range sources {
		maps.Copy(result, source)
	}
	return result
}

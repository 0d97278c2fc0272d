package pool

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/utils/ptr"

	"github.com/designate-pools/designate-pool-operator/controllers/builders"
)

// rolloutLook is how soon to look again at a rollout: that a server has been seen to have all its zones is no event.
const rolloutLook = 5 * time.Second

// rolling is a server as far as the replacement of others waits for it.
type rolling struct {
	pod string
	// joined says that clients are led to it, updated that it runs as the newest spec says.
	joined, updated bool
	// ready says that it answers, whole that it answers for no fewer zones than others do.
	ready, whole bool
}

// fine says that nobody has to wait for the server.
func (r rolling) fine() bool { return !r.joined || (r.ready && (r.whole || !r.updated)) }

// nextPartition is the lowest ordinal of which the StatefulSet controller may replace the pod, which it does from the highest one
// downwards: one server after the other, each once those before it are back and all others answer. waiting says for what, empty when
// for nothing. A server to which no client is led, or that does not answer anyway, is replaced without waiting for others.
func nextPartition(servers []rolling) (partition int32, waiting string) {
	partition = int32(len(servers)) //nolint:gosec // There are 2³¹ ordinals.
	for _, server := range slices.Backward(servers) {
		switch {
		case server.updated && !server.fine():
			return partition - 1, server.pod + " has been replaced and " + server.lacks()
		case server.updated || !server.joined:
			partition--
			continue
		}
		blocking := slices.IndexFunc(servers, func(other rolling) bool { return other.pod != server.pod && !other.fine() })
		if blocking >= 0 && server.ready {
			return partition, servers[blocking].pod + " " + servers[blocking].lacks() + ", so " + server.pod + " is not replaced"
		}
		return partition - 1, ""
	}
	return partition, ""
}

func (r rolling) lacks() string {
	if !r.ready {
		return "is not ready"
	}
	return "does not answer for all zones yet"
}

// partition is what the StatefulSet is to have. At rest, and when the template changes, no pod may be replaced until the operator says so.
func (s *scope) partition(desired, applied *appsv1ac.StatefulSetSpecApplyConfiguration) int32 {
	replicas := ptr.Deref(desired.Replicas, 0)
	switch {
	case s.statefulSet == nil || applied == nil || !equality.Semantic.DeepEqual(desired.Template, applied.Template):
		return replicas
	case s.statefulSet.Status.ObservedGeneration < s.statefulSet.Generation:
		return livePartition(s.statefulSet)
	case !s.rollsOut(replicas):
		return replicas
	}
	partition, _ := nextPartition(s.rollingServers(replicas))
	return partition
}

// rollsOut says that pods do not run as the StatefulSet says yet. Its two revisions alone do not tell: a change that is taken back half-way
// makes them one again.
func (s *scope) rollsOut(replicas int32) bool {
	if s.statefulSet.Status.UpdateRevision != s.statefulSet.Status.CurrentRevision {
		return true
	}
	for ordinal := range replicas {
		pod := s.pods[builders.PodName(s.statefulSetName(), ordinal)]
		if pod != nil && pod.Labels[appsv1.ControllerRevisionHashLabelKey] != s.statefulSet.Status.UpdateRevision {
			return true
		}
	}
	return false
}

func livePartition(statefulSet *appsv1.StatefulSet) int32 {
	if rolling := statefulSet.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		return ptr.Deref(rolling.Partition, 0)
	}
	return 0
}

// rollingServers are the servers of the StatefulSet, by ordinal.
func (s *scope) rollingServers(replicas int32) []rolling {
	servers := make([]rolling, 0, replicas)
	for ordinal := range replicas {
		name := builders.PodName(s.statefulSetName(), ordinal)
		server := rolling{pod: name}
		if entry := s.entry.Server(ordinal); entry != nil {
			server.joined = entry.Joined
		}
		if pod := s.pods[name]; pod != nil {
			server.updated = pod.Labels[appsv1.ControllerRevisionHashLabelKey] == s.statefulSet.Status.UpdateRevision
			server.ready = builders.PodReady(pod)
			server.whole = s.answersForAsMuch(ordinal, pod)
		}
		servers = append(servers, server)
	}
	return servers
}

// answersForAsMuch says that a pod has been seen to lack no more zones than another server of the pool does. Without access to Designate
// nobody can tell, and being ready has to do.
func (s *scope) answersForAsMuch(ordinal int32, pod *corev1.Pod) bool {
	if s.backend.Spec.Designate.Access == nil {
		return true
	}
	missing, known := s.serving.Seen(ordinal, pod.UID)
	if !known {
		return false
	}
	for _, other := range s.entry.Servers {
		theirs := s.pods[builders.PodName(s.statefulSetName(), other.Ordinal)]
		if other.Ordinal == ordinal || !other.Joined || theirs == nil {
			continue
		}
		if lacks, known := s.serving.Seen(other.Ordinal, theirs.UID); known && missing.Total <= lacks.Total {
			return true
		}
	}
	return missing.Total == 0
}

// rolloutMessage says how far a rollout is, and what it waits for.
func (s *scope) rolloutMessage() string {
	status := s.statefulSet.Status
	message := fmt.Sprintf("%d of %d servers run as the newest spec says.", status.UpdatedReplicas, ptr.Deref(s.statefulSet.Spec.Replicas, 1))
	if _, waiting := nextPartition(s.rollingServers(ptr.Deref(s.statefulSet.Spec.Replicas, 1))); waiting != "" {
		message += " The next one waits: " + waiting + "."
	}
	return message
}

// startFailures are the words with which containers of servers that are not ready have ended.
func (s *scope) startFailures() string {
	var found []string
	for ordinal := range s.entry.Accepted.BINDReplicas {
		name := builders.PodName(s.statefulSetName(), ordinal)
		pod := s.pods[name]
		if pod == nil || builders.PodReady(pod) {
			continue
		}
		for _, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			for _, state := range []corev1.ContainerState{container.State, container.LastTerminationState} {
				if ended := state.Terminated; ended != nil && ended.ExitCode != 0 {
					found = append(found, fmt.Sprintf("%s: container %s ended with exit code %d: %s",
						name, container.Name, ended.ExitCode, lastLine(ended.Message)))
					break
				}
			}
		}
	}
	if len(found) == 0 {
		return ""
	}
	return " " + strings.Join(found, "; ")
}

// lastLine is the last line of a text that is not empty.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

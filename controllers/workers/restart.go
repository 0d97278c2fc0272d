package workers

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
)

// Restarted says whether every worker of a workload has been started since its restart for token began. If not, why is a
// sentence for people that names the workload.
func (s *State) Restarted(token string) (done bool, why string) {
	why = s.missing(token)
	if why == "" {
		return true, ""
	}
	return false, fmt.Sprintf("%s: %s.", s.name(), why)
}

func (s *State) missing(token string) string {
	if s.Missing {
		return "there is none in this namespace (spec.designate.poolUpdate.workers)"
	}
	if s.wanted == 0 && len(s.pods) == 0 {
		// Whatever it starts later will be new.
		return ""
	}
	old, stopping, fresh, ready := s.count(token)
	if s.template.Annotations[v1alpha1.AnnotationRestartedFor] != token {
		return s.untold(fresh > 0)
	}
	switch {
	case s.observed < s.object.GetGeneration():
		return s.held("its controller has not seen the restart yet")
	case old > 0 && stopping == old:
		return fmt.Sprintf("pods that were started before and are still stopping: %d", old)
	case old > 0:
		return s.held(fmt.Sprintf("pods that were started before: %d, stopping: %d", old, stopping))
	case s.oldReplicas > 0:
		return s.held(fmt.Sprintf("pods that were started before, by its status: %d", s.oldReplicas))
	case s.wanted > 0 && ready == 0:
		return "no new pod is ready yet" + s.trouble()
	}
	return ""
}

// untold says why the template does not bear the token. When pods do, it was there before.
func (s *State) untold(before bool) string {
	if before {
		return "the annotation " + v1alpha1.AnnotationRestartedFor + " is gone from its pod template: something else rewrites the template"
	}
	return s.held("it has not been told to restart yet")
}

// count counts the pods that were not started for token, those of them that are being deleted, the others, and the ready ones
// of these.
func (s *State) count(token string) (old, stopping, fresh, ready int) {
	for i := range s.pods {
		pod := &s.pods[i]
		switch {
		case pod.Annotations[v1alpha1.AnnotationRestartedFor] == token:
			fresh++
			if builders.PodReady(pod) {
				ready++
			}
		case pod.DeletionTimestamp != nil:
			stopping++
			old++
		default:
			old++
		}
	}
	return old, stopping, fresh, ready
}

// held adds to what is missing why it will stay so.
func (s *State) held(missing string) string {
	if s.holds == "" {
		return missing
	}
	return missing + "; " + s.holds
}

// trouble is what keeps new pods from being ready, as far as that has a name.
func (s *State) trouble() string {
	var reasons []string
	for i := range s.pods {
		for _, status := range s.pods[i].Status.ContainerStatuses {
			if waiting := status.State.Waiting; waiting != nil && waiting.Reason != "" {
				reasons = append(reasons, fmt.Sprintf("%s: %s", s.pods[i].Name, waiting.Reason))
			}
		}
		for _, condition := range s.pods[i].Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Reason == corev1.PodReasonUnschedulable {
				reasons = append(reasons, fmt.Sprintf("%s: %s", s.pods[i].Name, condition.Reason))
			}
		}
	}
	if len(reasons) == 0 {
		return ""
	}
	const enough = 3
	return fmt.Sprintf(" (%s)", strings.Join(reasons[:min(enough, len(reasons))], ", "))
}

// Restart has a workload replace its pods, by an annotation of its pod template. It writes only when that does not hold token
// yet, and not when the workload has changed since it was read.
func Restart(ctx context.Context, c client.Client, owner client.FieldOwner, state *State, token string) error {
	if state.Missing || state.template.Annotations[v1alpha1.AnnotationRestartedFor] == token {
		return nil
	}
	before, ok := state.object.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T cannot be copied", state.object)
	}
	if state.template.Annotations == nil {
		state.template.Annotations = map[string]string{}
	}
	state.template.Annotations[v1alpha1.AnnotationRestartedFor] = token
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(ctx, state.object, patch, owner); err != nil {
		state.take(before)
		return fmt.Errorf("restart %s: %w", state.name(), err)
	}
	state.take(state.object)
	return nil
}

package jobs

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	waitingLimit = 300
	// creating is why a container waits while its volumes are not there yet, for whatever reason.
	creating = "ContainerCreating"
)

// waiting says what keeps a Job that has not ended from running; empty when nothing is known to.
func waiting(ctx context.Context, live client.Reader, job *batchv1.Job, pods []corev1.Pod) (string, error) {
	if len(pods) == 0 {
		if job.Status.StartTime != nil && job.Status.Active == 0 && condition(job, batchv1.JobFailureTarget) == nil &&
			condition(job, batchv1.JobSuccessCriteriaMet) == nil {
			// Pod Security or a quota, for example. Only events tell.
			return fmt.Sprintf("Its pod could not be made: the events of the Job %s say why.", job.Name), nil
		}
		return "", nil
	}
	for i := range pods {
		text, err := podWaiting(ctx, live, &pods[i])
		if text != "" || err != nil {
			return text, err
		}
	}
	return "", nil
}

func podWaiting(ctx context.Context, live client.Reader, pod *corev1.Pod) (string, error) {
	if pod.Status.Phase != corev1.PodPending {
		return "", nil
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return sentence("Its pod has not been scheduled: " + named(condition.Reason, condition.Message)), nil
		}
	}
	for _, status := range pod.Status.ContainerStatuses {
		switch wait := status.State.Waiting; {
		case wait == nil:
		case wait.Reason == creating:
			return missingSource(ctx, live, pod)
		case wait.Reason != "":
			return sentence("Its pod cannot start: " + named(wait.Reason, wait.Message)), nil
		}
	}
	return "", nil
}

// missingSource names an object that a pod mounts and that does not exist, for a pod's status does not. Nothing in them is read.
func missingSource(ctx context.Context, live client.Reader, pod *corev1.Pod) (string, error) {
	for i := range pod.Spec.Volumes {
		var kind, name string
		switch volume := &pod.Spec.Volumes[i]; {
		case volume.Secret != nil:
			kind, name = "Secret", volume.Secret.SecretName
		case volume.ConfigMap != nil:
			kind, name = "ConfigMap", volume.ConfigMap.Name
		default:
			continue
		}
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
		err := live.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: name}, object)
		if apierrors.IsNotFound(err) {
			return fmt.Sprintf("Its pod cannot start: the %s %s does not exist.", kind, name), nil
		}
		if err != nil {
			return "", fmt.Errorf("read %s %s, which pod %s mounts: %w", kind, name, pod.Name, err)
		}
	}
	return "", nil
}

// sentence ends a text with one full stop.
func sentence(text string) string {
	text = clipped(text, waitingLimit)
	if slices.Contains([]rune{'.', '…', '!'}, []rune(text)[len([]rune(text))-1]) {
		return text
	}
	return text + "."
}

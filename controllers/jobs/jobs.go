// Package jobs looks at the Jobs that apply pools, and clears old ones away. It reads live: a Job that is missing from a cache
// may well be running.
package jobs

import (
	"context"
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
)

// Patch is what server-side apply makes a Job with.
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=list
// +kubebuilder:rbac:groups="",resources=secrets;configmaps,verbs=get

// Outcome is what has become of a run.
type Outcome struct {
	// Exists says that the run's Job is there, or a pod of it that may be running still.
	Exists bool
	// UID is the Job's.
	UID types.UID
	// Finished says that the Job has ended, and Succeeded that it did all it had to.
	Finished, Succeeded bool
	// Failure says why it did not, without secrets.
	Failure string
	// Waiting is a sentence about what keeps an unfinished Job from running; empty when nothing is known to.
	Waiting string
}

// Read says what has become of a run. An error says nothing about it.
func Read(ctx context.Context, live client.Reader, namespace string, run int32) (Outcome, error) {
	job := &batchv1.Job{}
	err := live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: builders.PoolUpdateName(run)}, job)
	if client.IgnoreNotFound(err) != nil {
		return Outcome{}, fmt.Errorf("read Job %s: %w", builders.PoolUpdateName(run), err)
	}
	gone := apierrors.IsNotFound(err)
	if !gone {
		if err := apply.OfOperator(job); err != nil {
			return Outcome{}, err
		}
	}
	pods := &corev1.PodList{}
	if err := live.List(ctx, pods, client.InNamespace(namespace), ofRun(run)); err != nil {
		return Outcome{}, fmt.Errorf("list the pods of Job %s: %w", builders.PoolUpdateName(run), err)
	}
	if gone {
		return withoutJob(pods.Items), nil
	}
	outcome := Outcome{Exists: true, UID: job.UID}
	own := podsOf(job, pods.Items)
	complete, failed := condition(job, batchv1.JobComplete), condition(job, batchv1.JobFailed)
	switch {
	case complete != nil:
		outcome.Finished, outcome.Succeeded = true, true
	case failed != nil:
		outcome.Finished, outcome.Failure = true, failure(failed, own)
	default:
		outcome.Waiting, err = waiting(ctx, live, job, own)
	}
	return outcome, err
}

// withoutJob is the outcome of a run whose Job is not there. When somebody deletes a Job, its pod goes on for a while, and must
// not be joined by another.
func withoutJob(pods []corev1.Pod) Outcome {
	for i := range pods {
		if !builders.PodEnded(&pods[i]) {
			return Outcome{Exists: true, Waiting: fmt.Sprintf("Its Job has been deleted, and its pod %s has not ended yet.", pods[i].Name)}
		}
	}
	return Outcome{}
}

// ofOperator chooses what the operator has made for any run.
func ofOperator() []client.ListOption {
	return []client.ListOption{
		client.HasLabels{v1alpha1.LabelPoolUpdateRun}, client.MatchingLabels{v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator},
	}
}

func ofRun(run int32) client.MatchingLabels {
	return client.MatchingLabels{
		v1alpha1.LabelPoolUpdateRun: strconv.Itoa(int(run)), v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator,
	}
}

// podsOf are the pods that a Job controls. Others bear its labels when an earlier Job had its number.
func podsOf(job *batchv1.Job, pods []corev1.Pod) []corev1.Pod {
	var own []corev1.Pod
	for i := range pods {
		if metav1.IsControlledBy(&pods[i], job) {
			own = append(own, pods[i])
		}
	}
	return own
}

// condition is a condition of a Job that is true; nil when it is not.
func condition(job *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		if c := &job.Status.Conditions[i]; c.Type == kind && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

func finished(job *batchv1.Job) bool {
	return condition(job, batchv1.JobComplete) != nil || condition(job, batchv1.JobFailed) != nil
}

package jobs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/controllers/apply"
)

func TestRead(t *testing.T) {
	uid := job(7).UID
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "designate-config"}}
	stranger := func(pod *corev1.Pod) { pod.OwnerReferences[0].UID = "uid-of-another" }
	noPod := func(job *batchv1.Job) { job.Status.Active = 0 }
	notStarted := func(job *batchv1.Job) { job.Status.StartTime, job.Status.Active = nil, 0 }
	for name, test := range map[string]struct {
		objects []client.Object
		want    Outcome
	}{
		"nothing is there":    {nil, Outcome{}},
		"another run's Job":   {[]client.Object{job(6, complete), pod(6, corev1.PodSucceeded)}, Outcome{}},
		"it has just begun":   {[]client.Object{job(7, notStarted)}, Outcome{Exists: true, UID: uid}},
		"it runs":             {[]client.Object{job(7), pod(7, corev1.PodRunning)}, Outcome{Exists: true, UID: uid}},
		"it is complete":      {[]client.Object{job(7, complete), pod(7, corev1.PodSucceeded)}, Outcome{Exists: true, UID: uid, Finished: true, Succeeded: true}},
		"its pod is gone":     {[]client.Object{job(7, complete)}, Outcome{Exists: true, UID: uid, Finished: true, Succeeded: true}},
		"only its pod ended":  {[]client.Object{job(7), pod(7, corev1.PodSucceeded)}, Outcome{Exists: true, UID: uid}},
		"only its pod failed": {[]client.Object{job(7), pod(7, corev1.PodFailed, exited(1, "Error", "x"))}, Outcome{Exists: true, UID: uid}},
		"it is not complete":  {[]client.Object{job(7, isNot(batchv1.JobComplete), isNot(batchv1.JobFailed))}, Outcome{Exists: true, UID: uid}},
		"it is about to fail": {
			[]client.Object{job(7, is(batchv1.JobFailureTarget, "DeadlineExceeded", "x")), pod(7, corev1.PodRunning)}, Outcome{Exists: true, UID: uid},
		},
		"it failed": {
			[]client.Object{job(7, failed), pod(7, corev1.PodFailed, exited(1, "Error", "first\nsecond\n"))},
			Outcome{Exists: true, UID: uid, Finished: true, Failure: "exit code 1: first | second"},
		},
		"it failed, and another Job's pod bears its number": {
			[]client.Object{job(7, failed), pod(7, corev1.PodFailed, exited(1, "Error", "not ours"), stranger)},
			Outcome{Exists: true, UID: uid, Finished: true, Failure: "BackoffLimitExceeded: Job has reached the specified backoff limit"},
		},
		"it took too long": {
			[]client.Object{job(7, late)},
			Outcome{Exists: true, UID: uid, Finished: true, Failure: "DeadlineExceeded: Job was active longer than specified deadline"},
		},
		"it took too long, and its pod is still there": {
			[]client.Object{job(7, late), pod(7, corev1.PodFailed, exited(143, "Error", "waiting for central"))},
			Outcome{Exists: true, UID: uid, Finished: true, Failure: "DeadlineExceeded: Job was active longer than specified deadline; exit code 143: waiting for central"},
		},
		"its Job was deleted, and its pod goes on": {
			[]client.Object{pod(7, corev1.PodRunning)},
			Outcome{Exists: true, Waiting: "Its Job has been deleted, and its pod designate-pool-update-7-x7k2p has not ended yet."},
		},
		"its Job was deleted, and its pod has ended": {[]client.Object{pod(7, corev1.PodFailed)}, Outcome{}},
		"no pod could be made": {
			[]client.Object{job(7, noPod)},
			Outcome{Exists: true, UID: uid, Waiting: "Its pod could not be made: the events of the Job designate-pool-update-7 say why."},
		},
		"no pod is left, for it is about to fail": {
			[]client.Object{job(7, noPod, is(batchv1.JobFailureTarget, "x", "x"))}, Outcome{Exists: true, UID: uid},
		},
		"no pod is left, for it is about to be complete": {
			[]client.Object{job(7, noPod, is(batchv1.JobSuccessCriteriaMet, "x", "x"))}, Outcome{Exists: true, UID: uid},
		},
		"its pod cannot be scheduled": {
			[]client.Object{job(7), pod(7, corev1.PodPending, podCondition(corev1.PodScheduled, corev1.ConditionFalse, "Unschedulable", "0/3 nodes are available."))},
			Outcome{Exists: true, UID: uid, Waiting: "Its pod has not been scheduled: Unschedulable: 0/3 nodes are available."},
		},
		"its pod has been scheduled": {
			[]client.Object{job(7), pod(7, corev1.PodPending, podCondition(corev1.PodScheduled, corev1.ConditionTrue, "", ""))}, Outcome{Exists: true, UID: uid},
		},
		"its image cannot be pulled": {
			[]client.Object{job(7), pod(7, corev1.PodPending, waits("ImagePullBackOff", "Back-off pulling image \"https://me:secret@registry.example.org/x\""))},
			Outcome{Exists: true, UID: uid, Waiting: "Its pod cannot start: ImagePullBackOff: Back-off pulling image \"https://***@registry.example.org/x\"."},
		},
		"its container cannot be made": {
			[]client.Object{job(7), pod(7, corev1.PodPending, waits("CreateContainerConfigError", "container has runAsNonRoot and image will run as root"))},
			Outcome{Exists: true, UID: uid, Waiting: "Its pod cannot start: CreateContainerConfigError: container has runAsNonRoot and image will run as root."},
		},
		"its pod is being made": {
			[]client.Object{job(7), pod(7, corev1.PodPending, waits("ContainerCreating", "")), secret, input(7)}, Outcome{Exists: true, UID: uid},
		},
		"the Secret with the configuration is missing": {
			[]client.Object{job(7), pod(7, corev1.PodPending, waits("ContainerCreating", "")), input(7)},
			Outcome{Exists: true, UID: uid, Waiting: "Its pod cannot start: the Secret designate-config does not exist."},
		},
		"its input is missing": {
			[]client.Object{job(7), pod(7, corev1.PodPending, waits("ContainerCreating", "")), secret},
			Outcome{Exists: true, UID: uid, Waiting: "Its pod cannot start: the ConfigMap designate-pool-update-7 does not exist."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, outcomeOf(t, 7, test.objects...)); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnErrorIsNeverAnOutcome(t *testing.T) {
	creating := server(job(7), pod(7, corev1.PodPending, waits("ContainerCreating", "")))
	for name, live := range map[string]client.Reader{
		"the Job cannot be read":             brokenGets(server(job(7, complete)), &batchv1.Job{}),
		"the pods cannot be listed":          brokenLists(server(), &corev1.PodList{}),
		"the pods of a failure are unknown":  brokenLists(server(job(7, failed)), &corev1.PodList{}),
		"what a pod mounts cannot be looked": brokenGets(creating, &metav1.PartialObjectMetadata{}),
	} {
		t.Run(name, func(t *testing.T) {
			outcome, err := Read(t.Context(), live, namespace, 7)
			if !apierrors.IsInternalError(err) || outcome.Finished || outcome.Waiting != "" {
				t.Errorf("outcome %+v, error %v", outcome, err)
			}
		})
	}
}

// TestAForeignJobIsNotBelieved: a Job of that name which the operator has not made says nothing about a run.
func TestAForeignJobIsNotBelieved(t *testing.T) {
	outcome, err := Read(t.Context(), server(job(7, complete, func(job *batchv1.Job) { job.Labels = nil })), namespace, 7)
	if !apply.IsNameTaken(err) || outcome.Succeeded {
		t.Errorf("outcome %+v, error %v", outcome, err)
	}
}

package jobs

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
)

const namespace = "dns"

var errBroken = apierrors.NewInternalError(errors.New("etcd is down"))

func meta(run int32, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{
			v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator, v1alpha1.LabelPoolUpdateRun: strconv.Itoa(int(run)),
		},
	}
}

type jobChange func(*batchv1.Job)

// job is a run's, which has begun and made its pod.
func job(run int32, changes ...jobChange) *batchv1.Job {
	result := &batchv1.Job{
		ObjectMeta: meta(run, builders.PoolUpdateName(run)),
		Status:     batchv1.JobStatus{StartTime: ptr.To(metav1.Now()), Active: 1},
	}
	for _, change := range changes {
		change(result)
	}
	return result
}

func is(kind batchv1.JobConditionType, reason, message string) jobChange {
	return func(job *batchv1.Job) {
		job.Status.Conditions = append(job.Status.Conditions,
			batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message})
	}
}

func isNot(kind batchv1.JobConditionType) jobChange {
	return func(job *batchv1.Job) {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionFalse})
	}
}

var (
	complete = is(batchv1.JobComplete, "CompletionsReached", "Reached expected number of succeeded pods")
	failed   = is(batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
	late     = is(batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
)

func input(run int32) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: meta(run, builders.PoolUpdateName(run))}
}

type podChange func(*corev1.Pod)

// pod is that of a run's Job, which mounts what the builders have it mount.
func pod(run int32, phase corev1.PodPhase, changes ...podChange) *corev1.Pod {
	result := &corev1.Pod{
		ObjectMeta: meta(run, builders.PoolUpdateName(run)+"-x7k2p"),
		Spec: corev1.PodSpec{Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "designate-config"}}},
			{Name: "input", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: builders.PoolUpdateName(run)},
			}}},
			{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		}},
		Status: corev1.PodStatus{Phase: phase},
	}
	result.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "batch/v1", Kind: "Job", Name: builders.PoolUpdateName(run), UID: job(run).UID, Controller: ptr.To(true),
	}}
	for _, change := range changes {
		change(result)
	}
	return result
}

func exited(code int32, reason, message string) podChange {
	return func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message},
		}}}
	}
}

func waits(reason, message string) podChange {
	return func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message},
		}}}
	}
}

func podCondition(kind corev1.PodConditionType, status corev1.ConditionStatus, reason, message string) podChange {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = append(pod.Status.Conditions,
			corev1.PodCondition{Type: kind, Status: status, Reason: reason, Message: message})
	}
}

func server(objects ...client.Object) client.WithWatch {
	return fake.NewClientBuilder().WithObjects(objects...).Build()
}

// brokenLists is a server whose every list of one kind fails.
func brokenLists(c client.WithWatch, kind client.ObjectList) client.WithWatch {
	return interceptor.NewClient(c, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if sameType(list, kind) {
				return errBroken
			}
			return c.List(ctx, list, options...)
		},
	})
}

// brokenGets is a server whose every read of one kind fails.
func brokenGets(c client.WithWatch, kind client.Object) client.WithWatch {
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if sameType(object, kind) {
				return errBroken
			}
			return c.Get(ctx, key, object, options...)
		},
	})
}

func outcomeOf(t *testing.T, run int32, objects ...client.Object) Outcome {
	t.Helper()
	outcome, err := Read(t.Context(), server(objects...), namespace, run)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func sameType(a, b any) bool { return reflect.TypeOf(a) == reflect.TypeOf(b) }

package workers

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

const (
	namespace = "dns"
	token     = "7-1700000000"
	name      = "designate-worker"
)

var labels = map[string]string{"app": "designate-worker"}

// template is a pod template that bears a token, or none when that is empty.
func template(token string) corev1.PodTemplateSpec {
	result := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "worker", Image: "registry.example.org/designate"}}},
	}
	if token != "" {
		result.Annotations = map[string]string{v1alpha1.AnnotationRestartedFor: token}
	}
	return result
}

func meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "uid-worker", Generation: 3}
}

// deployment is one of two replicas whose controller has seen it as it is.
func deployment(token string, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	result := &appsv1.Deployment{
		ObjectMeta: meta(),
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](2), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template(token),
		},
		Status: appsv1.DeploymentStatus{ObservedGeneration: 3, Replicas: 2, UpdatedReplicas: 2},
	}
	for _, change := range changes {
		change(result)
	}
	return result
}

func statefulSet(token string, changes ...func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	result := &appsv1.StatefulSet{
		ObjectMeta: meta(),
		Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To[int32](2), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template(token),
		},
		Status: appsv1.StatefulSetStatus{ObservedGeneration: 3},
	}
	for _, change := range changes {
		change(result)
	}
	return result
}

func daemonSet(token string, changes ...func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	result := &appsv1.DaemonSet{
		ObjectMeta: meta(),
		Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template(token)},
		Status:     appsv1.DaemonSetStatus{ObservedGeneration: 3, DesiredNumberScheduled: 2},
	}
	for _, change := range changes {
		change(result)
	}
	return result
}

type podChange func(*corev1.Pod)

// pod is one that bears a token and is not ready.
func pod(name, token string, changes ...podChange) *corev1.Pod {
	result := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels, Annotations: template(token).Annotations},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, change := range changes {
		change(result)
	}
	return result
}

func ready(pod *corev1.Pod) {
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

func terminating(pod *corev1.Pod) {
	pod.DeletionTimestamp, pod.Finalizers = ptr.To(metav1.Now()), []string{"example.org/held"}
}

func inPhase(phase corev1.PodPhase) podChange {
	return func(pod *corev1.Pod) { pod.Status.Phase = phase }
}

func waitingFor(reason string) podChange {
	return func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: reason},
		}}}
	}
}

func controlledBy(kind, name string) podChange {
	return func(pod *corev1.Pod) {
		pod.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "example.org/v1", Kind: kind, Name: name, UID: types.UID("uid-" + name), Controller: ptr.To(true),
		}}
	}
}

func server(objects ...client.Object) client.WithWatch {
	return fake.NewClientBuilder().WithObjects(objects...).Build()
}

// workloadOf is the workload that an object is.
func workloadOf(object client.Object) v1alpha1.Workload {
	kind := v1alpha1.WorkloadDeployment
	switch object.(type) {
	case *appsv1.StatefulSet:
		kind = v1alpha1.WorkloadStatefulSet
	case *appsv1.DaemonSet:
		kind = v1alpha1.WorkloadDaemonSet
	}
	return v1alpha1.Workload{Kind: kind, Name: object.GetName()}
}

// read reads one workload.
func read(t *testing.T, live client.Reader, workload v1alpha1.Workload) *State {
	t.Helper()
	states, err := Read(context.Background(), live, namespace, []v1alpha1.Workload{workload})
	if err != nil || len(states) != 1 {
		t.Fatalf("read %v: %v, error %v", workload, states, err)
	}
	return &states[0]
}

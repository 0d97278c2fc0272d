package killpoints

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// oneAtATime keeps the worlds from running pool updates beside each other, which one operator never does.
var oneAtATime sync.Mutex

// runJobs plays the kubelet for Jobs: it does what their pods would do, on the real Designate, and ends the pods.
func (w *world) runJobs(ctx context.Context) {
	for ctx.Err() == nil {
		var pods corev1.PodList
		if err := kube.List(ctx, &pods, client.InNamespace(w.namespace), client.HasLabels{v1alpha1.LabelPoolUpdateRun}); err == nil {
			for i := range pods.Items {
				if pods.Items[i].Status.Phase == corev1.PodRunning {
					w.runJob(ctx, &pods.Items[i])
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (w *world) runJob(ctx context.Context, pod *corev1.Pod) {
	input := &corev1.ConfigMap{}
	name := fmt.Sprintf("designate-pool-update-%s", pod.Labels[v1alpha1.LabelPoolUpdateRun])
	if err := kube.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, input); err != nil {
		return // Next time.
	}
	oneAtATime.Lock()
	update, err := stack.PoolUpdate(ctx, input.Data["pools.yaml"])
	oneAtATime.Unlock()
	if err != nil {
		return
	}
	pod.Status.Phase = corev1.PodSucceeded
	if update.ExitCode != 0 {
		pod.Status.Phase = corev1.PodFailed
	}
	now := metav1.Now()
	pod.Status.ContainerStatuses[0].Ready = false
	pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: int32(update.ExitCode), StartedAt: now, FinishedAt: now,
	}}
	_ = kube.Status().Update(ctx, pod) // What fails is done again.
}

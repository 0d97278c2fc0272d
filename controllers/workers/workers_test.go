package workers

import (
	"context"
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

func replicas(n int32) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		d.Spec.Replicas, d.Status.Replicas, d.Status.UpdatedReplicas = ptr.To(n), n, n
	}
}

func paused(d *appsv1.Deployment)  { d.Spec.Paused = true }
func unseen(d *appsv1.Deployment)  { d.Status.ObservedGeneration = 2 }
func oneOld(d *appsv1.Deployment)  { d.Status.UpdatedReplicas = 1 }
func onDelete(s *appsv1.DaemonSet) { s.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType }
func nowhere(s *appsv1.DaemonSet)  { s.Status.DesiredNumberScheduled = 0 }
func byHand(s *appsv1.StatefulSet) {
	s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
}
func partial(s *appsv1.StatefulSet) {
	s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](1)}
}

func pods(all ...client.Object) []client.Object { return all }

func TestRestarted(t *testing.T) {
	const gone = "something else rewrites the template"
	for name, test := range map[string]struct {
		workload client.Object
		pods     []client.Object
		// why is what the reason has in it; empty when the restart is over.
		why string
	}{
		"every pod is new and ready": {
			deployment(token), pods(pod("a", token, ready), pod("b", token, ready)), "",
		},
		"one new pod that is ready is enough": {
			deployment(token), pods(pod("a", token, ready), pod("b", token)), "",
		},
		"a StatefulSet": {statefulSet(token), pods(pod("a", token, ready)), ""},
		"a DaemonSet":   {daemonSet(token), pods(pod("a", token, ready)), ""},
		"nothing has been done yet": {
			deployment(""), pods(pod("a", "", ready)), "Deployment designate-worker: it has not been told to restart yet.",
		},
		"the last restart is not this one": {
			deployment("6-1600000000"), pods(pod("a", "6-1600000000", ready)), "not been told",
		},
		"the annotation was taken off again": {
			deployment(""), pods(pod("a", token, ready)), gone,
		},
		"the annotation was taken off again, and old pods came back": {
			deployment(""), pods(pod("a", token, ready), pod("b", "")), gone,
		},
		"the controller has not seen it": {
			deployment(token, unseen), pods(pod("a", token, ready)), "its controller has not seen the restart yet",
		},
		"an old pod runs": {
			deployment(token), pods(pod("a", token, ready), pod("b", ""), pod("c", "", terminating)),
			"pods that were started before: 2, stopping: 1.",
		},
		"an old pod is still stopping": {
			deployment(token), pods(pod("a", token, ready), pod("b", "", terminating)), "started before and are still stopping: 1.",
		},
		"old pods that have ended do not count": {
			deployment(token), pods(pod("a", token, ready), pod("b", "", inPhase(corev1.PodFailed)), pod("c", "", inPhase(corev1.PodSucceeded))), "",
		},
		"an old pod whose node does not answer counts": {
			deployment(token), pods(pod("a", token, ready), pod("b", "", inPhase(corev1.PodUnknown))), "started before: 1",
		},
		"an old pod is about to be made again": {
			deployment(token, oneOld), pods(pod("a", token, ready)), "started before, by its status: 1",
		},
		"no new pod is ready": {
			deployment(token), pods(pod("a", token), pod("b", token)), "Deployment designate-worker: no new pod is ready yet.",
		},
		"no new pod is there":                     {deployment(token), nil, "no new pod is ready yet"},
		"a new pod that is ready and stops again": {deployment(token), pods(pod("a", token, ready, terminating)), "no new pod is ready yet"},
		"new pods crash":                          {deployment(token), pods(pod("a", token, waitingFor("CrashLoopBackOff"))), "(a: CrashLoopBackOff)"},
		"no replica is wanted, and none is there": {deployment("", replicas(0)), nil, ""},
		"no replica is wanted, and an old one is stopping": {
			deployment(token, replicas(0)), pods(pod("a", "", terminating)), "still stopping: 1",
		},
		"no replica is wanted, and a new one is stopping": {
			deployment(token, replicas(0)), pods(pod("a", token, terminating)), "",
		},
		"a DaemonSet that wants no pod":         {daemonSet("", nowhere), nil, ""},
		"a paused Deployment":                   {deployment(token, paused), pods(pod("a", "", ready)), "started before: 1, stopping: 0; it is paused: resume it."},
		"a paused Deployment with new pods":     {deployment(token, paused), pods(pod("a", token, ready)), ""},
		"a DaemonSet that waits for people":     {daemonSet(token, onDelete), pods(pod("a", "", ready)), "OnDelete: delete its pods"},
		"a StatefulSet that waits for people":   {statefulSet(token, byHand), pods(pod("a", "", ready)), "OnDelete: delete its pods"},
		"a StatefulSet with a partition":        {statefulSet(token, partial), pods(pod("a", "", ready)), "has the partition 1"},
		"a pod of a Job with the same labels":   {deployment(token), pods(pod("a", token, ready), pod("b", "", controlledBy("Job", "b"))), ""},
		"a pod of another StatefulSet":          {statefulSet(token), pods(pod("a", token, ready), pod("b", "", controlledBy("StatefulSet", "b"))), ""},
		"a pod of the same name's earlier self": {statefulSet(token), pods(pod("a", token, ready), pod("b", "", controlledBy("StatefulSet", "designate-worker"))), "started before: 1"},
		"a pod of an older ReplicaSet":          {deployment(token), pods(pod("a", token, ready), pod("b", "", controlledBy("ReplicaSet", "b"))), "started before: 1"},
	} {
		t.Run(name, func(t *testing.T) {
			state := read(t, server(append(test.pods, test.workload)...), workloadOf(test.workload))
			done, why := state.Restarted(token)
			if done != (test.why == "") || done != (why == "") || !strings.Contains(why, test.why) {
				t.Errorf("done: %v, why: %q, want %q", done, why, test.why)
			}
		})
	}
}

func TestPodsThatTheSelectorDoesNotChooseDoNotCount(t *testing.T) {
	other, elsewhere := pod("b", ""), pod("c", "")
	other.Labels = map[string]string{"app": "designate-api"}
	elsewhere.Namespace = "other"
	state := read(t, server(deployment(token), pod("a", token, ready), other, elsewhere), workloadOf(deployment(token)))
	if done, why := state.Restarted(token); !done {
		t.Error(why)
	}
}

func TestAMissingWorkloadIsNoError(t *testing.T) {
	for kind, named := range map[v1alpha1.WorkloadKind]string{
		"": "Deployment gone: ", v1alpha1.WorkloadDeployment: "Deployment gone: ",
		v1alpha1.WorkloadStatefulSet: "StatefulSet gone: ", v1alpha1.WorkloadDaemonSet: "DaemonSet gone: ",
	} {
		c := server(deployment(token), statefulSet(token), daemonSet(token))
		state := read(t, c, v1alpha1.Workload{Kind: kind, Name: "gone"})
		if !state.Missing {
			t.Errorf("%s: it is there", kind)
		}
		if done, why := state.Restarted(token); done || !strings.HasPrefix(why, named) {
			t.Errorf("%s: done %v, why %q", kind, done, why)
		}
		if message := KeysMounted(state, "keys", "/keys"); !strings.HasPrefix(message, named) {
			t.Errorf("%s: keys: %q", kind, message)
		}
		if err := Restart(context.Background(), c, "test", state, token); err != nil {
			t.Errorf("%s: restart: %v", kind, err)
		}
	}
}

func TestEveryWorkloadIsReadInOrder(t *testing.T) {
	c := server(deployment(""), daemonSet(token), pod("a", token, ready))
	states, err := Read(context.Background(), c, namespace, []v1alpha1.Workload{
		{Kind: v1alpha1.WorkloadDaemonSet, Name: name}, {Kind: v1alpha1.WorkloadStatefulSet, Name: name}, {Name: name},
	})
	if err != nil || len(states) != 3 {
		t.Fatal(states, err)
	}
	daemon, _ := states[0].Restarted(token)
	deploy, _ := states[2].Restarted(token)
	if !daemon || !states[1].Missing || deploy || states[2].Missing {
		t.Errorf("DaemonSet done: %v, StatefulSet missing: %v, Deployment done: %v", daemon, states[1].Missing, deploy)
	}
}

func TestAnErrorIsNeverAnAbsence(t *testing.T) {
	broken := apierrors.NewInternalError(errors.New("etcd is down"))
	for name, funcs := range map[string]interceptor.Funcs{
		"the workload cannot be read": {Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return broken
		}},
		"the pods cannot be listed": {List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return broken
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := interceptor.NewClient(server(deployment(token)), funcs)
			states, err := Read(context.Background(), c, namespace, []v1alpha1.Workload{workloadOf(deployment(token))})
			if !apierrors.IsInternalError(err) || states != nil || !strings.Contains(err.Error(), "Deployment designate-worker") {
				t.Errorf("states %v, error %v", states, err)
			}
		})
	}
	if states, err := Read(context.Background(), server(), namespace, []v1alpha1.Workload{{Kind: "CronJob", Name: name}}); err == nil {
		t.Errorf("a kind that is not known: %v", states)
	}
	wrong := deployment(token, func(d *appsv1.Deployment) {
		d.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
	})
	if states, err := Read(context.Background(), server(wrong), namespace, []v1alpha1.Workload{workloadOf(wrong)}); err == nil {
		t.Errorf("a selector that is not one: %v", states)
	}
}

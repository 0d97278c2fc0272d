// Package workers looks at Designate's workers, which are workloads of other people, and restarts them. Of such a workload it
// changes one annotation of the pod template and nothing else.
//
// A worker reads the servers of a pool once, when it starts. So it matters that none is left which was started before, stopping
// ones included; that new ones are there is only so that somebody does the work.
package workers

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
)

// +kubebuilder:rbac:groups=apps,resources=deployments;daemonsets;statefulsets,verbs=get;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list

// State is one workload as it was read.
type State struct {
	// Workload says which one it is.
	Workload v1alpha1.Workload
	// Missing says that there is none of that name.
	Missing bool

	// object is the workload, template its own pod template.
	object   client.Object
	template *corev1.PodTemplateSpec
	selector *metav1.LabelSelector
	// observed is the generation that its controller has seen.
	observed int64
	// wanted is how many pods it should have.
	wanted int32
	// holds says what keeps its controller from replacing pods.
	holds string
	// oldReplicas is how many pods its controller counts that are not made from its template.
	oldReplicas int32
	// pods are those that may be running.
	pods []corev1.Pod
}

// Read reads workloads, and their pods, live. An error says nothing about any of them.
func Read(ctx context.Context, live client.Reader, namespace string, workloads []v1alpha1.Workload) ([]State, error) {
	states := make([]State, 0, len(workloads))
	for _, workload := range workloads {
		state := State{Workload: workload}
		if err := state.read(ctx, live, namespace); err != nil {
			return nil, fmt.Errorf("read %s: %w", state.name(), err)
		}
		states = append(states, state)
	}
	return states, nil
}

func (s *State) read(ctx context.Context, live client.Reader, namespace string) error {
	object, err := s.kind()
	if err != nil {
		return err
	}
	err = live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: s.Workload.Name}, object)
	if apierrors.IsNotFound(err) {
		s.Missing = true
		return nil
	}
	if err != nil {
		return err
	}
	s.take(object)
	selector, err := metav1.LabelSelectorAsSelector(s.selector)
	if err != nil {
		return fmt.Errorf("its selector: %w", err)
	}
	// After the workload, so that no pod is missed that was made meanwhile.
	pods := &corev1.PodList{}
	if err := live.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return fmt.Errorf("its pods: %w", err)
	}
	for i := range pods.Items {
		if s.owns(&pods.Items[i]) && !builders.PodEnded(&pods.Items[i]) {
			s.pods = append(s.pods, pods.Items[i])
		}
	}
	return nil
}

// kind is an empty object of the workload's kind.
func (s *State) kind() (client.Object, error) {
	switch s.Workload.Kind {
	case v1alpha1.WorkloadDeployment, "":
		return &appsv1.Deployment{}, nil
	case v1alpha1.WorkloadStatefulSet:
		return &appsv1.StatefulSet{}, nil
	case v1alpha1.WorkloadDaemonSet:
		return &appsv1.DaemonSet{}, nil
	default:
		return nil, fmt.Errorf("the kind %q is not known", s.Workload.Kind)
	}
}

// take takes from a workload what the three kinds have under different names.
func (s *State) take(object client.Object) {
	s.object, s.holds = object, ""
	switch o := object.(type) {
	case *appsv1.Deployment:
		s.template, s.selector, s.observed = &o.Spec.Template, o.Spec.Selector, o.Status.ObservedGeneration
		s.wanted, s.oldReplicas = ptr.Deref(o.Spec.Replicas, 1), o.Status.Replicas-o.Status.UpdatedReplicas
		if o.Spec.Paused {
			s.holds = "it is paused: resume it"
		}
	case *appsv1.StatefulSet:
		s.template, s.selector, s.observed = &o.Spec.Template, o.Spec.Selector, o.Status.ObservedGeneration
		s.wanted = ptr.Deref(o.Spec.Replicas, 1)
		rolling := o.Spec.UpdateStrategy.RollingUpdate
		if o.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
			s.holds = holdsOnDelete
		} else if rolling != nil && ptr.Deref(rolling.Partition, 0) > 0 {
			s.holds = fmt.Sprintf("its update strategy has the partition %d, so that older pods stay: set it to 0", *rolling.Partition)
		}
	case *appsv1.DaemonSet:
		s.template, s.selector, s.observed = &o.Spec.Template, o.Spec.Selector, o.Status.ObservedGeneration
		s.wanted = o.Status.DesiredNumberScheduled
		if o.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
			s.holds = holdsOnDelete
		}
	}
}

const holdsOnDelete = "its update strategy is OnDelete: delete its pods"

// owns says whether a pod that the selector chooses may be the workload's. One that something else controls is not, such as
// a Job's that bears the same labels; nothing would ever replace it. It goes by name, so that pods of a workload that was made
// anew still count.
func (s *State) owns(pod *corev1.Pod) bool {
	controller := metav1.GetControllerOf(pod)
	switch {
	case controller == nil:
		return true
	case s.Workload.Kind == v1alpha1.WorkloadStatefulSet, s.Workload.Kind == v1alpha1.WorkloadDaemonSet:
		return controller.Kind == string(s.Workload.Kind) && controller.Name == s.Workload.Name
	default:
		return controller.Kind == "ReplicaSet"
	}
}

// name is what people call the workload.
func (s *State) name() string {
	kind := s.Workload.Kind
	if kind == "" {
		kind = v1alpha1.WorkloadDeployment
	}
	return string(kind) + " " + s.Workload.Name
}

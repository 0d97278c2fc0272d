package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Holding works at admission, so that it is settled before a pod exists: a policy of the API server puts an annotation
// on every new pod that the ConfigMap of held pods lists, and kwok leaves pods with that annotation alone.
const (
	holdAnnotation = "test.designate.openstack.org/hold"
	heldPodsName   = "held-pods"
)

// HoldPods keeps pods that are yet to be created from ever becoming ready, until they are released. When it returns,
// the hold is in force. Pods that exist already are left alone: see SetPodReady for those.
func (cp *ControlPlane) HoldPods(ctx context.Context, namespace string, names ...string) error {
	changes := map[string]*string{}
	for _, name := range names {
		changes[heldKey(namespace, name)] = ptr.To("")
	}
	return cp.setHeld(ctx, changes)
}

// ReleasePods ends the hold on pods, whether they exist or not.
func (cp *ControlPlane) ReleasePods(ctx context.Context, namespace string, names ...string) error {
	changes := map[string]*string{}
	for _, name := range names {
		changes[heldKey(namespace, name)] = nil
	}
	if err := cp.setHeld(ctx, changes); err != nil {
		return err
	}
	for _, name := range names {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, holdAnnotation))
		if err := cp.client.Patch(ctx, pod, patch); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("releasing pod %s/%s: %w", namespace, name, err)
		}
	}
	return nil
}

// SetPodReady makes a running pod unready, as a failing probe would, or ready again. It stays so until the next call.
func (cp *ControlPlane) SetPodReady(ctx context.Context, namespace, name string, ready bool) error {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		var pod corev1.Pod
		if err := cp.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &pod); err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("it is %s, not %s", pod.Status.Phase, corev1.PodRunning)
		}
		for i := range pod.Status.Conditions {
			condition := &pod.Status.Conditions[i]
			if condition.Type != corev1.PodReady && condition.Type != corev1.ContainersReady {
				continue
			}
			if condition.Status != status {
				condition.Status, condition.LastTransitionTime = status, metav1.Now()
			}
		}
		for i := range pod.Status.ContainerStatuses {
			pod.Status.ContainerStatuses[i].Ready = ready
		}
		return cp.client.Status().Update(ctx, &pod)
	})
	if err != nil {
		return fmt.Errorf("setting readiness of pod %s/%s: %w", namespace, name, err)
	}
	return nil
}

// setHeld changes the list of held pods, and waits until the API server goes by it. Policies and their parameters reach
// the admission chain by a watch. So each change also lists a pod of a name never used before: once a dry run of its
// creation is held, the rest of the change is in force too.
func (cp *ControlPlane) setHeld(ctx context.Context, changes map[string]*string) error {
	cp.holdMutex.Lock()
	defer cp.holdMutex.Unlock()
	probe := "probe-" + rand.String(10)
	data := map[string]*string{heldKey(metav1.NamespaceDefault, probe): ptr.To("")}
	if cp.lastProbe != "" {
		data[heldKey(metav1.NamespaceDefault, cp.lastProbe)] = nil
	}
	maps.Copy(data, changes)
	patch, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		return err
	}
	held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: heldPodsName}}
	if err := cp.client.Patch(ctx, held, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("changing the list of held pods: %w", err)
	}
	cp.lastProbe = probe
	return cp.waitUntil(ctx, "the list of held pods is in force", func(ctx context.Context) error {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: probe},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: "probe"}}},
		}
		if err := cp.client.Create(ctx, pod, client.DryRunAll); err != nil {
			return err
		}
		if _, isHeld := pod.Annotations[holdAnnotation]; !isHeld {
			return errors.New("a listed pod was not held")
		}
		return nil
	})
}

// heldKey is unambiguous: a namespace has no dots.
func heldKey(namespace, name string) string { return namespace + "." + name }

// holdObjects are the policy that marks held pods, and the list, still empty, of which pods are held.
func holdObjects() []client.Object {
	return []client.Object{
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: heldPodsName}},
		&admissionregistrationv1.MutatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: heldPodsName},
			Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
				ParamKind: &admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"},
				MatchConstraints: &admissionregistrationv1.MatchResources{
					ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
						RuleWithOperations: admissionregistrationv1.RuleWithOperations{
							Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
							Rule: admissionregistrationv1.Rule{
								APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"},
							},
						},
					}},
				},
				MatchConditions: []admissionregistrationv1.MatchCondition{{
					Name:       "held",
					Expression: `(request.namespace + '.' + object.metadata.?name.orValue('')) in params.?data.orValue({})`,
				}},
				FailurePolicy:      ptr.To(admissionregistrationv1.Fail),
				ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
				Mutations: []admissionregistrationv1.Mutation{{
					PatchType: admissionregistrationv1.PatchTypeApplyConfiguration,
					ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{
						Expression: `Object{metadata: Object.metadata{annotations: {'` + holdAnnotation + `': 'true'}}}`,
					},
				}},
			},
		},
		&admissionregistrationv1.MutatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: heldPodsName},
			Spec: admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{
				PolicyName: heldPodsName,
				ParamRef: &admissionregistrationv1.ParamRef{
					Name: heldPodsName, Namespace: metav1.NamespaceSystem,
					ParameterNotFoundAction: ptr.To(admissionregistrationv1.DenyAction),
				},
			},
		},
	}
}

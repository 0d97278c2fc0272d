package builders

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// DisruptionBudget lets a drain take one server of a pool at a time, counting those of both StatefulSets during a
// migration. A server that is not ready anyway never holds up a drain.
func DisruptionBudget(pool *Pool) *policyv1ac.PodDisruptionBudgetApplyConfiguration {
	return policyv1ac.PodDisruptionBudget(DisruptionBudgetName(pool.Index), pool.Namespace).
		WithLabels(pool.labels()).
		WithAnnotations(pool.annotations()).
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().
			WithMaxUnavailable(intstr.FromInt32(1)).
			WithUnhealthyPodEvictionPolicy(policyv1.AlwaysAllow).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(map[string]string{
				v1alpha1.LabelPoolUID: string(pool.UID),
				labelAppComponent:     appComponent,
			})))
}

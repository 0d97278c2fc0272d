package operator_test

import (
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// snapshot is everything of one pool that a neighbour must not change: its objects with their UIDs, specs and data, its
// claims, the numbers of its servers, and its entry in pools.yaml.
func (w *world) snapshot(pool string) map[string]string {
	GinkgoHelper()
	seen := map[string]string{}
	for _, list := range []client.ObjectList{
		&appsv1.StatefulSetList{}, &corev1.ServiceList{}, &corev1.ConfigMapList{}, &corev1.SecretList{},
		&policyv1.PodDisruptionBudgetList{}, &corev1.PersistentVolumeClaimList{}, &corev1.PodList{},
	} {
		Expect(kube.List(w, list, client.InNamespace(w.namespace), client.MatchingLabels{v1alpha1.LabelPool: pool})).To(Succeed())
		Expect(meta.EachListItem(list, func(item runtime.Object) error {
			object, ok := item.(client.Object)
			Expect(ok).To(BeTrue())
			seen[fmt.Sprintf("%T %s", object, object.GetName())] = string(object.GetUID()) + " " + contentOf(object)
			return nil
		})).To(Succeed())
	}
	Expect(seen).NotTo(BeEmpty(), "pool %s has no objects to compare", pool)
	seen["servers"] = text(w.pool(pool).Status.Servers)
	seen["index"] = text(w.pool(pool).Status.Index)
	for _, entry := range w.poolsYAML() {
		if entry.Name == w.pool(pool).PoolName() {
			seen["pools.yaml"] = text(entry)
		}
	}
	return seen
}

// contentOf is what an object says, without the metadata that any write changes.
func contentOf(object client.Object) string {
	switch o := object.(type) {
	case *appsv1.StatefulSet:
		return text(o.Spec)
	case *corev1.Service:
		return text(o.Spec)
	case *corev1.ConfigMap:
		return text(o.Data)
	case *corev1.Secret:
		return text(o.Data)
	case *policyv1.PodDisruptionBudget:
		return text(o.Spec)
	case *corev1.Pod:
		return text(o.Spec.Containers)
	default:
		return ""
	}
}

func text(value any) string {
	GinkgoHelper()
	encoded, err := json.Marshal(value)
	Expect(err).NotTo(HaveOccurred())
	return string(encoded)
}

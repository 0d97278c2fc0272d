package sweep

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/removal"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// factsOf is what objects tell of the pool that they belonged to. Where they contradict each other they tell nothing.
func factsOf(namespace string, objects []client.Object) removal.Orphan {
	var facts removal.Orphan
	names, ids := map[string]bool{}, map[string]bool{}
	for _, object := range objects {
		switch object.(type) {
		case *appsv1.StatefulSet, *corev1.Pod:
			facts.Serves = true
		}
		if name := object.GetAnnotations()[v1alpha1.AnnotationPoolName]; name != "" {
			names[name] = true
		}
		if id := object.GetAnnotations()[v1alpha1.AnnotationPoolID]; id != "" {
			ids[id] = true
		}
	}
	facts.Name, facts.ID = only(names), only(ids)
	if facts.ID == "" && len(ids) == 0 && facts.Name != "" {
		facts.ID = conversion.PoolID(namespace, facts.Name)
	}
	if len(names) > 1 || len(ids) > 1 {
		facts.Name, facts.ID = "", ""
	}
	return facts
}

// only is the one element of a set; empty when there are none or several.
func only(set map[string]bool) string {
	if len(set) != 1 {
		return ""
	}
	for element := range set {
		return element
	}
	return ""
}

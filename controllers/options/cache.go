package options

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// CacheOptions says what of the cluster the manager keeps in memory: the given namespaces, or all when there are none,
// and of the kinds that other people's objects abound in only what the operator made, known by its managed-by label.
//
// An object of ours that has lost the label is missing from such a cache. What must never be taken for absent on that
// account, such as a key, has to be read live before it is made anew.
func CacheOptions(namespaces []string) cache.Options {
	ours := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{
		v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator,
	})}
	options := cache.Options{
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Secret{}:                ours,
			&corev1.Service{}:               ours,
			&corev1.Pod{}:                   ours,
			&corev1.PersistentVolumeClaim{}: ours,
			&appsv1.StatefulSet{}:           ours,
			&policyv1.PodDisruptionBudget{}: ours,
			&batchv1.Job{}:                  ours,
			// The ConfigMap that people write has no label to select it by, and two selectors for one kind are not to be
			// had: so all are watched, and only their names are kept.
			&corev1.ConfigMap{}: {Transform: dropForeignData},
		},
	}
	if len(namespaces) > 0 {
		options.DefaultNamespaces = make(map[string]cache.Config, len(namespaces))
		for _, namespace := range namespaces {
			options.DefaultNamespaces[namespace] = cache.Config{}
		}
	}
	return options
}

// dropForeignData empties the ConfigMaps that nothing here reads. Ours keep their managedFields, by which server-side
// apply tells whether anything is left to write. What is watched by its metadata alone has no data to drop.
func dropForeignData(object any) (any, error) {
	configMap, ok := object.(*corev1.ConfigMap)
	if !ok {
		return object, nil
	}
	if configMap.Name == v1alpha1.MultipoolConfigMapName ||
		configMap.Labels[v1alpha1.LabelManagedBy] == v1alpha1.ManagedByOperator {
		return configMap, nil
	}
	configMap.Data = nil
	configMap.BinaryData = nil
	configMap.ManagedFields = nil
	return configMap, nil
}

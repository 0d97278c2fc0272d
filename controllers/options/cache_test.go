package options

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

func byObject[T client.Object](t *testing.T, options cache.Options) cache.ByObject {
	t.Helper()
	for object, settings := range options.ByObject {
		if _, ok := object.(T); ok {
			return settings
		}
	}
	t.Fatalf("the cache has no settings for %T", *new(T))
	return cache.ByObject{}
}

func TestTheCacheKeepsOnlyWhatTheOperatorMade(t *testing.T) {
	options := CacheOptions(nil)
	tests := map[string]cache.ByObject{
		"Secrets":                byObject[*corev1.Secret](t, options),
		"Services":               byObject[*corev1.Service](t, options),
		"Pods":                   byObject[*corev1.Pod](t, options),
		"PersistentVolumeClaims": byObject[*corev1.PersistentVolumeClaim](t, options),
		"StatefulSets":           byObject[*appsv1.StatefulSet](t, options),
		"PodDisruptionBudgets":   byObject[*policyv1.PodDisruptionBudget](t, options),
	}
	ours := labels.Set{v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator}
	for name, settings := range tests {
		t.Run(name, func(t *testing.T) {
			if settings.Label == nil || !settings.Label.Matches(ours) {
				t.Errorf("selector %v leaves out what the operator made", settings.Label)
			}
			if settings.Label != nil && settings.Label.Matches(labels.Set{v1alpha1.LabelManagedBy: "Helm"}) {
				t.Errorf("selector %v lets in what others made", settings.Label)
			}
		})
	}
}

func TestTheCacheWatchesTheNamespacesAskedFor(t *testing.T) {
	tests := map[string][]string{
		"none given means all":          nil,
		"two given mean those two only": {"dns", "openstack"},
	}
	for name, namespaces := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for namespace := range CacheOptions(namespaces).DefaultNamespaces {
				got = append(got, namespace)
			}
			slices.Sort(got)
			if diff := cmp.Diff(namespaces, got); diff != "" {
				t.Errorf("namespaces watched (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheCacheOfConfigMapsDropsTheDataOfOthers(t *testing.T) {
	managedFields := []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	ours := map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator}
	full := func(name string, labels map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, ManagedFields: managedFields},
			Data:       map[string]string{"key": "text"},
			BinaryData: map[string][]byte{"blob": {1}},
		}
	}
	tests := map[string]struct{ object, want any }{
		"the list of pools is kept whole": {
			object: full(v1alpha1.MultipoolConfigMapName, nil),
			want:   full(v1alpha1.MultipoolConfigMapName, nil),
		},
		"what the operator made is kept whole, managedFields included": {
			object: full(v1alpha1.PoolsYAMLName, ours),
			want:   full(v1alpha1.PoolsYAMLName, ours),
		},
		"of everything else the name is left": {
			object: full("kube-root-ca.crt", nil),
			want:   &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kube-root-ca.crt"}},
		},
		"metadata alone passes as it is": {
			object: &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "any"}},
			want:   &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "any"}},
		},
	}
	transform := byObject[*corev1.ConfigMap](t, CacheOptions(nil)).Transform
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := transform(test.object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("cached ConfigMap (-want +got):\n%s", diff)
			}
		})
	}
}

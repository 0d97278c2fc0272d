package cases

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

func TestEveryManifestIsTheMultipoolConfigMap(t *testing.T) {
	loaded, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(loaded) == 0 {
		t.Fatal("the table is empty")
	}
	for _, c := range loaded {
		t.Run(c.File, func(t *testing.T) {
			var cm corev1.ConfigMap
			if err := yaml.UnmarshalStrict(c.Manifest, &cm); err != nil {
				t.Fatal(err)
			}
			if cm.Kind != "ConfigMap" || cm.Name != v1alpha1.MultipoolConfigMapName {
				t.Errorf("got %s %q, want ConfigMap %q", cm.Kind, cm.Name, v1alpha1.MultipoolConfigMapName)
			}
		})
	}
}

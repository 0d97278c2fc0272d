package conversion

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/designate-pools/designate-pool-operator/test/cases"
)

func TestParseConfigMapAgreesWithTheTableOfCases(t *testing.T) {
	table, err := cases.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range table {
		t.Run(c.File, func(t *testing.T) {
			var cm corev1.ConfigMap
			if err := yaml.UnmarshalStrict(c.Manifest, &cm); err != nil {
				t.Fatal(err)
			}
			config, err := ParseConfigMap(&cm)
			if c.Valid {
				if err != nil || len(config.Pools) == 0 {
					t.Fatalf("got %v and error %v, want pools", config, err)
				}
				return
			}
			if _, ok := errors.AsType[Problems](err); !ok {
				t.Fatalf("got error %v, want Problems", err)
			}
			t.Log(err)
			for _, word := range c.Mentions {
				if !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(word)) {
					t.Errorf("the message does not mention %q:\n%v", word, err)
				}
			}
		})
	}
}

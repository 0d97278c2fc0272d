package webhooks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"
)

const configDirectory = "../config/webhook"

// installed is the configuration that config/webhook makes: what is generated from the markers, and the patch on it.
func installed(t *testing.T) admissionregistrationv1.ValidatingWebhookConfiguration {
	t.Helper()
	merged, err := strategicpatch.StrategicMergePatch(
		readJSON(t, "manifests.yaml"), readJSON(t, "match_conditions_patch.yaml"),
		admissionregistrationv1.ValidatingWebhookConfiguration{})
	if err != nil {
		t.Fatal(err)
	}
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	if err := json.Unmarshal(merged, &configuration); err != nil {
		t.Fatal(err)
	}
	return configuration
}

func readJSON(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(configDirectory, name))
	if err != nil {
		t.Fatal(err)
	}
	converted, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return converted
}

// entry is what matters about one webhook.
type entry struct {
	Path, Resource string
	Operations     []admissionregistrationv1.OperationType
	FailurePolicy  admissionregistrationv1.FailurePolicyType
	Conditions     []string
}

func TestTheInstalledWebhooksAreThese(t *testing.T) {
	const (
		fail   = admissionregistrationv1.Fail
		ignore = admissionregistrationv1.Ignore
		create = admissionregistrationv1.Create
		update = admissionregistrationv1.Update
		remove = admissionregistrationv1.Delete
	)
	type operations = []admissionregistrationv1.OperationType
	onlyTheList := []string{
		"(object != null ? object : oldObject).metadata.name == 'designate-multipool-config'",
	}
	want := map[string]entry{
		"multipool-config.designate.openstack.org": {
			configMapPath, "/v1/configmaps", operations{create, update}, fail, onlyTheList,
		},
		"multipool-config-removal.designate.openstack.org": {
			configMapPath, "/v1/configmaps", operations{remove}, ignore, onlyTheList,
		},
		"designatepool.designate.openstack.org": {
			poolPath, "designate.openstack.org/v1alpha1/designatepools", operations{create, update}, fail, nil,
		},
		"designatepool-removal.designate.openstack.org": {
			poolPath, "designate.openstack.org/v1alpha1/designatepools", operations{remove}, ignore, nil,
		},
		"designatepool-scale.designate.openstack.org": {
			scalePath, "designate.openstack.org/v1alpha1/designatepools/scale", operations{update}, fail, nil,
		},
		"designatebackend.designate.openstack.org": {
			backendPath, "designate.openstack.org/v1alpha1/designatebackends", operations{create, update}, fail, nil,
		},
		"designatebackend-removal.designate.openstack.org": {
			backendPath, "designate.openstack.org/v1alpha1/designatebackends", operations{remove}, ignore, nil,
		},
	}
	got := map[string]entry{}
	for _, webhook := range installed(t).Webhooks {
		if len(webhook.Rules) != 1 || len(webhook.Rules[0].Resources) != 1 {
			t.Fatalf("webhook %s: want one rule about one resource, got %v", webhook.Name, webhook.Rules)
		}
		rule := webhook.Rules[0]
		var conditions []string
		for _, condition := range webhook.MatchConditions {
			conditions = append(conditions, condition.Expression)
		}
		got[webhook.Name] = entry{
			Path:          *webhook.ClientConfig.Service.Path,
			Resource:      rule.APIGroups[0] + "/" + rule.APIVersions[0] + "/" + rule.Resources[0],
			Operations:    rule.Operations,
			FailurePolicy: *webhook.FailurePolicy,
			Conditions:    conditions,
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("webhooks of %s (-want +got):\n%s", configDirectory, diff)
	}
}

func TestEveryWebhookThatIsInstalledIsServedAndTheOtherWayRound(t *testing.T) {
	calls := map[string]bool{}
	for _, webhook := range installed(t).Webhooks {
		calls[*webhook.ClientConfig.Service.Path] = true
	}
	serves := map[string]bool{}
	for path := range hooks(storing(t), testScheme(t), operator, clock.RealClock{}) {
		serves[path] = true
	}
	if diff := cmp.Diff(serves, calls); diff != "" {
		t.Errorf("paths (-served +installed):\n%s", diff)
	}
}

func TestTheInstalledWebhooksAreCalledAlike(t *testing.T) {
	configuration := installed(t)
	if configuration.Name != ConfigurationName {
		t.Errorf("the configuration is named %q, and the certificate is put into %q", configuration.Name, ConfigurationName)
	}
	var service corev1.Service
	if err := json.Unmarshal(readJSON(t, "service.yaml"), &service); err != nil {
		t.Fatal(err)
	}
	for _, webhook := range configuration.Webhooks {
		called := webhook.ClientConfig.Service
		if called.Name != service.Name || called.Namespace != service.Namespace {
			t.Errorf("%s calls Service %s/%s, want %s/%s",
				webhook.Name, called.Namespace, called.Name, service.Namespace, service.Name)
		}
		if *webhook.SideEffects != admissionregistrationv1.SideEffectClassNone {
			t.Errorf("%s has side effects %s, want None: dry runs have to work", webhook.Name, *webhook.SideEffects)
		}
		if *webhook.MatchPolicy != admissionregistrationv1.Equivalent {
			t.Errorf("%s matches %s, want Equivalent: no other version may slip by", webhook.Name, *webhook.MatchPolicy)
		}
		if *webhook.TimeoutSeconds > 5 {
			t.Errorf("%s may take %d seconds, want 5 at most", webhook.Name, *webhook.TimeoutSeconds)
		}
		if !slices.Equal(webhook.AdmissionReviewVersions, []string{"v1"}) {
			t.Errorf("%s takes reviews %v, want v1", webhook.Name, webhook.AdmissionReviewVersions)
		}
	}
}

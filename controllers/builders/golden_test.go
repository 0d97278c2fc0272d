package builders

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

func TestObjects(t *testing.T) {
	loadBalancers := edge()
	loadBalancers.Template.ControlService.Type = corev1.ServiceTypeLoadBalancer
	objects := map[string]any{
		"statefulset-single-mode":                StatefulSet(single(), 2),
		"statefulset-multi-mode":                 StatefulSet(edge(), 2),
		"statefulset-everything-in-the-template": StatefulSet(everything(), 3),
		"statefulset-everything-overridden":      StatefulSet(overridden(), 0),
		"service-client-open":                    ClientService(edge(), edge().Servers[0]),
		"service-client-closed":                  ClientService(edge(), edge().Servers[1]),
		"service-client-everything-overridden":   ClientService(overridden(), edge().Servers[0]),
		"service-client-single-mode":             ClientService(single(), single().Servers[0]),
		"service-control-cluster-ip":             ControlService(edge(), edge().Servers[1]),
		"service-control-load-balancer":          ControlService(loadBalancers, edge().Servers[1]),
		"service-control-single-mode":            ControlService(single(), single().Servers[0]),
		"poddisruptionbudget":                    DisruptionBudget(edge()),
		"secret-keys":                            KeySecret(edge(), keys()),
		"secret-tsig":                            TSIGSecret(edge()),
		"configmap":                              ConfigMap(edge()),
		"configmap-single-mode":                  ConfigMap(single()),
		"configmap-everything-in-the-template":   ConfigMap(everything()),
	}
	for name, object := range objects {
		t.Run(name, func(t *testing.T) { goldenYAML(t, name+".yaml", object) })
	}
}

func TestNamedConf(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.BINDTemplate){
		"ipv4": func(*v1alpha1.BINDTemplate) {},
		"ipv6": func(template *v1alpha1.BINDTemplate) { template.ControlCIDRs = []string{"2001:db8::/32"} },
		"both": func(template *v1alpha1.BINDTemplate) {
			template.ControlCIDRs = []string{"192.0.2.0/24", "2001:db8::/32", "10.0.0.0/8"}
		},
		"options": func(template *v1alpha1.BINDTemplate) {
			template.Options = []string{"minimal-responses yes;", "rate-limit { responses-per-second 10; };"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			pool := edge()
			change(&pool.Template)
			golden(t, "named-"+name+".conf", namedConf(pool))
			golden(t, "server-"+name+".conf", serverConf(pool, pool.Servers[0]))
		})
	}
}

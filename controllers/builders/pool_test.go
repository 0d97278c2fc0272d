package builders

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden holds a text against a file of testdata.
func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// goldenYAML holds an object against a file of testdata.
func goldenYAML(t *testing.T, file string, object any) {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, file, string(text))
}

// edge is a pool in MultiPool mode with two servers, of which the first is open to clients.
func edge() *Pool {
	return &Pool{
		Namespace:   "dns",
		Object:      "edge",
		UID:         "1f7d6f3e-8f0b-4c53-9d4e-0e6f1a2b3c4d",
		Name:        "Edge of Zürich",
		ID:          "0b8f1c5e-52a1-5d0e-9b55-7d8d5f6f7a10",
		Index:       2,
		StatefulSet: StatefulSetName(v1alpha1.MultiPool, 2),
		Spec: v1alpha1.DesignatePoolSpec{
			PoolName: "Edge of Zürich",
			PoolSettings: v1alpha1.PoolSettings{
				Description:  "What people say of it",
				Attributes:   map[string]string{"availability_zone": "az-1"},
				BINDReplicas: 2,
				NSRecords:    []v1alpha1.NSRecord{{Hostname: "ns1.example.org.", Priority: 1}},
			},
		},
		Template: v1alpha1.BINDTemplate{
			Image:        "registry.example.org/bind:9.18",
			ControlCIDRs: []string{"10.0.0.0/8"},
		},
		Servers: []Server{
			{StatefulSet: StatefulSetName(v1alpha1.MultiPool, 2), Ordinal: 0, RNDCKey: 3, Open: true},
			{StatefulSet: StatefulSetName(v1alpha1.MultiPool, 2), Ordinal: 1, RNDCKey: 7},
		},
		Primaries: []v1alpha1.Primary{{Address: "192.0.2.1", Port: 5354}, {Address: "2001:db8::1", Port: 5354}, {Address: "192.0.2.1", Port: 5355}},
		TSIG: Key{
			Name:      TSIGKeyName("1f7d6f3e-8f0b-4c53-9d4e-0e6f1a2b3c4d"),
			Algorithm: keyAlgorithm, Secret: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
		},
	}
}

// single is the default pool in SinglePool mode.
func single() *Pool {
	pool := edge()
	pool.Object, pool.Name, pool.Index = "default", v1alpha1.DefaultPoolName, 0
	pool.StatefulSet = StatefulSetName(v1alpha1.SinglePool, 0)
	for i := range pool.Servers {
		pool.Servers[i].StatefulSet = pool.StatefulSet
	}
	pool.Spec.PoolName = ""
	return pool
}

// everything is a pool whose template says all that can be said.
func everything() *Pool {
	pool := edge()
	pool.Template = v1alpha1.BINDTemplate{
		Image:            "registry.example.org/bind:9.18",
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull-a"}, {Name: "pull-b"}},
		ControlCIDRs:     []string{"10.0.0.0/8", "2001:db8::/32"},
		Options:          []string{"minimal-responses yes;", "rate-limit { responses-per-second 10; };"},
		Resources: corev1.ResourceRequirements{
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("512Mi"), corev1.ResourceCPU: resource.MustParse("2")},
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
		},
		Storage: v1alpha1.BINDStorage{Size: ptr.To(resource.MustParse("5Gi")), StorageClassName: ptr.To("fast")},
		ClientService: v1alpha1.ServiceTemplate{
			Type: corev1.ServiceTypeLoadBalancer, Annotations: map[string]string{"lb.example.org/pool": "public", "lb.example.org/share": "no"},
		},
		ControlService: v1alpha1.ServiceTemplate{
			Type: corev1.ServiceTypeLoadBalancer, Annotations: map[string]string{"lb.example.org/pool": "internal"},
		},
		NodeSelector: map[string]string{"role": "dns"},
		Tolerations: []corev1.Toleration{
			{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "dns", Effect: corev1.TaintEffectNoSchedule},
			{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](0)},
		},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
			MaxSkew: 2, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
			MinDomains: ptr.To[int32](3), MatchLabelKeys: []string{"controller-revision-hash"},
			NodeAffinityPolicy: ptr.To(corev1.NodeInclusionPolicyIgnore), NodeTaintsPolicy: ptr.To(corev1.NodeInclusionPolicyHonor),
		}},
		PriorityClassName: "dns-critical",
	}
	return pool
}

// overridden is everything with all that a pool can have otherwise.
func overridden() *Pool {
	pool := everything()
	pool.Spec.BIND = &v1alpha1.PoolBIND{
		Resources:    &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}},
		Storage:      &v1alpha1.BINDStorage{Size: ptr.To(resource.MustParse("20Gi"))},
		NodeSelector: map[string]string{"site": "edge"},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: "example.org/rack", WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{
				MatchLabels:      map[string]string{"app": "dns"},
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}}},
			},
		}},
		ClientServiceAnnotations: map[string]string{"lb.example.org/pool": "edge"},
	}
	return pool
}

// keys are RNDC keys of edge's servers that are nobody's secret.
func keys() map[string][]byte {
	key := func(name string) []byte {
		return []byte("key \"" + name + "\" {\n\talgorithm hmac-sha256;\n\tsecret \"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\";\n};\n")
	}
	return map[string][]byte{"rndc-key-3": key("rndc-key-3"), "rndc-key-7": key("rndc-key-7")}
}

// A former server and the present one of its ordinal have one client Service, which leads to the one that is open.
func TestClients(t *testing.T) {
	former, present := "designate-backendbind9", "designate-backendbind9-pool0"
	pool := &Pool{StatefulSet: present}
	for name, test := range map[string]struct {
		servers []Server
		want    []string
	}{
		"without former ones": {
			[]Server{{StatefulSet: present, Open: true}, {StatefulSet: present, Ordinal: 1}}, []string{present + "-0", present + "-1"},
		},
		"the former one is open": {
			[]Server{{StatefulSet: present}, {StatefulSet: former, Open: true}}, []string{former + "-0"},
		},
		"the present one is open": {
			[]Server{{StatefulSet: present, Open: true}, {StatefulSet: former}}, []string{present + "-0"},
		},
		"neither is open": {
			[]Server{{StatefulSet: present}, {StatefulSet: former}}, []string{present + "-0"},
		},
		"whatever comes first": {
			[]Server{{StatefulSet: former}, {StatefulSet: present}}, []string{present + "-0"},
		},
		"of one ordinal there is a former one alone": {
			[]Server{{StatefulSet: present, Open: true}, {StatefulSet: former}, {StatefulSet: former, Ordinal: 1, Open: true}},
			[]string{present + "-0", former + "-1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pool.Servers = test.servers
			var got []string
			for _, server := range pool.Clients() {
				got = append(got, server.Pod())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("clients are led to %v, want %v", got, test.want)
			}
		})
	}
}

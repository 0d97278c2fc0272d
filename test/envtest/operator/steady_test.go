package operator_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/test/controlplane"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

// fullBackend sets every field, so that whatever the API server fills in or drops shows as a needless write.
func fullBackend(namespace string) *v1alpha1.DesignateBackend {
	backend := harness.Backend(namespace, 1)
	backend.Spec.Primaries = append(backend.Spec.Primaries, v1alpha1.Primary{Address: "2001:db8::10", Port: 5354})
	backend.Spec.BIND = v1alpha1.BINDTemplate{
		Image:            "registry.example.org/bind9:9.18",
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}},
		ControlCIDRs:     []string{"10.0.0.0/8", "fd00::/8"},
		Options:          []string{"minimal-responses yes;", "max-cache-size 32m;"},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("0.5")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1024Mi"), corev1.ResourceCPU: resource.MustParse("1000m")},
		},
		Storage:        v1alpha1.BINDStorage{Size: ptr.To(resource.MustParse("1024Mi"))},
		ClientService:  v1alpha1.ServiceTemplate{Type: corev1.ServiceTypeLoadBalancer, Annotations: map[string]string{"lb.example.org/pool": "public"}},
		ControlService: v1alpha1.ServiceTemplate{Type: corev1.ServiceTypeClusterIP, Annotations: map[string]string{"lb.example.org/pool": "private"}},
		NodeSelector:   map[string]string{corev1.LabelOSStable: "linux"},
		Tolerations: []corev1.Toleration{
			{Key: "dns", Operator: corev1.TolerationOpEqual, Value: "yes", Effect: corev1.TaintEffectNoSchedule},
			{Key: "slow", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](30)},
		},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway},
			{MaxSkew: 2, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{
				MatchLabels:      map[string]string{"app": "dns"},
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}}},
			}, NodeTaintsPolicy: ptr.To(corev1.NodeInclusionPolicyHonor)},
		},
	}
	return backend
}

// fullPool overrides everything that a pool may override.
func fullPool(namespace string) *v1alpha1.DesignatePool {
	pool := harness.MakePool(namespace, "full").PoolName("Full Pool").Replicas(2).Obj()
	pool.Spec.Description = "everything: set"
	pool.Spec.Attributes = map[string]string{"tier": "full"}
	pool.Spec.BIND = &v1alpha1.PoolBIND{
		Resources:                 &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}},
		Storage:                   &v1alpha1.BINDStorage{Size: ptr.To(resource.MustParse("2Gi"))},
		NodeSelector:              map[string]string{corev1.LabelHostname: controlplane.NodeName},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{MaxSkew: 3, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway}},
		ClientServiceAnnotations:  map[string]string{"lb.example.org/address": "198.51.100.7"},
	}
	return pool
}

var _ = Describe("Steady state", func() {
	It("R9 R11 R12: several full resyncs write nothing, whatever is set", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.stopOperator()
		w.resync = 500 * time.Millisecond
		w.startOperator()
		w.configure(threePools())
		w.create(fullBackend(w.namespace), fullPool(w.namespace))
		w.waitReady("default", "edge", "gold", "full")
		w.settle()

		w.operator.Wire.Reset()
		passes := w.operator.Wire.Reads()
		Consistently(w.operator.Wire.Writes, 5*time.Second).Should(BeEmpty())
		Expect(w.operator.Wire.Reads()-passes).To(BeNumerically(">=", 5), "there were no passes to count writes of")
	})

	It("R9: an operator restart writes nothing", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		w.create(fullPool(w.namespace))
		w.waitReady("full")
		w.settle()
		ledger := get(w, v1alpha1.LedgerName, &corev1.ConfigMap{})

		for range 2 {
			w.stopOperator()
			w.startOperator()
			Eventually(w.operator.Wire.Reads).Should(BeNumerically(">=", 3), "there was no pass to count writes of")
			Consistently(w.operator.Wire.Writes, 3*time.Second).Should(BeEmpty())
		}
		Expect(get(w, v1alpha1.LedgerName, &corev1.ConfigMap{}).ResourceVersion).To(Equal(ledger.ResourceVersion))
	})

	It("R9: an edit that changes nothing writes nothing", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		w.settle()
		w.operator.Wire.Reset()
		w.configure("# the same pools, with a comment\n" + threePools())
		Consistently(w.operator.Wire.Writes, 3*time.Second).Should(BeEmpty())
	})

	It("R8: lastTransitionTime moves only when a status flips", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		w.settle()
		accepted := w.poolCondition("edge", v1alpha1.ConditionAccepted)
		servers := w.poolCondition("edge", v1alpha1.ConditionServersReady)
		ready := w.poolCondition("default", v1alpha1.ConditionReady)
		time.Sleep(1100 * time.Millisecond) // Times have whole seconds.

		w.configure(pools(entry("default", 2), entry("edge", 2), entry("gold", 3)))
		w.waitReady("edge")
		Expect(w.poolCondition("edge", v1alpha1.ConditionAccepted).LastTransitionTime).To(Equal(accepted.LastTransitionTime))
		Expect(w.poolCondition("edge", v1alpha1.ConditionServersReady).LastTransitionTime.After(servers.LastTransitionTime.Time)).
			To(BeTrue(), "it was False while the new server came up")
		Expect(w.poolCondition("default", v1alpha1.ConditionReady)).To(Equal(ready))
	})
})

package operator_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/conversion"
	"github.com/designate-pools/designate-pool-operator/test/cases"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

var _ = Describe("Configuration", func() {
	It("A9 R30: every case of the table has its outcome in the bridge, and an invalid one changes nothing", func(ctx SpecContext) {
		table, err := cases.Load()
		Expect(err).NotTo(HaveOccurred())
		w := newWorld(ctx)
		w.deployThreePools()
		before := w.snapshot("gold")
		for _, c := range table {
			configMap := &corev1.ConfigMap{}
			Expect(yaml.Unmarshal(c.Manifest, configMap)).To(Succeed(), c.File)
			if c.Valid {
				continue
			}
			By(c.File)
			edit(w, v1alpha1.MultipoolConfigMapName, &corev1.ConfigMap{}, func(live *corev1.ConfigMap) {
				live.Data, live.BinaryData = configMap.Data, configMap.BinaryData
			})
			_, parseErr := conversion.ParseConfigMap(configMap)
			Expect(parseErr).To(HaveOccurred())
			Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionMultipoolConfigValid).Should(And(
				HaveField("Status", metav1.ConditionFalse), HaveField("Reason", v1alpha1.ReasonInvalidConfig),
				HaveField("Message", parseErr.Error())), c.File)
			message := strings.ToLower(w.backendCondition(v1alpha1.ConditionMultipoolConfigValid).Message)
			for _, word := range c.Mentions {
				Expect(message).To(ContainSubstring(strings.ToLower(word)), c.File)
			}
		}
		Expect(w.snapshot("gold")).To(Equal(before))
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionReady).Should(HaveField("Reason", v1alpha1.ReasonInvalidConfig))
		Eventually(w.eventReasons).WithArguments("ConfigMap").Should(ContainElement(v1alpha1.ReasonInvalidConfig))

		By("going on where it stood once the ConfigMap is good again")
		w.configure(threePools())
		w.waitReady("default", "edge", "gold")
		Expect(w.snapshot("gold")).To(Equal(before))
	})

	It("A9: every valid case of the table becomes its pools", func(ctx SpecContext) {
		table, err := cases.Load()
		Expect(err).NotTo(HaveOccurred())
		valid := 0
		for _, c := range table {
			if !c.Valid {
				continue
			}
			valid++
			By(c.File)
			configMap := &corev1.ConfigMap{}
			Expect(yaml.Unmarshal(c.Manifest, configMap)).To(Succeed())
			config, err := conversion.ParseConfigMap(configMap)
			Expect(err).NotTo(HaveOccurred())
			w := newWorld(ctx)
			w.create(configMap, harness.Backend(w.namespace, 1))
			Eventually(func() ([]string, error) {
				var list v1alpha1.DesignatePoolList
				err := kube.List(w, &list, client.InNamespace(w.namespace))
				var names []string
				for i := range list.Items {
					names = append(names, list.Items[i].PoolName())
				}
				return names, err
			}).Should(ConsistOf(namesIn(config)), c.File)
			Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionPoolsApplied).Should(HaveField("Status", metav1.ConditionTrue))
			w.stopOperator()
		}
		Expect(valid).To(BeNumerically(">=", 3))
	})

	It("a ConfigMap without a backend gets an Event, and nothing else", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.configure(threePools())
		Eventually(w.eventReasons).WithArguments("ConfigMap").Should(ContainElement(v1alpha1.ReasonBackendMissing))
		Consistently(w.operator.Wire.Writes).Should(BeEmpty())
	})

	It("R51: no text can break or change anything, and what was typed is what Designate shows", func(ctx SpecContext) {
		w := newWorld(ctx)
		name := "x: {[\"'\\ #!&*%@`|>"
		description := "---\n- name: evil\n...\n\t\"; include \"/etc/passwd\"; //\u2028 yes: no # é 日本\x7f"
		attributes := map[string]string{"<<": "*a", "on": "0x1F", "k\ney": "1_000", "=": "~", "1:30": "2001-01-01"}
		pool := harness.MakePool(w.namespace, "nasty").PoolName(name).Obj()
		pool.Spec.Description, pool.Spec.Attributes = description, attributes
		w.configure(pools(entry("default", 1)))
		w.create(harness.Backend(w.namespace, 1), pool)
		w.waitReady("default", "nasty")
		Eventually(w.poolsYAMLNames).Should(Equal([]string{"default", name}))
		parsed := w.poolsYAML()[1]
		Expect(parsed.Description).To(Equal(description))
		Expect(parsed.Attributes).To(Equal(attributes))
		config := get(w, "designate-backendbind9-pool1-config", &corev1.ConfigMap{})
		Expect(text(config.Data)).NotTo(ContainSubstring("passwd"))
	})

	It("R14: unknown keys and values out of bounds are refused by the API server", func(ctx SpecContext) {
		w := newWorld(ctx)
		strict := client.NewNamespacedClient(kube, w.namespace)
		for what, manifest := range map[string]string{
			"unknown field \"spec.bindReplica\"": "{kind: DesignatePool, metadata: {name: p}, spec: {bindReplica: 1, bindReplicas: 1, nsRecords: [{hostname: ns., priority: 1}]}}",
			"spec.bindReplicas":                  "{kind: DesignatePool, metadata: {name: p}, spec: {bindReplicas: -1, nsRecords: [{hostname: ns., priority: 1}]}}",
			"spec.nsRecords":                     "{kind: DesignatePool, metadata: {name: p}, spec: {bindReplicas: 1, nsRecords: []}}",
			"priority":                           "{kind: DesignatePool, metadata: {name: p}, spec: {bindReplicas: 1, nsRecords: [{hostname: ns., priority: 0}]}}",
			"hostname":                           "{kind: DesignatePool, metadata: {name: p}, spec: {bindReplicas: 1, nsRecords: [{hostname: ns1..example.org., priority: 1}]}}",
			"each hostname must be there once":   "{kind: DesignatePool, metadata: {name: p}, spec: {bindReplicas: 1, nsRecords: [{hostname: ns., priority: 1}, {hostname: ns., priority: 2}]}}",
			"attribute keys":                     "{kind: DesignatePool, metadata: {name: p}, spec: {bindReplicas: 1, attributes: {" + strings.Repeat("k", 51) + ": v}, nsRecords: [{hostname: ns., priority: 1}]}}",
			"metadata.name":                      "{kind: DesignatePool, metadata: {name: " + strings.Repeat("p", 51) + "}, spec: {bindReplicas: 1, nsRecords: [{hostname: ns., priority: 1}]}}",
			"named designate":                    backendManifest("other", ""),
			"IP address":                         backendManifest("designate", "primaries: [{address: mdns.example.org}]"),
			"CIDR":                               backendManifest("designate", "bind: {image: i, controlCIDRs: [10.0.0.1]}"),
		} {
			object := &unstructured.Unstructured{}
			Expect(yaml.Unmarshal([]byte(manifest), &object.Object)).To(Succeed())
			object.SetAPIVersion(v1alpha1.GroupVersion.String())
			err := strict.Create(w, object, client.FieldValidation(metav1.FieldValidationStrict))
			Expect(err).To(MatchError(ContainSubstring(what)))
			Expect(apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)).To(BeTrue(), err.Error())
		}
	})

	It("R3: one failing pool does not stop its siblings", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.operator.Wire.Fail(func(r *http.Request) bool {
			return r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/statefulsets/designate-backendbind9-pool1")
		})
		w.configure(threePools())
		w.create(harness.Backend(w.namespace, 1))
		w.eventuallyPool("default", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
		w.eventuallyPool("gold", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
		w.eventuallyPool("edge", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonWriteFailed)
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionReady).Should(And(
			HaveField("Reason", v1alpha1.ReasonWriteFailed), HaveField("Message", ContainSubstring("edge"))))
		Eventually(w.poolsYAMLNames).Should(Equal([]string{"default", "gold"}))

		By("R2: coming right by itself once it can")
		w.operator.Wire.Fail(nil)
		w.waitReady("default", "edge", "gold")
	})

	It("R3: a DesignatePool that cannot be written does not keep the bridge from the others", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.operator.Wire.Fail(func(r *http.Request) bool {
			return r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/designatepools/edge")
		})
		w.configure(threePools())
		w.create(harness.Backend(w.namespace, 1))
		w.eventuallyPool("gold", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionPoolsApplied).Should(And(
			HaveField("Reason", v1alpha1.ReasonWriteFailed), HaveField("Message", ContainSubstring(`"edge"`))))
		w.operator.Wire.Fail(nil)
		w.waitReady("default", "edge", "gold")
	})

	It("R27: what cannot be rendered leaves pools.yaml as it is", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		w.settle()
		before := w.poolsYAMLText()
		// With every server stopped and every pool scaled to 0, there is still nothing to empty it with.
		w.configure(pools(entry("default", 0), entry("edge", 0), entry("gold", 0)))
		w.eventuallyPool("gold", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonScaledToZero)
		w.eventuallyPool("default", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonScaledToZero)
		Consistently(w.poolsYAMLText).Should(Equal(before))
	})

	It("A16: kubectl shows, scales, waits for and explains pools", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.configure(pools(entry("default", 1)))
		w.create(harness.Backend(w.namespace, 1), harness.MakePool(w.namespace, "own").PoolName("Own (EU)").Obj())
		w.waitReady("default", "own")
		Expect(w.kubectl("get", "designatepools")).To(MatchRegexp(`(?s)NAME\s+POOL\s+REPLICAS\s+READY\s+ZONES\s+STATUS\s+AGE\n.*own\s+Own \(EU\)\s+1\s+1\s+Ready`))
		Expect(w.kubectl("get", "dpool", "-o", "wide")).To(MatchRegexp(`INDEX\s+STATEFULSET\s+POOL-ID(?s).*1\s+designate-backendbind9-pool1\s+[0-9a-f-]{36}`))
		Expect(w.kubectl("scale", "designatepool/own", "--replicas=2")).To(ContainSubstring("scaled"))
		w.kubectl("wait", "--for=condition=Ready", "--timeout=30s", "designatepool/own")
		Expect(w.pool("own").Status.ReadyReplicas).To(BeEquivalentTo(2))
		Expect(w.kubectl("get", "designate")).To(And(ContainSubstring("designatebackend"), ContainSubstring("designatepool")))
		Expect(w.kubectl("explain", "designatepool.spec.bindReplicas")).To(ContainSubstring("0 stops them all"))
	})
})

func backendManifest(name, override string) string {
	spec := []string{"primaries: [{address: 192.0.2.1}]", "defaultPool: {bindReplicas: 1, nsRecords: [{hostname: ns., priority: 1}]}", "bind: {image: i, controlCIDRs: [10.0.0.0/8]}"}
	for i := range spec {
		if key, _, _ := strings.Cut(override, ":"); key != "" && strings.HasPrefix(spec[i], key+":") {
			spec[i] = override
		}
	}
	return fmt.Sprintf("{kind: DesignateBackend, metadata: {name: %s}, spec: {%s}}", name, strings.Join(spec, ", "))
}

func namesIn(config *conversion.MultipoolConfig) []string {
	var names []string
	for _, pool := range config.Pools {
		names = append(names, pool.Name)
	}
	return names
}

// eventReasons are the reasons of the Events about objects of a kind.
func (w *world) eventReasons(kind string) ([]string, error) {
	var list eventsv1.EventList
	err := kube.List(w, &list, client.InNamespace(w.namespace))
	var reasons []string
	for i := range list.Items {
		if list.Items[i].Regarding.Kind == kind {
			reasons = append(reasons, list.Items[i].Reason)
		}
	}
	return reasons, err
}

// kubectl runs kubectl in the namespace and returns what it prints.
func (w *world) kubectl(arguments ...string) string {
	GinkgoHelper()
	command := exec.CommandContext(w, plane.Kubectl, append([]string{"--kubeconfig", plane.KubeconfigPath, "-n", w.namespace}, arguments...)...)
	output, err := command.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(output))
	return string(output)
}

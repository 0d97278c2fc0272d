package operator_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/conversion"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

var _ = Describe("The main job", func() {
	It("A1 A2 A4 A5 A13 A14 A16: turns the ConfigMap into DesignatePools, StatefulSets and pools.yaml", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()

		By("making one DesignatePool for each entry")
		gold := w.pool("gold")
		Expect(gold.Spec.BINDReplicas).To(BeEquivalentTo(3))
		Expect(gold.Spec.Attributes).To(Equal(map[string]string{"tier": "gold"}))
		Expect(gold.Spec.NSRecords).To(Equal([]v1alpha1.NSRecord{{Hostname: "ns1.gold.example.org.", Priority: 1}}))
		Expect(gold.Status.Index).To(HaveValue(BeEquivalentTo(2)))
		Expect(gold.Status.StatefulSet).To(Equal("designate-backendbind9-pool2"))

		By("making one StatefulSet for each pool, labelled with its name and index")
		Expect(w.statefulSets()).To(Equal([]string{
			"designate-backendbind9-pool0", "designate-backendbind9-pool1", "designate-backendbind9-pool2",
		}))
		set := get(w, "designate-backendbind9-pool2", &appsv1.StatefulSet{})
		Expect(set.Labels).To(HaveKeyWithValue(v1alpha1.LabelPool, "gold"))
		Expect(set.Labels).To(HaveKeyWithValue(v1alpha1.LabelPoolIndex, "2"))
		Expect(set.Spec.Replicas).To(HaveValue(BeEquivalentTo(3)))

		By("numbering the RNDC keys in one sequence")
		secret := get(w, v1alpha1.RNDCSecretName, &corev1.Secret{})
		for n := int32(1); n <= 6; n++ {
			name := conversion.RNDCKeyName(n)
			Expect(secret.Data).To(HaveKey(name))
			Expect(string(secret.Data[name])).To(MatchRegexp(`^key "%s" \{\n\talgorithm hmac-sha256;\n\tsecret "[A-Za-z0-9+/]{43}=";\n\};\n$`, name))
		}
		Expect(secret.Data).To(HaveLen(6))

		By("writing pools.yaml in index order, with the control Services' addresses and the shared primaries")
		entries := w.poolsYAML()
		Eventually(w.poolsYAMLNames).Should(Equal([]string{"default", "edge", "gold"}))
		Expect(entries[0].ID).To(Equal("794ccc2c-d751-44fe-b57f-8894c9f5c842"))
		Expect(entries[2].ID).To(Equal(conversion.PoolID(w.namespace, "gold")))
		Expect(entries[2].Targets).To(HaveLen(3))
		for ordinal, server := range gold.Status.Servers {
			control := get(w, fmt.Sprintf("designate-backendbind9-pool2-%d-control", ordinal), &corev1.Service{})
			Expect(server.ControlAddress).To(Equal(control.Spec.ClusterIP))
			Expect(entries[2].Nameservers[ordinal]).To(Equal(conversion.Address{Host: control.Spec.ClusterIP, Port: 53}))
			Expect(server.RNDCKey).To(BeEquivalentTo(4 + ordinal))
		}
		Expect(w.poolsYAMLText()).To(ContainSubstring("/etc/designate/rndc-keys/rndc-key-6"))
		for _, entry := range entries {
			for _, target := range entry.Targets {
				Expect(text(target)).To(ContainSubstring("192.0.2.10"))
			}
		}
	})

	It("A6 A13: without the ConfigMap runs one pool under the original name and in the original format", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(harness.Backend(w.namespace, 2))
		w.waitReady("default")
		Expect(w.statefulSets()).To(Equal([]string{"designate-backendbind9"}))
		Eventually(w.poolsYAMLNames).Should(Equal([]string{"default"}))
		Expect(w.poolsYAML()[0].ID).To(BeEmpty())
		Expect(w.poolsYAMLText()).NotTo(MatchRegexp(`(?m)^ +id:`))
		Expect(get(w, "designate-backendbind9-1", &corev1.Service{}).Labels).
			To(HaveKeyWithValue(v1alpha1.LabelServiceRole, v1alpha1.ServiceRoleClient))
	})

	It("A10 R52: adding a pool that sorts first, scaling the first and removing one from the middle move no neighbour", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		edge, gold := w.snapshot("edge"), w.snapshot("gold")

		By("adding a pool whose name sorts before the others and that is listed first")
		w.configure(pools(entry("aaa", 1), entry("default", 2), entry("edge", 1), entry("gold", 3)))
		w.waitReady("aaa", "default", "edge", "gold")
		Expect(w.pool("aaa").Status.StatefulSet).To(Equal("designate-backendbind9-pool3"))
		Expect(w.pool("aaa").Status.Servers[0].RNDCKey).To(BeEquivalentTo(7))
		Expect(w.snapshot("edge")).To(Equal(edge))
		Expect(w.snapshot("gold")).To(Equal(gold))

		By("scaling the first pool up")
		w.configure(pools(entry("aaa", 1), entry("default", 4), entry("edge", 1), entry("gold", 3)))
		w.waitReady("default")
		Expect(w.snapshot("edge")).To(Equal(edge))
		Expect(w.snapshot("gold")).To(Equal(gold))

		By("removing the one in the middle by force")
		aaa, first := w.snapshot("aaa"), w.snapshot("default")
		w.configure(pools(entry("aaa", 1), entry("default", 4), entry("gold", 3)))
		w.eventuallyPool("edge", v1alpha1.ConditionRemovalBlocked, metav1.ConditionTrue, v1alpha1.ReasonDesignateAccessMissing)
		w.force("edge")
		w.waitGone("edge")
		Eventually(w.poolsYAMLNames).Should(Equal([]string{"default", "gold", "aaa"}))
		Expect(w.snapshot("aaa")).To(Equal(aaa))
		Expect(w.snapshot("default")).To(Equal(first))
		Expect(w.snapshot("gold")).To(Equal(gold))

		By("giving the numbers that became free to the next pool, with a key of its own")
		w.configure(pools(entry("zzz", 1), entry("aaa", 1), entry("default", 4), entry("gold", 3)))
		w.waitReady("zzz")
		Expect(w.pool("zzz").Status.StatefulSet).To(Equal("designate-backendbind9-pool1"))
		Expect(w.pool("zzz").Status.Servers[0].RNDCKey).To(BeEquivalentTo(3))
		Expect(w.snapshot("gold")).To(Equal(gold))
	})

	It("A3: pools besides the ConfigMap's are made from DesignatePools, and a pool may have no server", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.configure(pools(entry("default", 1)))
		w.create(harness.Backend(w.namespace, 1), harness.MakePool(w.namespace, "own").PoolName("Own Pool (EU)").Replicas(2).Obj(),
			harness.MakePool(w.namespace, "idle").Replicas(0).Obj())
		w.waitReady("default", "own")
		w.eventuallyPool("idle", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonScaledToZero)
		w.eventuallyPool("idle", v1alpha1.ConditionServersReady, metav1.ConditionTrue, v1alpha1.ReasonScaledToZero)
		Eventually(w.poolsYAMLNames).Should(ConsistOf("default", "Own Pool (EU)"))
		Expect(w.statefulSets()).To(HaveLen(3))
		Consistently(w.poolsYAMLNames).ShouldNot(ContainElement("idle"), "Designate must not hear of a pool without servers")
	})

	It("R6: every condition carries the generation that it speaks of", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		w.configure(pools(entry("default", 3), entry("edge", 2), entry("gold", 1)))
		w.waitReady("default", "edge", "gold")
		w.settle()
		for _, name := range []string{"default", "edge", "gold"} {
			pool := w.pool(name)
			Expect(pool.Status.Conditions).NotTo(BeEmpty())
			for _, condition := range pool.Status.Conditions {
				Expect(condition.ObservedGeneration).To(Equal(pool.Generation), "%s of %s", condition.Type, name)
			}
		}
		backend := get(w, v1alpha1.BackendName, &v1alpha1.DesignateBackend{})
		Expect(backend.Status.Conditions).To(HaveLen(6))
		for _, condition := range backend.Status.Conditions {
			Expect(condition.ObservedGeneration).To(Equal(backend.Generation), condition.Type)
		}
	})

	It("R54: mounts only what exists, in both modes", func(ctx SpecContext) {
		for _, configured := range []bool{true, false} {
			w := newWorld(ctx)
			if configured {
				w.configure(threePools())
			}
			w.create(harness.Backend(w.namespace, 1))
			Eventually(w.statefulSets).ShouldNot(BeEmpty())
			var sets appsv1.StatefulSetList
			Expect(kube.List(w, &sets, client.InNamespace(w.namespace))).To(Succeed())
			mounted, wanted := 0, 0
			for i := range sets.Items {
				wanted += 2
				if sets.Items[i].Labels[v1alpha1.LabelPool] != v1alpha1.DefaultPoolName {
					wanted++ // The TSIG key.
				}
				for _, volume := range sets.Items[i].Spec.Template.Spec.Volumes {
					if volume.Secret != nil {
						mounted++
						get(w, volume.Secret.SecretName, &corev1.Secret{})
					}
					if volume.ConfigMap != nil {
						mounted++
						config := get(w, volume.ConfigMap.Name, &corev1.ConfigMap{})
						Expect(config.Data).To(HaveKey(sets.Items[i].Name + "-0.conf"))
					}
				}
			}
			Expect(mounted).To(Equal(wanted))
		}
	})
})

package operator_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

// foreign are objects as a deployment of another operator has them, under names that ours need.
func foreign(namespace string) []client.Object {
	labels := map[string]string{"service": "designate-backendbind9"}
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}
	}
	return []client.Object{
		&appsv1.StatefulSet{ObjectMeta: meta("designate-backendbind9-pool1"), Spec: appsv1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "named", Image: "registry.example.org/named"}}}},
		}},
		&corev1.Service{ObjectMeta: meta("designate-backendbind9-pool2-0"), Spec: corev1.ServiceSpec{
			Selector: labels, Ports: []corev1.ServicePort{{Port: 53}},
		}},
	}
}

// passes is how many times a controller has reconciled anything.
func passes(controller string) float64 {
	GinkgoHelper()
	families, err := metrics.Registry.Gather()
	Expect(err).NotTo(HaveOccurred())
	total := 0.0
	for _, family := range families {
		if family.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "controller" && label.GetValue() == controller {
					total += metric.GetCounter().GetValue()
				}
			}
		}
	}
	Expect(total).To(BeNumerically(">", 0), "passes of the controller %s", controller)
	return total
}

var _ = Describe("Ownership", func() {
	It("R26 R53: something under one of our names without our UID is never touched, and no neighbour suffers", func(ctx SpecContext) {
		w := newWorld(ctx)
		theirs := foreign(w.namespace)
		w.create(theirs...)
		w.configure(threePools())
		w.create(harness.Backend(w.namespace, 1))
		w.waitTakenOver("default")
		w.eventuallyPool("default", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
		w.eventuallyPool("edge", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonNameTaken)
		w.eventuallyPool("gold", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonNameTaken)
		Expect(w.poolCondition("edge", v1alpha1.ConditionReady).Message).To(ContainSubstring("StatefulSet designate-backendbind9-pool1"))
		Expect(w.poolCondition("gold", v1alpha1.ConditionReady).Message).To(ContainSubstring("Service designate-backendbind9-pool2-0"))
		w.settle()
		for _, object := range theirs {
			for _, fields := range object.GetManagedFields() {
				Expect(fields.Manager).NotTo(HavePrefix("designate-pool-operator"))
			}
			before := object.GetUID()
			Expect(kube.Get(w, client.ObjectKeyFromObject(object), object)).To(Succeed())
			Expect(object.GetUID()).To(Equal(before))
			for _, fields := range object.GetManagedFields() {
				Expect(fields.Manager).NotTo(HavePrefix("designate-pool-operator"), object.GetName())
			}
		}

		By("R10: what fails for good is looked at seldom, and delays no healthy pool")
		edit(w, v1alpha1.MultipoolConfigMapName, &corev1.ConfigMap{}, func(c *corev1.ConfigMap) {
			c.Data = harness.MultipoolConfig(w.namespace, pools(entry("default", 3), entry("edge", 2), entry("gold", 3))).Data
		})
		w.eventuallyPool("default", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
		w.settle()
		before := passes("pool")
		time.Sleep(5 * time.Second)
		Expect(passes("pool")-before).To(BeNumerically("<", 6), "passes of the pool controller in five seconds")

		By("R2: taking the name once it is free, which no event tells")
		Expect(kube.Delete(w, theirs[0])).To(Succeed())
		Expect(kube.Delete(w, theirs[1])).To(Succeed())
		Eventually(w.backendCondition).WithTimeout(2 * apply.TakenDelay).WithArguments(v1alpha1.ConditionReady).
			Should(HaveField("Reason", v1alpha1.ReasonReady))
		w.waitReady("default", "edge", "gold")
	})

	It("a pools.yaml that somebody else made is left alone, and the status says so", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.PoolsYAMLName}, Data: map[string]string{v1alpha1.PoolsYAMLKey: "theirs"}})
		w.configure(pools(entry("default", 1)))
		w.create(harness.Backend(w.namespace, 1))
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionPoolsYAMLWritten).Should(HaveField("Reason", v1alpha1.ReasonNameTaken))
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionReady).Should(HaveField("Reason", v1alpha1.ReasonNameTaken))
		Consistently(w.poolsYAMLText).Should(Equal("theirs"))
	})

	It("R29: of two claims on one name the oldest wins, the loser says who holds it, and takes over when it is free", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.configure(pools(entry("default", 1)))
		w.create(harness.Backend(w.namespace, 1), harness.MakePool(w.namespace, "zzz-first").PoolName("Edge").Obj())
		w.waitReady("default", "zzz-first")
		w.create(harness.MakePool(w.namespace, "aaa-second").PoolName("édge ").Obj())
		w.eventuallyPool("aaa-second", v1alpha1.ConditionAccepted, metav1.ConditionFalse, v1alpha1.ReasonPoolNameTaken)
		w.eventuallyPool("aaa-second", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonPoolNameTaken)
		loser := w.pool("aaa-second")
		Expect(w.poolCondition("aaa-second", v1alpha1.ConditionAccepted).Message).To(ContainSubstring("zzz-first"))
		Expect(loser.Status.Index).To(BeNil())
		Expect(w.objectOf(loser.UID)).To(BeNil())

		By("a third claim that is deleted goes at once: it holds nothing")
		w.create(harness.MakePool(w.namespace, "third").PoolName("EDGE").Obj())
		w.eventuallyPool("third", v1alpha1.ConditionAccepted, metav1.ConditionFalse, v1alpha1.ReasonPoolNameTaken)
		Expect(kube.Delete(w, w.pool("third"))).To(Succeed())
		w.waitGone("third")

		By("handing over once the winner is wholly gone")
		Expect(kube.Delete(w, w.pool("zzz-first"))).To(Succeed())
		w.eventuallyPool("zzz-first", v1alpha1.ConditionRemovalBlocked, metav1.ConditionTrue, v1alpha1.ReasonDesignateAccessMissing)
		Expect(w.poolCondition("aaa-second", v1alpha1.ConditionAccepted).Status).To(Equal(metav1.ConditionFalse))
		w.force("zzz-first")
		w.waitGone("zzz-first")
		w.waitReady("aaa-second")
		Eventually(w.poolsYAMLNames).Should(Equal([]string{"default", "édge "}))
	})

	It("R15: a pool that holds nothing goes without force, and holds nobody up", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.configure(pools(entry("default", 1)))
		w.create(harness.Backend(w.namespace, 1), harness.MakePool(w.namespace, "mine").PoolName("Gold").Obj())
		w.waitReady("default", "mine")
		By("a pool of the ConfigMap that lost its name to one that was there before, and leaves the ConfigMap again")
		w.configure(pools(entry("default", 1), entry("gold", 1)))
		w.eventuallyPool("gold", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonPoolNameTaken)
		w.configure(pools(entry("default", 1)))
		w.waitGone("gold")
		w.waitReady("default", "mine")
		Eventually(w.poolsYAMLNames).Should(Equal([]string{"default", "Gold"}))
	})

	It("a pool that the bridge did not make is not taken over by the ConfigMap", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.configure(pools(entry("default", 1)))
		w.create(harness.Backend(w.namespace, 1), harness.MakePool(w.namespace, "edge").Replicas(2).Obj())
		w.waitReady("default", "edge")
		w.configure(pools(entry("default", 1), entry("edge", 1)))
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionPoolsApplied).Should(And(
			HaveField("Reason", v1alpha1.ReasonPoolNotOwned), HaveField("Message", ContainSubstring("edge"))))
		Expect(w.pool("edge").Spec.BINDReplicas).To(BeEquivalentTo(2))
		Expect(w.pool("edge").Labels).NotTo(HaveKey(v1alpha1.LabelSource))
	})
})

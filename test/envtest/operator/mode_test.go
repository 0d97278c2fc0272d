package operator_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

var _ = Describe("Mode", func() {
	It("a ConfigMap over a single pool in use says MigrationPending and disturbs nothing", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(harness.Backend(w.namespace, 2))
		w.waitReady("default")
		w.settle()
		before, yaml := w.snapshot("default"), w.poolsYAMLText()
		w.configure(threePools())
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionMigrationPending).Should(HaveField("Status", metav1.ConditionTrue))
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionMultipoolConfigValid).Should(HaveField("Status", metav1.ConditionTrue))
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionReady).Should(HaveField("Reason", v1alpha1.ReasonMigrationPending))
		Consistently(func() map[string]string { return w.snapshot("default") }).Should(Equal(before))
		Expect(w.poolsYAMLText()).To(Equal(yaml))
		Expect(w.statefulSets()).To(Equal([]string{"designate-backendbind9"}))

		By("taking it back")
		Expect(kube.Delete(w, harness.MultipoolConfig(w.namespace, ""))).To(Succeed())
		w.waitReady("default")
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionMigrationPending).Should(BeZero())
		Expect(w.snapshot("default")).To(Equal(before))
	})

	It("a DesignatePool beside a single pool in use waits for the migration", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(harness.Backend(w.namespace, 1))
		w.waitReady("default")
		before := w.snapshot("default")
		w.create(harness.MakePool(w.namespace, "own").Obj())
		w.eventuallyPool("own", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonMigrationPending)
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionMigrationPending).Should(HaveField("Status", metav1.ConditionTrue))
		Expect(w.snapshot("default")).To(Equal(before))
		Expect(kube.Delete(w, w.pool("own"))).To(Succeed())
		w.waitGone("own")
		w.waitReady("default")
	})

	It("on the way back the default pool keeps its last spec, and the others wait for their removal", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.configure(pools(entry("default", 2), entry("edge", 1)))
		w.create(harness.Backend(w.namespace, 1))
		w.waitReady("default", "edge")
		w.settle()
		before := w.snapshot("default")
		Expect(kube.Delete(w, harness.MultipoolConfig(w.namespace, ""))).To(Succeed())
		w.eventuallyPool("edge", v1alpha1.ConditionRemovalBlocked, metav1.ConditionTrue, v1alpha1.ReasonDesignateAccessMissing)
		Consistently(func() map[string]string { return w.snapshot("default") }).Should(Equal(before))
		w.force("edge")
		w.waitGone("edge")
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionMigrationPending).Should(HaveField("Status", metav1.ConditionTrue))
		Consistently(func() map[string]string { return w.snapshot("default") }).Should(Equal(before))
		Expect(w.pool("default").Spec.BINDReplicas).To(BeEquivalentTo(2))
	})

	It("before any server is in use the mode simply changes, and leaves nothing behind", func(ctx SpecContext) {
		w := newWorld(ctx)
		Expect(plane.HoldPods(w, w.namespace, "designate-backendbind9-0")).To(Succeed())
		w.create(harness.Backend(w.namespace, 1))
		Eventually(w.statefulSets).Should(Equal([]string{"designate-backendbind9"}))
		w.configure(threePools())
		w.waitReady("default", "edge", "gold")
		Eventually(w.statefulSets).Should(Equal([]string{
			"designate-backendbind9-pool0", "designate-backendbind9-pool1", "designate-backendbind9-pool2",
		}))
	})

	It("pools without a ConfigMap take the backend's default pool beside them", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(harness.MakePool(w.namespace, "own").Obj(), harness.Backend(w.namespace, 2))
		w.waitReady("default", "own")
		Expect(w.statefulSets()).To(Equal([]string{"designate-backendbind9-pool0", "designate-backendbind9-pool1"}))
		Expect(w.pool("default").Spec.BINDReplicas).To(BeEquivalentTo(2))
		edit(w, v1alpha1.BackendName, &v1alpha1.DesignateBackend{}, func(b *v1alpha1.DesignateBackend) { b.Spec.DefaultPool.BINDReplicas = 1 })
		Eventually(func() int32 { return w.pool("default").Spec.BINDReplicas }).Should(BeEquivalentTo(1))
	})
})

package operator_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

var _ = Describe("Mode", func() {
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

package operator_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

func after() <-chan time.Time { return time.After(700 * time.Millisecond) }

var _ = Describe("The main job", func() {
	It("A1 A2 A5 A13 A16: turns the ConfigMap into DesignatePools, StatefulSets and pools.yaml", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()

		Expect(w.statefulSets()).To(Equal([]string{
			"designate-backendbind9-pool0", "designate-backendbind9-pool1", "designate-backendbind9-pool2",
		}))
		Expect(w.poolsYAMLNames()).To(Equal([]string{"default", "edge", "gold"}))
		set := get(w, "designate-backendbind9-pool2", &appsv1.StatefulSet{})
		Expect(set.Labels).To(HaveKeyWithValue(v1alpha1.LabelPool, "gold"))
		Expect(set.Labels).To(HaveKeyWithValue(v1alpha1.LabelPoolIndex, "2"))
		w.settle()
	})

	It("A6 A13: without the ConfigMap runs one pool under the original name and format", func(ctx context.Context) {
		w := newWorld(ctx)
		w.create(harness.Backend(w.namespace, 2))
		w.waitReady("default")
		Expect(w.statefulSets()).To(Equal([]string{"designate-backendbind9"}))
		Expect(w.poolsYAMLText()).NotTo(ContainSubstring("id:"))
	})
})

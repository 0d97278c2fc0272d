package operator_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

// images are those of the servers of a pool's StatefulSet, by ordinal.
func (w *world) images(statefulSet string, servers int) []string {
	GinkgoHelper()
	var images []string
	for ordinal := range servers {
		pod := &corev1.Pod{}
		if err := kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: fmt.Sprintf("%s-%d", statefulSet, ordinal)}, pod); err != nil || pod.DeletionTimestamp != nil {
			images = append(images, "")
			continue
		}
		images = append(images, pod.Spec.Containers[0].Image)
	}
	return images
}

func (w *world) setImage(image string) {
	GinkgoHelper()
	edit(w, v1alpha1.BackendName, &v1alpha1.DesignateBackend{}, func(b *v1alpha1.DesignateBackend) { b.Spec.BIND.Image = image })
}

var _ = Describe("A change of what servers run", func() {
	const edge, older, newer, newest = "designate-backendbind9-pool1", "registry.example.org/bind9:9.18", "example.org/newer", "example.org/newest"

	It("replaces one server of a pool after the other, the next once the last one is ready", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.configure(pools(entry("default", 1), entry("edge", 3)))
		w.create(harness.Backend(w.namespace, 1))
		w.waitReady("default", "edge")
		w.settle()
		Expect(plane.HoldPods(w, w.namespace, edge+"-2", edge+"-1")).To(Succeed())
		w.setImage(newer)
		Eventually(func() []string { return w.images(edge, 3) }).Should(Equal([]string{older, older, newer}))
		Consistently(func() []string { return w.images(edge, 3) }).Should(Equal([]string{older, older, newer}))
		w.eventuallyPool("edge", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonServersNotReady)
		Expect(plane.ReleasePods(w, w.namespace, edge+"-2")).To(Succeed())
		Eventually(func() []string { return w.images(edge, 3) }).Should(Equal([]string{older, newer, newer}))
		Consistently(func() []string { return w.images(edge, 3) }).Should(Equal([]string{older, newer, newer}))
		Expect(plane.ReleasePods(w, w.namespace, edge+"-1")).To(Succeed())
		w.waitReady("edge", "default")
		Expect(w.images(edge, 3)).To(Equal([]string{newer, newer, newer}))

		By("and is ready for the next change")
		w.settle()
		w.setImage(newest)
		Eventually(func() []string { return w.images(edge, 3) }).Should(Equal([]string{newest, newest, newest}))
		w.waitReady("edge", "default")
	})

	It("stops at the first server that does not start, and is taken back there", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.configure(pools(entry("default", 1), entry("edge", 2)))
		w.create(harness.Backend(w.namespace, 1))
		w.waitReady("default", "edge")
		w.settle()
		first := get(w, edge+"-0", &corev1.Pod{}).UID
		Expect(plane.HoldPods(w, w.namespace, edge+"-1")).To(Succeed())
		w.setImage(newer)
		Eventually(func() []string { return w.images(edge, 2) }).Should(Equal([]string{older, newer}))
		w.setImage(newest)
		Eventually(func() []string { return w.images(edge, 2) }).Should(Equal([]string{older, newest}))
		Consistently(func() []string { return w.images(edge, 2) }).Should(Equal([]string{older, newest}))
		w.setImage(older)
		Eventually(func() []string { return w.images(edge, 2) }).Should(Equal([]string{older, older}))
		Expect(plane.ReleasePods(w, w.namespace, edge+"-1")).To(Succeed())
		w.waitReady("edge", "default")
		Expect(get(w, edge+"-0", &corev1.Pod{}).UID).To(Equal(first), "the other one was never touched")
	})
})

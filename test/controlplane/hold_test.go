package controlplane_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

var _ = Describe("pods in the hands of a test", func() {
	var namespace string
	BeforeEach(func(ctx context.Context) { namespace = newNamespace(ctx) })

	It("never become ready while they are held, and do once released", func(ctx context.Context) {
		Expect(plane.HoldPods(ctx, namespace, "bind-1")).To(Succeed())
		Expect(kube.Create(ctx, statefulSet(namespace, "bind", 3))).To(Succeed())
		Eventually(readyReplicas(ctx, namespace, "bind")).Should(Equal(int32(2)))
		Consistently(readyReplicas(ctx, namespace, "bind")).Should(Equal(int32(2)))
		Expect(getPod(ctx, namespace, "bind-1").Status.Phase).To(Equal(corev1.PodPending))

		Expect(plane.ReleasePods(ctx, namespace, "bind-1")).To(Succeed())
		Eventually(readyReplicas(ctx, namespace, "bind")).Should(Equal(int32(3)))
	})

	It("are held in one namespace only", func(ctx context.Context) {
		Expect(plane.HoldPods(ctx, newNamespace(ctx), "bind-0")).To(Succeed())
		Expect(kube.Create(ctx, statefulSet(namespace, "bind", 1))).To(Succeed())
		Eventually(readyReplicas(ctx, namespace, "bind")).Should(Equal(int32(1)))
	})

	It("become ready when they were released before they existed", func(ctx context.Context) {
		Expect(plane.HoldPods(ctx, namespace, "bind-0")).To(Succeed())
		Expect(plane.ReleasePods(ctx, namespace, "bind-0")).To(Succeed())
		Expect(kube.Create(ctx, statefulSet(namespace, "bind", 1))).To(Succeed())
		Eventually(readyReplicas(ctx, namespace, "bind")).Should(Equal(int32(1)))
	})

	It("stay unready once made so, until they are made ready", func(ctx context.Context) {
		Expect(kube.Create(ctx, statefulSet(namespace, "bind", 2))).To(Succeed())
		Eventually(readyReplicas(ctx, namespace, "bind")).Should(Equal(int32(2)))
		Expect(plane.SetPodReady(ctx, namespace, "bind-0", false)).To(Succeed())
		Eventually(readyReplicas(ctx, namespace, "bind")).Should(Equal(int32(1)))
		Consistently(readyReplicas(ctx, namespace, "bind")).Should(Equal(int32(1)))

		Expect(plane.SetPodReady(ctx, namespace, "bind-0", true)).To(Succeed())
		Eventually(readyReplicas(ctx, namespace, "bind")).Should(Equal(int32(2)))
	})

	It("cannot be made ready before they run", func(ctx context.Context) {
		Expect(plane.HoldPods(ctx, namespace, "bind-0")).To(Succeed())
		Expect(kube.Create(ctx, statefulSet(namespace, "bind", 1))).To(Succeed())
		Eventually(ctx, func() error { return plane.SetPodReady(ctx, namespace, "bind-0", true) }).
			Should(MatchError(ContainSubstring("it is Pending, not Running")))
	})
})

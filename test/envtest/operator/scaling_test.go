package operator_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

// targets is how many servers pools.yaml names for a pool; -1 when it does not hold the pool.
func (w *world) targets(pool string) int {
	if len(w.poolsYAMLNames()) == 0 {
		return -1
	}
	for _, entry := range w.poolsYAML() {
		if entry.Name == pool {
			return len(entry.Targets)
		}
	}
	return -1
}

// servers are those in the status of a pool.
func (w *world) servers(pool string) []v1alpha1.PoolServer {
	GinkgoHelper()
	return w.pool(pool).Status.Servers
}

func (w *world) open(service string) bool {
	GinkgoHelper()
	return builders.ServiceIsOpen(get(w, service, &corev1.Service{}))
}

func (w *world) replicas(statefulSet string) int32 {
	GinkgoHelper()
	return *get(w, statefulSet, &appsv1.StatefulSet{}).Spec.Replicas
}

var _ = Describe("Scaling", func() {
	It("A10: a server takes part once it is ready for the first time, and stays while it is not", func(ctx SpecContext) {
		w := newWorld(ctx)
		Expect(plane.HoldPods(w, w.namespace, "designate-backendbind9-pool1-1")).To(Succeed())
		w.configure(pools(entry("default", 1), entry("edge", 2)))
		w.create(harness.Backend(w.namespace, 1))
		w.eventuallyPool("default", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
		w.eventuallyPool("edge", v1alpha1.ConditionServersReady, metav1.ConditionFalse, v1alpha1.ReasonServersNotReady)

		By("keeping it out of pools.yaml and from clients, with its address given out already")
		Eventually(w.targets).WithArguments("edge").Should(Equal(1))
		Expect(get(w, "designate-backendbind9-pool1-1", &corev1.Service{}).Spec.ClusterIP).NotTo(BeEmpty())
		Consistently(func() bool { return w.open("designate-backendbind9-pool1-1") }).Should(BeFalse())
		Eventually(w.open).WithArguments("designate-backendbind9-pool1-0").Should(BeTrue())
		Eventually(w.targets).WithArguments("edge").Should(Equal(1))
		Expect(w.pool("edge").Status.Servers[1].Joined).To(BeFalse())
		Expect(w.poolCondition("edge", v1alpha1.ConditionReady).Message).To(ContainSubstring("designate-backendbind9-pool1-1"))

		Expect(plane.ReleasePods(w, w.namespace, "designate-backendbind9-pool1-1")).To(Succeed())
		w.waitReady("edge")
		Eventually(w.targets).WithArguments("edge").Should(Equal(2))
		Expect(w.open("designate-backendbind9-pool1-1")).To(BeTrue())

		By("leaving pools.yaml and the client Service alone when it becomes unready")
		w.settle()
		before := w.poolsYAMLText()
		Expect(plane.SetPodReady(w, w.namespace, "designate-backendbind9-pool1-1", false)).To(Succeed())
		w.eventuallyPool("edge", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonServersNotReady)
		Consistently(w.poolsYAMLText).Should(Equal(before))
		Expect(w.open("designate-backendbind9-pool1-1")).To(BeTrue(), "the pod's own readiness decides")
	})

	It("A10: a server that is to go is closed to clients, then out of pools.yaml, then stopped, then its Services go", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		survivors := w.pool("gold").Status.Servers[:1]
		w.settle()
		w.operator.Wire.Reset()
		w.configure(pools(entry("default", 2), entry("edge", 1), entry("gold", 1)))
		w.waitReady("gold")
		Eventually(func() bool {
			return apierrors.IsNotFound(kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: "designate-backendbind9-pool2-2"}, &corev1.Service{}))
		}).Should(BeTrue())
		w.expectOrder(
			"PATCH .*/services/designate-backendbind9-pool2-2",
			"PATCH .*/configmaps/"+v1alpha1.PoolsYAMLName,
			"PATCH .*/statefulsets/designate-backendbind9-pool2",
			"DELETE .*/services/designate-backendbind9-pool2-2",
		)
		Eventually(w.servers).WithArguments("gold").Should(Equal(survivors))
		Eventually(w.targets).WithArguments("gold").Should(Equal(1))
		By("taking the claims along and freeing the keys")
		Eventually(func() error {
			return kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: "zones-designate-backendbind9-pool2-2"}, &corev1.PersistentVolumeClaim{})
		}).Should(Satisfy(apierrors.IsNotFound))
		Eventually(func() map[string][]byte { return get(w, v1alpha1.RNDCSecretName, &corev1.Secret{}).Data }).Should(HaveLen(4))
	})

	It("closes no server to clients before one that stays has joined", func(ctx SpecContext) {
		w := newWorld(ctx)
		Expect(plane.HoldPods(w, w.namespace, "designate-backendbind9-pool1-0")).To(Succeed())
		w.configure(pools(entry("default", 1), entry("edge", 2)))
		w.create(harness.Backend(w.namespace, 1))
		Eventually(w.targets).WithArguments("edge").Should(Equal(1))
		w.configure(pools(entry("default", 1), entry("edge", 1)))
		w.eventuallyPool("edge", v1alpha1.ConditionServersReady, metav1.ConditionFalse, v1alpha1.ReasonScalingDown)
		Consistently(func() bool { return w.open("designate-backendbind9-pool1-1") }, "3s").Should(BeTrue())
		Expect(w.replicas("designate-backendbind9-pool1")).To(BeEquivalentTo(2))
		Eventually(w.targets).WithArguments("edge").Should(Equal(1))

		Expect(plane.ReleasePods(w, w.namespace, "designate-backendbind9-pool1-0")).To(Succeed())
		w.waitReady("edge")
		Expect(w.replicas("designate-backendbind9-pool1")).To(BeEquivalentTo(1))
		Eventually(w.targets).WithArguments("edge").Should(Equal(1))
	})

	It("a pool scaled to 0 keeps its last targets, addresses and keys, and comes back with them", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		gold := w.pool("gold").Status.Servers
		before := w.poolsYAMLText()
		w.configure(pools(entry("default", 2), entry("edge", 1), entry("gold", 0)))
		w.eventuallyPool("gold", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonScaledToZero)
		w.eventuallyPool("gold", v1alpha1.ConditionServersReady, metav1.ConditionTrue, v1alpha1.ReasonScaledToZero)
		Eventually(w.replicas).WithArguments("designate-backendbind9-pool2").Should(BeEquivalentTo(0))
		Consistently(w.poolsYAMLText).Should(Equal(before))
		Expect(w.open("designate-backendbind9-pool2-0")).To(BeFalse())
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionReady).Should(HaveField("Status", metav1.ConditionTrue), "nothing is wrong")

		w.configure(pools(entry("default", 2), entry("edge", 1), entry("gold", 2)))
		w.waitReady("gold")
		Eventually(w.servers).WithArguments("gold").Should(Equal(gold[:2]))
		Eventually(w.targets).WithArguments("gold").Should(Equal(2))
	})

	It("several pools scaled at once, up and down, while one fails, all arrive", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		for round := range 3 {
			w.configure(pools(entry("default", 1+round), entry("edge", 3-round), entry("gold", 1+round%2)))
		}
		w.waitReady("default", "edge", "gold")
		Eventually(w.targets).WithArguments("default").Should(Equal(3))
		Eventually(w.targets).WithArguments("edge").Should(Equal(1))
		Eventually(w.targets).WithArguments("gold").Should(Equal(1))
		keys := map[int32]string{}
		for _, name := range []string{"default", "edge", "gold"} {
			for _, server := range w.pool(name).Status.Servers {
				Expect(keys).NotTo(HaveKey(server.RNDCKey), "%s and %s", keys[server.RNDCKey], server.Pod)
				keys[server.RNDCKey] = server.Pod
			}
		}
	})
})

package operator_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/owned"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

var _ = Describe("Trouble", func() {
	It("R23: a namespace that is being deleted goes once its pools are forced, and not before", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		Expect(kube.Delete(w, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})).To(Succeed())
		w.eventuallyPool("gold", v1alpha1.ConditionRemovalBlocked, metav1.ConditionTrue, v1alpha1.ReasonDesignateAccessMissing)
		for _, name := range []string{"default", "edge", "gold"} {
			w.force(name)
		}
		Eventually(func() error {
			return kube.Get(w, client.ObjectKey{Name: w.namespace}, &corev1.Namespace{})
		}, "60s").Should(Satisfy(apierrors.IsNotFound))
	})

	It("R7 R23: a pool whose finalizer somebody took off keeps its servers and its place, and the status says so", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		w.settle()
		gold, yaml := w.pool("gold"), w.poolsYAMLText()
		w.stopOperator() // Else it would put the finalizer back.
		edit(w, "gold", &v1alpha1.DesignatePool{}, func(p *v1alpha1.DesignatePool) { p.Finalizers = nil })
		Expect(kube.Delete(w, gold)).To(Succeed())
		w.configure(pools(entry("default", 2), entry("edge", 1)))
		w.startOperator()
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionReady).Should(And(
			HaveField("Reason", v1alpha1.ReasonPoolVanished), HaveField("Message", ContainSubstring(string(gold.UID)))))
		Consistently(w.poolsYAMLText, "3s").Should(Equal(yaml))
		Expect(w.statefulSets()).To(ContainElement("designate-backendbind9-pool2"))

		By("an object made anew under the name is a different object, and waits")
		w.create(harness.MakePool(w.namespace, "gold").Obj())
		w.eventuallyPool("gold", v1alpha1.ConditionAccepted, metav1.ConditionFalse, v1alpha1.ReasonPoolNameTaken)

		By("deleting what is left by hand, as the message says")
		for _, list := range append([]client.ObjectList{statefulSetList()}, owned.UsedByServers()...) {
			objects, err := owned.List(w, kube, w.namespace, gold.UID, list)
			Expect(err).NotTo(HaveOccurred())
			for _, object := range objects {
				if _, last := object.(*policyv1.PodDisruptionBudget); !last {
					Expect(client.IgnoreNotFound(kube.Delete(w, object))).To(Succeed())
				}
			}
		}
		Eventually(func() client.Object { return w.objectOf(gold.UID) }).Should(BeAssignableToTypeOf(&policyv1.PodDisruptionBudget{}))
		Expect(kube.Delete(w, w.objectOf(gold.UID))).To(Succeed())
		// Nobody drives the operator at this moment but the events of these deletions.
		w.waitReady("default", "edge", "gold")
		Eventually(w.poolsYAMLNames).Should(Equal([]string{"default", "edge", "gold"}))
	})

	It("a pool name that Designate would take for default is refused, however old the claim", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(harness.MakePool(w.namespace, "early").PoolName("Default").Obj())
		w.eventuallyPool("early", v1alpha1.ConditionAccepted, metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec)
		w.configure(pools(entry("default", 1)))
		w.create(harness.Backend(w.namespace, 1))
		w.eventuallyPool("default", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
		Eventually(w.poolsYAMLNames).Should(Equal([]string{"default"}))
	})

	It("R30: a backend that the webhook would have refused changes nothing, and says why", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		w.settle()
		before, yaml := w.snapshot("edge"), w.poolsYAMLText()
		edit(w, v1alpha1.BackendName, &v1alpha1.DesignateBackend{}, func(b *v1alpha1.DesignateBackend) {
			b.Spec.BIND.Options = []string{"recursion yes;"}
			b.Spec.Primaries[0].Port = 1
		})
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionAccepted).Should(And(
			HaveField("Status", metav1.ConditionFalse), HaveField("Message", ContainSubstring("recursion"))))
		w.eventuallyPool("edge", v1alpha1.ConditionServersReady, metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec)
		Consistently(w.poolsYAMLText).Should(Equal(yaml))
		edit(w, v1alpha1.BackendName, &v1alpha1.DesignateBackend{}, func(b *v1alpha1.DesignateBackend) {
			b.Spec.BIND.Options = nil
			b.Spec.Primaries[0].Port = 5354
		})
		w.waitReady("default", "edge", "gold")
		Expect(w.snapshot("edge")).To(Equal(before))
	})

	It("an invalid spec that was stored leaves the last accepted one in force", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.configure(pools(entry("default", 1)))
		w.create(harness.Backend(w.namespace, 1), harness.MakePool(w.namespace, "own").Replicas(2).Obj())
		w.waitReady("default", "own")
		w.settle()
		before := w.snapshot("own")
		edit(w, "own", &v1alpha1.DesignatePool{}, func(p *v1alpha1.DesignatePool) {
			p.Spec.BINDReplicas = 0
			p.Spec.NSRecords = []v1alpha1.NSRecord{{Hostname: "ns1.example.org.", Priority: 1}, {Hostname: "NS1.example.org", Priority: 2}}
		})
		w.eventuallyPool("own", v1alpha1.ConditionAccepted, metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec)
		w.eventuallyPool("own", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec)
		Consistently(func() map[string]string { return w.snapshot("own") }).Should(Equal(before))
	})

	It("R1: a ledger that is not ours makes nobody guess, and the status says so", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.LedgerName}})
		w.configure(threePools())
		w.create(harness.Backend(w.namespace, 1))
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionReady).Should(And(
			HaveField("Status", metav1.ConditionUnknown), HaveField("Reason", v1alpha1.ReasonStateUnknown),
			HaveField("Message", ContainSubstring(v1alpha1.LedgerName))))
		Consistently(w.statefulSets).Should(BeEmpty())
	})
})

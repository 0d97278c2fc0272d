package operator_test

import (
	"net/http"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/owned"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

// force annotates a pool so that it may go without anybody asking Designate.
func (w *world) force(name string) {
	GinkgoHelper()
	edit(w, name, &v1alpha1.DesignatePool{}, func(p *v1alpha1.DesignatePool) {
		metav1.SetMetaDataAnnotation(&p.ObjectMeta, v1alpha1.AnnotationForceRemoval, p.PoolName())
	})
}

// waitGone waits until a pool is gone and nothing that bears its UID is left.
func (w *world) waitGone(name string) {
	GinkgoHelper()
	pool := &v1alpha1.DesignatePool{}
	err := kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: name}, pool)
	Expect(client.IgnoreNotFound(err)).NotTo(HaveOccurred())
	Eventually(func() bool {
		err := kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: name}, &v1alpha1.DesignatePool{})
		return apierrors.IsNotFound(err)
	}).Should(BeTrue(), "pool %s is still there", name)
	if pool.UID != "" {
		Expect(w.objectOf(pool.UID)).To(BeNil(), "left behind by %s", name)
	}
}

func (w *world) objectOf(uid types.UID) client.Object {
	GinkgoHelper()
	object, err := owned.Any(w, kube, w.namespace, uid)
	Expect(err).NotTo(HaveOccurred())
	return object
}

var _ = Describe("Removal", func() {
	It("R17: a pool bears its finalizer before anything is made for it", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.operator.Wire.Reset()
		w.deployThreePools()
		writes := w.operator.Wire.Writes()
		finalizer := slices.Index(writes, "PATCH /apis/designate.openstack.org/v1alpha1/namespaces/"+w.namespace+"/designatepools/gold")
		set := slices.IndexFunc(writes, func(write string) bool { return strings.HasSuffix(write, "/statefulsets/designate-backendbind9-pool2") })
		Expect(finalizer).To(BeNumerically(">=", 0))
		Expect(set).To(BeNumerically(">", finalizer))
		Expect(w.pool("gold").Finalizers).To(ConsistOf(v1alpha1.PoolFinalizer))
	})

	It("a pool that left the ConfigMap is blocked, works on, can be scaled, and is unmarked when it is put back", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		gold := w.snapshot("gold")
		w.configure(pools(entry("default", 2), entry("edge", 1)))
		w.eventuallyPool("gold", v1alpha1.ConditionRemovalBlocked, metav1.ConditionTrue, v1alpha1.ReasonDesignateAccessMissing)
		Expect(w.pool("gold").Annotations).To(HaveKey(v1alpha1.AnnotationRemovalRequested))

		By("R5: the backend carries the pool's own reason and name")
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionRemovalBlocked).Should(And(
			HaveField("Reason", v1alpha1.ReasonDesignateAccessMissing), HaveField("Message", ContainSubstring("gold"))))
		Consistently(func() map[string]string { return w.snapshot("gold") }).Should(Equal(gold))
		Expect(w.poolCondition("gold", v1alpha1.ConditionReady).Status).To(Equal(metav1.ConditionTrue))

		By("a force annotation with another name forces nothing")
		edit(w, "gold", &v1alpha1.DesignatePool{}, func(p *v1alpha1.DesignatePool) {
			p.Annotations[v1alpha1.AnnotationForceRemoval] = "edge"
		})
		w.eventuallyPool("gold", v1alpha1.ConditionRemovalBlocked, metav1.ConditionTrue, v1alpha1.ReasonForceAnnotationMismatch)
		edit(w, "gold", &v1alpha1.DesignatePool{}, func(p *v1alpha1.DesignatePool) {
			delete(p.Annotations, v1alpha1.AnnotationForceRemoval)
		})

		By("putting it back with one server less")
		w.configure(pools(entry("default", 2), entry("edge", 1), entry("gold", 2)))
		w.waitReady("gold")
		Expect(w.pool("gold").Annotations).NotTo(HaveKey(v1alpha1.AnnotationRemovalRequested))
		Eventually(w.poolCondition).WithArguments("gold", v1alpha1.ConditionRemovalBlocked).Should(BeZero())
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionRemovalBlocked).Should(BeZero())
	})

	It("R21: foreground deletion loses nothing before its turn, with the garbage collector running", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.configure(pools(entry("default", 1)))
		w.create(harness.Backend(w.namespace, 1), harness.MakePool(w.namespace, "own").Replicas(2).Obj())
		w.waitReady("default", "own")
		before := w.snapshot("own")
		Expect(before).To(HaveKey("*v1.PersistentVolumeClaim zones-designate-backendbind9-pool1-1"))

		Expect(kube.Delete(w, w.pool("own"), client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())
		w.eventuallyPool("own", v1alpha1.ConditionRemovalBlocked, metav1.ConditionTrue, v1alpha1.ReasonDesignateAccessMissing)
		Consistently(func() map[string]string { return w.snapshot("own") }, "5s").Should(Equal(before))
		Eventually(w.poolsYAMLNames).Should(ContainElement("own"))

		w.force("own")
		w.waitGone("own")
		Eventually(w.poolsYAMLNames).Should(Equal([]string{"default"}))
	})

	It("R18 A11: a forced removal goes out of pools.yaml, then scales to 0, then deletes", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		w.configure(pools(entry("default", 2), entry("edge", 1)))
		w.eventuallyPool("gold", v1alpha1.ConditionRemovalBlocked, metav1.ConditionTrue, v1alpha1.ReasonDesignateAccessMissing)
		w.settle()
		w.operator.Wire.Reset()
		w.force("gold")
		w.waitGone("gold")

		set := "/statefulsets/designate-backendbind9-pool2"
		w.expectOrder(
			"PATCH .*/configmaps/"+v1alpha1.PoolsYAMLName,
			"DELETE .*/designatepools/gold",
			"PATCH .*"+set,
			"DELETE .*"+set,
			"DELETE .*/services/designate-backendbind9-pool2-0",
			"PATCH .*/designatepools/gold",
		)
		secret := get(w, v1alpha1.RNDCSecretName, &corev1.Secret{})
		Eventually(func() map[string][]byte { return get(w, v1alpha1.RNDCSecretName, secret).Data }).Should(HaveLen(3))
	})

	It("the default pool stays as long as its backend, forced or not", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		Expect(kube.Delete(w, w.pool("default"))).To(Succeed())
		w.force("default")
		w.eventuallyPool("default", v1alpha1.ConditionRemovalBlocked, metav1.ConditionTrue, v1alpha1.ReasonDefaultPoolRequired)
		Consistently(w.poolsYAMLNames).Should(ContainElement("default"))
		Expect(w.statefulSets()).To(ContainElement("designate-backendbind9-pool0"))
	})

	It("R15 R23: deleting the backend removes all pools by the gate, the default one last", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		Expect(kube.Delete(w, get(w, v1alpha1.BackendName, &v1alpha1.DesignateBackend{}))).To(Succeed())
		w.eventuallyPool("edge", v1alpha1.ConditionRemovalBlocked, metav1.ConditionTrue, v1alpha1.ReasonDesignateAccessMissing)
		w.eventuallyPool("default", v1alpha1.ConditionRemovalBlocked, metav1.ConditionTrue, v1alpha1.ReasonOtherPoolsRemain)
		for _, name := range []string{"default", "edge", "gold"} {
			w.force(name)
		}
		w.waitGone("edge")
		w.waitGone("gold")
		w.waitGone("default")
		Eventually(func() bool {
			return apierrors.IsNotFound(kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: v1alpha1.BackendName}, &v1alpha1.DesignateBackend{}))
		}).Should(BeTrue())
		for _, name := range []string{v1alpha1.PoolsYAMLName, v1alpha1.LedgerName} {
			err := kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: name}, &corev1.ConfigMap{})
			Expect(apierrors.IsNotFound(err)).To(BeTrue(), name)
		}
	})

	It("R15 R23: a pool can still be removed after its backend vanished, and until then serves", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		gold := w.snapshot("gold")
		edit(w, v1alpha1.BackendName, &v1alpha1.DesignateBackend{}, func(b *v1alpha1.DesignateBackend) { b.Finalizers = nil })
		w.stopOperator() // Else it would put the finalizer back.
		edit(w, v1alpha1.BackendName, &v1alpha1.DesignateBackend{}, func(b *v1alpha1.DesignateBackend) { b.Finalizers = nil })
		Expect(kube.Delete(w, get(w, v1alpha1.BackendName, &v1alpha1.DesignateBackend{}))).To(Succeed())
		w.startOperator()
		w.eventuallyPool("gold", v1alpha1.ConditionServersReady, metav1.ConditionFalse, v1alpha1.ReasonBackendMissing)
		Expect(w.snapshot("gold")).To(Equal(gold))

		Expect(kube.Delete(w, w.pool("edge"))).To(Succeed())
		w.force("edge")
		w.waitGone("edge")
		Eventually(w.poolsYAMLNames).Should(Equal([]string{"default", "gold"}))
		Expect(w.snapshot("gold")).To(Equal(gold))
	})

	It("R7: what cannot be listed is not taken for gone", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		w.configure(pools(entry("default", 2), entry("edge", 1)))
		w.eventuallyPool("gold", v1alpha1.ConditionRemovalBlocked, metav1.ConditionTrue, v1alpha1.ReasonDesignateAccessMissing)
		w.operator.Wire.Fail(func(r *http.Request) bool {
			return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/persistentvolumeclaims") && r.URL.Query().Get("watch") == ""
		})
		w.force("gold")
		Eventually(w.statefulSets).ShouldNot(ContainElement("designate-backendbind9-pool2"))
		Consistently(func() []string { return w.pool("gold").Finalizers }, "3s").Should(ConsistOf(v1alpha1.PoolFinalizer))
		w.operator.Wire.Fail(nil)
		w.waitGone("gold")
	})

	It("R22: the identity of a pool cannot be changed", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(harness.MakePool(w.namespace, "named").PoolName("Named").Obj(), harness.MakePool(w.namespace, "plain").Obj())
		for name, change := range map[string]string{"named": "Other", "plain": "plain"} {
			pool := w.pool(name)
			pool.Spec.PoolName = change
			Expect(kube.Update(w, pool)).To(MatchError(ContainSubstring("poolName cannot be changed")))
		}
		pool := w.pool("named")
		pool.Spec.PoolName = ""
		Expect(kube.Update(w, pool)).To(MatchError(ContainSubstring("poolName cannot be changed")))
	})

	It("R21: nothing that serves DNS has an owner reference to the pool", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		for _, list := range append(owned.UsedByServers(), &appsv1.StatefulSetList{}) {
			objects, err := owned.List(w, kube, w.namespace, w.pool("gold").UID, list)
			Expect(err).NotTo(HaveOccurred())
			Expect(objects).NotTo(BeEmpty(), "%T", list)
			for _, object := range objects {
				for _, owner := range object.GetOwnerReferences() {
					Expect(owner.Kind).NotTo(HavePrefix("Designate"), object.GetName())
				}
			}
		}
	})
})

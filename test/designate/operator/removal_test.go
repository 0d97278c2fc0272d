package operator_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/test/designate/faults"
	"github.com/designate-pools/designate-pool-operator/test/designate/running"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

// withGold makes the pool gold in Designate, a world with a DesignatePool of it, and waits until the operator knows it.
func withGold(ctx context.Context, access *v1alpha1.DesignateAccess) *world {
	GinkgoHelper()
	makeGold(ctx)
	w := newWorld(ctx, access, harness.MakePool("", "gold").Obj())
	w.eventuallyZones("gold", 0)
	Eventually(func() bool { return w.runs("gold") }).WithContext(ctx).Should(BeTrue(), "the StatefulSet of gold")
	// No zones is what the id says, too, that the pool has before Designate has told of its own.
	Eventually(func() string { return w.pool("gold").Status.PoolID }).WithContext(ctx).Should(Equal(goldID))
	return w
}

// makeGoldZone makes an active zone in the pool gold, and has it removed after the spec.
func makeGoldZone(ctx context.Context, label string) running.Zone {
	GinkgoHelper()
	zone, err := stack.CreateZone(ctx, projectB, zoneName(label), map[string]string{"service_tier": "gold"})
	Expect(err).NotTo(HaveOccurred())
	Expect(zone.PoolID).To(Equal(goldID))
	DeferCleanup(stack.RemoveZone, zone.ID)
	return zone
}

// runs says that the StatefulSet of a pool that began with the index 1 is there.
func (w *world) runs(name string) bool {
	GinkgoHelper()
	sets := &appsv1.StatefulSetList{}
	Expect(kube.List(w, sets, client.InNamespace(w.namespace), client.MatchingLabels{v1alpha1.LabelPool: name})).To(Succeed())
	return len(sets.Items) > 0
}

// blocked is why the removal of a pool is blocked; empty when it is not.
func (w *world) blocked(name string) string {
	c := meta.FindStatusCondition(w.pool(name).Status.Conditions, v1alpha1.ConditionRemovalBlocked)
	if c == nil {
		return ""
	}
	return c.Reason + ": " + c.Message
}

func (w *world) eventuallyBlocked(name, reason string) {
	GinkgoHelper()
	Eventually(func() string { return w.blocked(name) }).WithContext(w).Should(HavePrefix(reason + ":"))
}

// remove asks for the removal of a pool.
func (w *world) remove(name string) {
	GinkgoHelper()
	Expect(kube.Delete(w, w.pool(name))).To(Succeed())
}

// eventuallyGone waits until a pool is gone, from Designate and from here.
func (w *world) eventuallyGone(name, id string) {
	GinkgoHelper()
	Eventually(func() bool {
		err := kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: name}, &v1alpha1.DesignatePool{})
		return apierrors.IsNotFound(err) && !w.runs(name)
	}).WithContext(w).Should(BeTrue(), "pool "+name)
	Expect(designateHas(w, id)).To(BeFalse(), "Designate still has "+name)
}

// designateHas says that Designate has a pool.
func designateHas(ctx context.Context, id string) bool {
	GinkgoHelper()
	answer, err := stack.NoAuth("any").Do(ctx, http.MethodGet, "/v2/pools/"+id, nil)
	Expect(err).NotTo(HaveOccurred())
	Expect(answer.Status).To(BeElementOf(http.StatusOK, http.StatusNotFound))
	return answer.Status == http.StatusOK
}

var _ = Describe("Removal of a pool", Ordered, Serial, func() {
	It("R18: is blocked by a zone of any kind and in any state, and goes on by itself once it is gone", func(ctx context.Context) {
		w := withGold(ctx, at(stack.NoAuthURL))
		zone := makeGoldZone(ctx, "of-another-project")
		_, err := stack.AwaitZone(ctx, zone.ID, "ACTIVE/NONE")
		Expect(err).NotTo(HaveOccurred())

		By("holding it in states that pass by quickly: nobody does the work")
		Expect(stack.Stop(ctx, running.Worker)).To(Succeed())
		Expect(stack.Stop(ctx, running.Producer)).To(Succeed())
		idle := true
		work := func(ctx context.Context) {
			if idle {
				idle = false
				Expect(stack.Start(ctx, running.Producer)).To(Succeed())
				Expect(stack.Start(ctx, running.Worker)).To(Succeed())
			}
		}
		DeferCleanup(work)
		w.remove("gold")
		set := func(columns string) {
			GinkgoHelper()
			_, err := stack.SQL(ctx, "designate", "UPDATE zones SET "+columns+" WHERE name='"+zone.Name+"'")
			Expect(err).NotTo(HaveOccurred())
		}
		for _, state := range []struct{ columns, reason string }{
			{"status='ACTIVE', action='NONE'", v1alpha1.ReasonZonesExist},
			{"status='PENDING', action='DELETE'", v1alpha1.ReasonZonesBeingDeleted},
			{"status='ERROR', action='CREATE'", v1alpha1.ReasonZonesExist},
			{"status='ERROR', action='DELETE'", v1alpha1.ReasonZonesBeingDeleted},
			{"status='ACTIVE', action='NONE', type='SECONDARY'", v1alpha1.ReasonZonesExist},
			{"status='PENDING', action='DELETE', type='PRIMARY'", v1alpha1.ReasonZonesBeingDeleted},
		} {
			set(state.columns)
			w.eventuallyBlocked("gold", state.reason)
			Expect(w.blocked("gold")).To(ContainSubstring(zone.Name))
			Expect(designateHas(ctx, goldID)).To(BeTrue())
			Expect(w.runs("gold")).To(BeTrue())
		}
		By("R5: the backend carries the pool's own reason and name")
		Expect(meta.FindStatusCondition(w.backend().Status.Conditions, v1alpha1.ConditionRemovalBlocked)).To(And(
			HaveField("Reason", v1alpha1.ReasonZonesBeingDeleted), HaveField("Message", ContainSubstring("gold"))))

		work(ctx)
		Expect(stack.RemoveZone(ctx, zone.ID)).To(Succeed())
		w.eventuallyGone("gold", goldID)
	})

	It("is refused by Designate while a zone is made between the listing and the deletion", func(ctx context.Context) {
		proxy, w := behindProxy(ctx)
		var zone running.Zone
		var once sync.Once
		proxy.Break("/v2/pools/"+goldID, faults.Before(func() {
			once.Do(func() { zone = makeGoldZone(ctx, "just-before") })
		}))
		w.remove("gold")
		w.eventuallyBlocked("gold", v1alpha1.ReasonZonesExist)
		Expect(w.blocked("gold")).To(ContainSubstring(zone.Name))
		Expect(designateHas(ctx, goldID)).To(BeTrue())
		Expect(w.runs("gold")).To(BeTrue())
		Expect(stack.RemoveZone(ctx, zone.ID)).To(Succeed())
		w.eventuallyGone("gold", goldID)
	})

	It("is taken back when a zone slipped in while Designate deleted the pool", func(ctx context.Context) {
		proxy, w := behindProxy(ctx)
		zone, err := stack.CreateZone(ctx, projectB, zoneName("slips-in"), nil)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(stack.RemoveZone, zone.ID)
		var once sync.Once
		proxy.Break("/v2/pools/"+goldID, faults.After(func() {
			// As if it had been under way: Designate looks for the pool first, and writes the zone later.
			once.Do(func() {
				_, err := stack.SQL(ctx, "designate", "UPDATE zones SET pool_id='"+strings.ReplaceAll(goldID, "-", "")+"' WHERE name='"+zone.Name+"'")
				Expect(err).NotTo(HaveOccurred())
			})
		}))
		w.remove("gold")
		Eventually(func() string { return w.blocked("gold") }).WithContext(ctx).Should(And(
			HavePrefix(v1alpha1.ReasonZonesExist), ContainSubstring(zone.Name), ContainSubstring("apply pools.yaml")))
		Expect(designateHas(ctx, goldID)).To(BeFalse())
		Expect(w.runs("gold")).To(BeTrue())

		By("making the pool again, which people do here")
		Expect(stack.ApplyPools(ctx, stack.PoolOf("gold", goldID, map[string]string{"service_tier": "gold"}, stack.Servers[2]))).To(Succeed())
		Eventually(func() string { return w.blocked("gold") }).WithContext(ctx).ShouldNot(ContainSubstring("apply pools.yaml"))
		_, err = stack.AwaitZone(ctx, zone.ID, "ACTIVE/NONE")
		Expect(err).NotTo(HaveOccurred())
		Expect(w.runs("gold")).To(BeTrue())
		Expect(stack.RemoveZone(ctx, zone.ID)).To(Succeed())
		w.eventuallyGone("gold", goldID)
	})

	DescribeTable("R15: waits for Designate, says so, and goes on by itself", func(ctx context.Context, path string, fault faults.Fault, reason string) {
		proxy, w := behindProxy(ctx)
		proxy.Break(path, fault)
		w.remove("gold")
		w.eventuallyBlocked("gold", reason)
		Consistently(func() bool { return w.runs("gold") }).WithContext(ctx).WithTimeout(3 * time.Second).Should(BeTrue())
		proxy.Mend()
		w.eventuallyGone("gold", goldID)
	},
		Entry("the listing answers 500", "/v2/zones", faults.Status(http.StatusInternalServerError, ""), v1alpha1.ReasonDesignateUnreachable),
		Entry("the deletion is frozen", "/v2/pools/", faults.Freeze(), v1alpha1.ReasonDesignateUnreachable),
		Entry("R16: the deletion is answered 404 by something in between", "/v2/pools/", faults.Status(http.StatusNotFound, html),
			v1alpha1.ReasonDesignateUnreachable),
		Entry("the deletion is done and its answer is lost", "/v2/pools/", faults.Lost(), v1alpha1.ReasonDesignateUnreachable),
	)

	It("R20 R23: of a DesignatePool whose finalizer somebody took off while no operator ran, by the same gate", func(ctx context.Context) {
		w := withGold(ctx, at(stack.NoAuthURL))
		zone := makeGoldZone(ctx, "of-a-vanished-pool")
		w.eventuallyZones("gold", 1)
		leftover := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: "of-nobody",
			Labels:      map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator, v1alpha1.LabelPoolUID: "nobody"},
			Annotations: map[string]string{v1alpha1.AnnotationPoolName: "gold"},
		}}
		w.stopOperator()
		pool := w.pool("gold")
		pool.Finalizers = nil
		Expect(kube.Update(ctx, pool)).To(Succeed())
		Expect(kube.Delete(ctx, pool)).To(Succeed())
		w.startOperator()
		blocked := func() string {
			c := meta.FindStatusCondition(w.backend().Status.Conditions, v1alpha1.ConditionRemovalBlocked)
			if c == nil {
				return ""
			}
			return c.Reason + ": " + c.Message
		}
		Eventually(blocked).WithContext(ctx).Should(And(HavePrefix(v1alpha1.ReasonZonesExist), ContainSubstring(zone.Name)))
		Expect(w.runs("gold")).To(BeTrue())
		Expect(stack.RemoveZone(ctx, zone.ID)).To(Succeed())
		w.eventuallyGone("gold", goldID)

		By("what belongs to nobody at all goes once the operator is started anew")
		w.stopOperator()
		Expect(kube.Create(ctx, leftover)).To(Succeed())
		w.startOperator()
		Eventually(func() bool {
			return apierrors.IsNotFound(kube.Get(ctx, client.ObjectKeyFromObject(leftover), &corev1.Secret{}))
		}).WithContext(ctx).Should(BeTrue())
	})

	It("leaves the default pool in Designate when the DesignateBackend goes, blocked by an imported zone until then", func(ctx context.Context) {
		w := newWorld(ctx, at(stack.NoAuthURL))
		Eventually(func() *v1alpha1.PoolZones { return w.pool("default").Status.Zones }).WithContext(ctx).ShouldNot(BeNil())
		imported := importZone(ctx, zoneName("imported"))
		DeferCleanup(stack.RemoveZone, imported)
		Expect(kube.Delete(ctx, w.backend())).To(Succeed())
		w.eventuallyBlocked("default", v1alpha1.ReasonZonesExist)
		Expect(w.runs("default")).To(BeTrue())
		Expect(stack.RemoveZone(ctx, imported)).To(Succeed())
		Eventually(func() bool { return w.runs("default") }).WithContext(ctx).Should(BeFalse())
		Expect(designateHas(ctx, running.DefaultPoolID)).To(BeTrue())
		Eventually(func() bool {
			err := kube.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: v1alpha1.BackendName}, &v1alpha1.DesignateBackend{})
			return apierrors.IsNotFound(err)
		}).WithContext(ctx).Should(BeTrue())
	})
})

// behindProxy is a world with the pool gold whose operator reaches Designate through a proxy.
func behindProxy(ctx context.Context) (*faults.Proxy, *world) {
	GinkgoHelper()
	proxy, err := faults.Start("127.0.0.1:0", stack.NoAuthURL)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(proxy.Refuse()).To(Succeed()) })
	return proxy, withGold(ctx, at(proxy.URL))
}

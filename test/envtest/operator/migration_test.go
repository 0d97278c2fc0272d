package operator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/statistics"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

const (
	single = "designate-backendbind9"
	multi  = "designate-backendbind9-pool0"
)

// leads is the pod to which a client Service of the default pool leads; empty while it leads nowhere.
func (w *world) leads(ordinal int) string {
	GinkgoHelper()
	service := get(w, builders.ClientServiceName(0, int32(ordinal)), &corev1.Service{})
	for _, statefulSet := range []string{single, multi} {
		if pod := fmt.Sprintf("%s-%d", statefulSet, ordinal); builders.ServiceLeadsTo(service, pod) {
			return pod
		}
	}
	return ""
}

// watchClients watches the client Services of the default pool, and says in the end whether one of them was closed or gone at any
// moment, or had another address.
func (w *world) watchClients() (verify func()) {
	GinkgoHelper()
	addresses := map[string]string{}
	var services corev1.ServiceList
	selector := client.MatchingLabels{v1alpha1.LabelPool: v1alpha1.DefaultPoolName, v1alpha1.LabelServiceRole: v1alpha1.ServiceRoleClient}
	Expect(kube.List(w, &services, client.InNamespace(w.namespace), selector)).To(Succeed())
	for i := range services.Items {
		addresses[services.Items[i].Name] = services.Items[i].Spec.ClusterIP
	}
	Expect(addresses).NotTo(BeEmpty())
	events, err := kube.Watch(context.WithoutCancel(w), &corev1.ServiceList{}, client.InNamespace(w.namespace), selector)
	Expect(err).NotTo(HaveOccurred())
	problems, done := []string{}, make(chan struct{})
	seen := 0
	go func() {
		defer close(done)
		for event := range events.ResultChan() {
			service, ok := event.Object.(*corev1.Service)
			if !ok || addresses[service.Name] == "" {
				continue
			}
			seen++
			if event.Type == watch.Deleted || !builders.ServiceIsOpen(service) || service.Spec.ClusterIP != addresses[service.Name] {
				problems = append(problems, fmt.Sprintf("%s %s %s %v", event.Type, service.Name, service.Spec.ClusterIP, service.Spec.Selector))
			}
		}
	}()
	DeferCleanup(events.Stop)
	return func() {
		GinkgoHelper()
		events.Stop()
		<-done
		Expect(problems).To(BeEmpty(), "clients were led nowhere, or elsewhere")
		Expect(seen).To(BeNumerically(">=", len(addresses)), "nothing was watched")
	}
}

// noZones says of every server that it has no zones, so that any other one can take over from it.
func noZones(context.Context, string) (*statistics.Zones, error) { return &statistics.Zones{}, nil }

// keys are those of all servers.
func (w *world) keys() map[string][]byte {
	GinkgoHelper()
	return get(w, v1alpha1.RNDCSecretName, &corev1.Secret{}).Data
}

// migrating is the reason of the condition Migrating; empty without it.
func (w *world) migrating() string {
	GinkgoHelper()
	return w.backendCondition(v1alpha1.ConditionMigrating).Reason
}

var _ = Describe("A12: Migration", func() {
	It("creating the ConfigMap moves a single pool to several, deleting it moves it back, and clients are led somewhere at any moment", func(ctx SpecContext) {
		w := newWorldAsking(ctx, noZones)
		w.create(harness.Backend(w.namespace, 2))
		w.waitReady("default")
		w.settle()
		keys, verify := w.keys(), w.watchClients()

		By("waiting for new servers, with the old ones in use")
		Expect(plane.HoldPods(w, w.namespace, multi+"-0", multi+"-1")).To(Succeed())
		w.configure(pools(entry("default", 2), entry("edge", 1)))
		Eventually(w.statefulSets).Should(Equal([]string{single, multi, "designate-backendbind9-pool1"}))
		Eventually(w.migrating).Should(Equal(v1alpha1.ReasonServersMoving))
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionReady).Should(HaveField("Reason", v1alpha1.ReasonServersMoving))
		w.eventuallyPool("edge", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
		Consistently(func() []string { return []string{w.leads(0), w.leads(1)} }).Should(Equal([]string{single + "-0", single + "-1"}))
		Eventually(w.targets).WithArguments("default").Should(Equal(2))

		By("leading the clients of server 1 over once it is ready, and stopping the old one")
		Expect(plane.ReleasePods(w, w.namespace, multi+"-1")).To(Succeed())
		Eventually(w.leads).WithArguments(1).Should(Equal(multi + "-1"))
		Eventually(w.replicas).WithArguments(single).Should(BeEquivalentTo(1))
		Expect(w.leads(0)).To(Equal(single + "-0"))
		Expect(w.backendCondition(v1alpha1.ConditionMigrating).Message).To(ContainSubstring("clients of 1 of its 2 servers"))
		Expect(w.targets("default")).To(Equal(2))

		By("and then those of server 0")
		Expect(plane.ReleasePods(w, w.namespace, multi+"-0")).To(Succeed())
		w.waitReady("default")
		Eventually(w.statefulSets).Should(Equal([]string{multi, "designate-backendbind9-pool1"}))
		Eventually(w.migrating).Should(BeEmpty())
		Expect([]string{w.leads(0), w.leads(1)}).To(Equal([]string{multi + "-0", multi + "-1"}))
		Expect(w.pool("default").Status.StatefulSet).To(Equal(multi))
		Eventually(func() string { return w.backendCondition(v1alpha1.ConditionReady).Reason }).Should(Equal(v1alpha1.ReasonReady))

		By("going back: the other pools first, and the default pool keeps its last spec until they are gone")
		Expect(kube.Delete(w, harness.MultipoolConfig(w.namespace, ""))).To(Succeed())
		w.eventuallyPool("edge", v1alpha1.ConditionRemovalBlocked, metav1.ConditionTrue, v1alpha1.ReasonDesignateAccessMissing)
		Eventually(w.migrating).Should(Equal(v1alpha1.ReasonWaitingForPools))
		Expect(w.backendCondition(v1alpha1.ConditionMigrating).Message).To(ContainSubstring("removed: edge."))
		Consistently(func() []string { return []string{w.leads(0), w.leads(1)} }).Should(Equal([]string{multi + "-0", multi + "-1"}))
		w.force("edge")
		w.waitGone("edge")
		Eventually(w.statefulSets).Should(Equal([]string{single}))
		w.waitReady("default")
		Eventually(w.migrating).Should(BeEmpty())
		Expect([]string{w.leads(0), w.leads(1)}).To(Equal([]string{single + "-0", single + "-1"}))
		Expect(w.poolsYAMLText()).NotTo(ContainSubstring("  id: "), "the original format")

		verify()
		now := w.keys()
		for name, key := range keys {
			Expect(now).To(HaveKeyWithValue(name, key))
		}
		Expect(now).To(HaveLen(len(keys)))
	})

	It("taken back half-way, it ends where it began", func(ctx SpecContext) {
		w := newWorldAsking(ctx, noZones)
		w.create(harness.Backend(w.namespace, 2))
		w.waitReady("default")
		w.settle()
		before, verify := w.snapshot("default"), w.watchClients()
		Expect(plane.HoldPods(w, w.namespace, multi+"-0")).To(Succeed())
		w.configure(pools(entry("default", 2)))
		Eventually(w.leads).WithArguments(1).Should(Equal(multi + "-1"))
		Eventually(w.replicas).WithArguments(single).Should(BeEquivalentTo(1))
		Expect(kube.Delete(w, harness.MultipoolConfig(w.namespace, ""))).To(Succeed())
		Eventually(w.statefulSets).Should(Equal([]string{single}))
		w.waitReady("default")
		Expect([]string{w.leads(0), w.leads(1)}).To(Equal([]string{single + "-0", single + "-1"}))
		for name, state := range w.snapshot("default") {
			// Server 1 had left.
			if name == "*v1.Service "+single+"-1" || strings.Contains(name, single+"-0") {
				Expect(before).To(HaveKeyWithValue(name, state))
			}
		}
		verify()
	})

	It("ends with as many servers as the ConfigMap asks for, whatever the DesignateBackend had", func(ctx SpecContext) {
		w := newWorldAsking(ctx, noZones)
		w.create(harness.Backend(w.namespace, 3))
		w.waitReady("default")
		w.settle()
		w.configure(pools(entry("default", 1)))
		Eventually(w.statefulSets).Should(Equal([]string{multi}))
		w.waitReady("default")
		Expect(w.servers("default")).To(HaveLen(1))
		Expect(w.leads(0)).To(Equal(multi + "-0"))
		Eventually(w.keys).Should(HaveLen(1))
		Expect(kube.Delete(w, harness.MultipoolConfig(w.namespace, ""))).To(Succeed())
		Eventually(w.statefulSets).Should(Equal([]string{single}))
		w.waitReady("default")
		Expect(w.servers("default")).To(HaveLen(3))
	})

	It("begins with a DesignatePool that people make beside a single pool, too, and the pool stays without a ConfigMap", func(ctx SpecContext) {
		w := newWorldAsking(ctx, noZones)
		w.create(harness.Backend(w.namespace, 1))
		w.waitReady("default")
		w.create(harness.MakePool(w.namespace, "own").Obj())
		w.waitReady("own", "default")
		Eventually(w.statefulSets).Should(Equal([]string{multi, "designate-backendbind9-pool1"}))
		Eventually(w.migrating).Should(BeEmpty())
		Expect(w.poolsYAMLNames()).To(Equal([]string{"default", "own"}))
	})

	It("goes on after the ledger was lost half-way", func(ctx SpecContext) {
		w := newWorldAsking(ctx, noZones)
		w.create(harness.Backend(w.namespace, 2))
		w.waitReady("default")
		w.settle()
		keys, verify := w.keys(), w.watchClients()
		Expect(plane.HoldPods(w, w.namespace, multi+"-0")).To(Succeed())
		w.configure(pools(entry("default", 2)))
		Eventually(w.leads).WithArguments(1).Should(Equal(multi + "-1"))
		w.stopOperator()
		Expect(kube.Delete(w, get(w, v1alpha1.LedgerName, &corev1.ConfigMap{}))).To(Succeed())
		w.startOperator()
		Eventually(w.migrating).Should(Equal(v1alpha1.ReasonServersMoving))
		Consistently(w.leads).WithArguments(0).Should(Equal(single + "-0"))
		Expect(plane.ReleasePods(w, w.namespace, multi+"-0")).To(Succeed())
		Eventually(w.statefulSets).Should(Equal([]string{multi}))
		w.waitReady("default")
		Expect(w.keys()).To(Equal(keys))
		verify()
	})

	It("leads no client over while nobody can tell which zones the old servers have", func(ctx SpecContext) {
		var silent atomic.Bool
		silent.Store(true)
		w := newWorldAsking(ctx, func(ctx context.Context, address string) (*statistics.Zones, error) {
			if silent.Load() {
				return nil, errors.New("no answer")
			}
			return noZones(ctx, address)
		})
		w.create(harness.Backend(w.namespace, 1))
		w.waitReady("default")
		w.configure(pools(entry("default", 1)))
		w.eventuallyPool("default", v1alpha1.ConditionServersReady, metav1.ConditionFalse, v1alpha1.ReasonWaitingToJoin)
		Consistently(w.leads).WithArguments(0).Should(Equal(single + "-0"))
		Expect(w.poolCondition("default", v1alpha1.ConditionServersReady).Message).To(ContainSubstring("no answer"))
		silent.Store(false)
		Eventually(w.leads).WithArguments(0).Should(Equal(multi + "-0"))
		Eventually(w.statefulSets).Should(Equal([]string{multi}))
	})

	It("does not hold up the removal of its DesignateBackend", func(ctx SpecContext) {
		w := newWorldAsking(ctx, noZones)
		w.create(harness.Backend(w.namespace, 1))
		w.waitReady("default")
		Expect(plane.HoldPods(w, w.namespace, multi+"-0")).To(Succeed())
		w.create(harness.MakePool(w.namespace, "silver").Obj())
		Eventually(w.migrating).Should(Equal(v1alpha1.ReasonServersMoving))
		w.eventuallyPool("silver", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
		Expect(kube.Delete(w, get(w, v1alpha1.BackendName, &v1alpha1.DesignateBackend{}))).To(Succeed())
		w.eventuallyPool("silver", v1alpha1.ConditionRemovalBlocked, metav1.ConditionTrue, v1alpha1.ReasonDesignateAccessMissing)
		w.force("silver")
		w.waitGone("silver")
		w.eventuallyPool("default", v1alpha1.ConditionRemovalBlocked, metav1.ConditionTrue, v1alpha1.ReasonDesignateAccessMissing)
		w.force("default")
		w.waitGone("default")
		Eventually(w.statefulSets).Should(BeEmpty())
	})
})

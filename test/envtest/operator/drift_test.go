package operator_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

var _ = Describe("Drift", func() {
	It("R25: hand edits of what the operator owns are repaired, and others' additions left alone", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		w.settle()
		before := w.snapshot("edge")
		yaml := w.poolsYAMLText()
		keys := get(w, v1alpha1.RNDCSecretName, &corev1.Secret{}).Data

		By("editing one of each kind")
		edit(w, "designate-backendbind9-pool1", &appsv1.StatefulSet{}, func(o *appsv1.StatefulSet) {
			o.Spec.Template.Spec.Containers[0].Image = "registry.example.org/other"
			o.Spec.Replicas = ptr.To[int32](0)
		})
		edit(w, "designate-backendbind9-pool1-0", &corev1.Service{}, func(o *corev1.Service) {
			o.Spec.Selector = map[string]string{"app": "other"}
			o.Annotations["somebody.example.org/note"] = "kept"
		})
		edit(w, "designate-backendbind9-pool1-0-control", &corev1.Service{}, func(o *corev1.Service) { o.Spec.Ports[0].Port = 5353 })
		edit(w, "designate-backendbind9-pool1-config", &corev1.ConfigMap{}, func(o *corev1.ConfigMap) { o.Data["named.conf"] = "" })
		edit(w, "designate-backendbind9-pool1-rndc", &corev1.Secret{}, func(o *corev1.Secret) { o.Data = nil })
		edit(w, "designate-backendbind9-pool1-tsig", &corev1.Secret{}, func(o *corev1.Secret) { o.Data["tsig.conf"] = []byte("changed") })
		edit(w, "designate-backendbind9-pool1", &policyv1.PodDisruptionBudget{}, func(o *policyv1.PodDisruptionBudget) {
			o.Spec.MaxUnavailable = ptr.To(intstr.FromInt32(9))
		})
		edit(w, v1alpha1.PoolsYAMLName, &corev1.ConfigMap{}, func(o *corev1.ConfigMap) { o.Data[v1alpha1.PoolsYAMLKey] = "[]\n" })
		edit(w, v1alpha1.RNDCSecretName, &corev1.Secret{}, func(o *corev1.Secret) { o.Data["rndc-key-1"] = []byte("changed") })

		w.settle()
		w.waitReady("edge")
		// The pod was replaced, twice; everything else is as it was.
		stable := func(snapshot map[string]string) map[string]string {
			delete(snapshot, "*v1.Pod designate-backendbind9-pool1-0")
			delete(snapshot, "*v1.PersistentVolumeClaim zones-designate-backendbind9-pool1-0")
			return snapshot
		}
		Eventually(func() map[string]string { return stable(w.snapshot("edge")) }).Should(Equal(stable(before)))
		Eventually(w.poolsYAMLText).Should(Equal(yaml))
		Eventually(func() map[string][]byte { return get(w, v1alpha1.RNDCSecretName, &corev1.Secret{}).Data }).Should(Equal(keys))
		Expect(get(w, "designate-backendbind9-pool1-0", &corev1.Service{}).Annotations).To(HaveKeyWithValue("somebody.example.org/note", "kept"))
	})

	It("R25: objects that were deleted come back, keys with the same content", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		w.settle()
		keys := get(w, v1alpha1.RNDCSecretName, &corev1.Secret{}).Data
		yaml := w.poolsYAMLText()
		for _, object := range []client.Object{
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.RNDCSecretName}},
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.PoolsYAMLName}},
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "designate-backendbind9-pool2-config"}},
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "designate-backendbind9-pool2-rndc"}},
			&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "designate-backendbind9-pool2"}},
		} {
			object.SetNamespace(w.namespace)
			Expect(kube.Delete(w, object)).To(Succeed())
			Eventually(func() error { return kube.Get(w, client.ObjectKeyFromObject(object), object) }).Should(Succeed(), object.GetName())
			w.settle()
		}
		Expect(get(w, v1alpha1.RNDCSecretName, &corev1.Secret{}).Data).To(Equal(keys))
		Eventually(w.poolsYAMLText).Should(Equal(yaml))
		w.waitReady("default", "edge", "gold")
	})

	It("R24 R52: a ledger that is lost or garbled is written anew from what exists, with the same numbers", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		w.create(harness.MakePool(w.namespace, "aaa").Obj())
		w.waitReady("aaa")
		w.configure(pools(entry("default", 2), entry("edge", 0), entry("gold", 1)))
		w.eventuallyPool("edge", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonScaledToZero)
		w.waitReady("gold")
		w.settle()
		neighbours := map[string]map[string]string{}
		names := []string{"default", "edge", "gold", "aaa"}
		for _, name := range names {
			neighbours[name] = w.snapshot(name)
		}
		ledger := get(w, v1alpha1.LedgerName, &corev1.ConfigMap{}).Data

		for what, lose := range map[string]func(){
			"deleted": func() { Expect(kube.Delete(w, get(w, v1alpha1.LedgerName, &corev1.ConfigMap{}))).To(Succeed()) },
			"garbled": func() {
				edit(w, v1alpha1.LedgerName, &corev1.ConfigMap{}, func(c *corev1.ConfigMap) { c.Data = map[string]string{"ledger": "{"} })
			},
		} {
			By(what)
			lose()
			Eventually(func() (map[string]string, error) {
				configMap := &corev1.ConfigMap{}
				err := kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: v1alpha1.LedgerName}, configMap)
				return configMap.Data, err
			}).Should(Equal(ledger))
			w.settle()
			for _, name := range names {
				Eventually(w.snapshot).WithArguments(name).Should(Equal(neighbours[name]), name)
			}
		}
	})

	It("R25: marks and forces that nobody's list asks for are taken off", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		edit(w, "edge", &v1alpha1.DesignatePool{}, func(p *v1alpha1.DesignatePool) {
			p.Annotations = map[string]string{
				v1alpha1.AnnotationRemovalRequested: "2026-01-01T00:00:00Z", v1alpha1.AnnotationForceRemoval: "not-edge", "mine": "kept",
			}
		})
		Eventually(func() map[string]string { return w.pool("edge").Annotations }).Should(Equal(map[string]string{"mine": "kept"}))
		w.waitReady("edge")
	})

	It("R25 R30: an edit of a bridge-made pool is undone, webhook or not", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.deployThreePools()
		edit(w, "edge", &v1alpha1.DesignatePool{}, func(p *v1alpha1.DesignatePool) {
			p.Spec.BINDReplicas = 0
			p.Spec.Description = "by hand"
			p.Spec.Attributes["extra"] = "1"
			p.Spec.NSRecords = append(p.Spec.NSRecords, v1alpha1.NSRecord{Hostname: "ns9.example.org.", Priority: 9})
		})
		w.waitReady("edge")
		Expect(w.pool("edge").Spec.BINDReplicas).To(BeEquivalentTo(1))
		Eventually(func() string { return w.pool("edge").Spec.Description }).Should(BeEmpty(), "nobody asked for a description")
	})
})

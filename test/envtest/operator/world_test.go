package operator_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/conversion"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

// create makes objects as a person would.
func (w *world) create(objects ...client.Object) {
	GinkgoHelper()
	for _, object := range objects {
		object.SetNamespace(w.namespace)
		Expect(kube.Create(w, object)).To(Succeed())
	}
}

// get reads an object of this namespace.
func get[T client.Object](w *world, name string, into T) T {
	GinkgoHelper()
	Expect(kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: name}, into)).To(Succeed())
	return into
}

// edit changes an object as a person would, over and over until no other writer was faster.
func edit[T client.Object](w *world, name string, object T, change func(T)) {
	GinkgoHelper()
	Eventually(func() error {
		if err := kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: name}, object); err != nil {
			return err
		}
		change(object)
		return kube.Update(w, object)
	}).Should(Succeed())
}

// configure writes the multipool ConfigMap.
func (w *world) configure(text string) {
	GinkgoHelper()
	configMap := harness.MultipoolConfig(w.namespace, text)
	if err := kube.Create(w, configMap); err == nil {
		return
	}
	edit(w, configMap.Name, &corev1.ConfigMap{}, func(c *corev1.ConfigMap) { c.Data = harness.MultipoolConfig(w.namespace, text).Data })
}

// deployThreePools configures threePools and waits until they are ready.
func (w *world) deployThreePools() {
	GinkgoHelper()
	w.configure(threePools())
	w.create(harness.Backend(w.namespace, 1))
	w.waitReady("default", "edge", "gold")
}

// waitReady waits until pools, and the backend with them, are ready for what the ConfigMap and their newest specs say.
func (w *world) waitReady(names ...string) {
	GinkgoHelper()
	for _, name := range names {
		w.waitTakenOver(name)
		w.eventuallyPool(name, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	}
	Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionReady).Should(HaveField("Reason", v1alpha1.ReasonReady))
}

// waitTakenOver waits until a pool that the ConfigMap lists says what it says there.
func (w *world) waitTakenOver(name string) {
	GinkgoHelper()
	configMap := &corev1.ConfigMap{}
	if err := kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: v1alpha1.MultipoolConfigMapName}, configMap); err != nil {
		Expect(client.IgnoreNotFound(err)).NotTo(HaveOccurred())
		return
	}
	config, err := conversion.ParseConfigMap(configMap)
	Expect(err).NotTo(HaveOccurred())
	for _, pool := range config.Pools {
		if conversion.ObjectName(pool.Name) == name {
			Eventually(func() (v1alpha1.PoolSettings, error) {
				object := &v1alpha1.DesignatePool{}
				err := kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: name}, object)
				return object.Spec.PoolSettings, err
			}).Should(Equal(pool.PoolSettings), "pool %s", name)
		}
	}
}

// eventuallyPool waits for a condition of a pool, for its newest generation.
func (w *world) eventuallyPool(name, condition string, status metav1.ConditionStatus, reason string) {
	GinkgoHelper()
	Eventually(func() (string, error) {
		pool := &v1alpha1.DesignatePool{}
		if err := kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: name}, pool); err != nil {
			return "", err
		}
		c := meta.FindStatusCondition(pool.Status.Conditions, condition)
		if c == nil {
			return "absent", nil
		}
		if c.ObservedGeneration != pool.Generation {
			return fmt.Sprintf("of generation %d, not %d", c.ObservedGeneration, pool.Generation), nil
		}
		return fmt.Sprintf("%s %s", c.Status, c.Reason), nil
	}).Should(Equal(fmt.Sprintf("%s %s", status, reason)), "condition %s of pool %s", condition, name)
}

func (w *world) pool(name string) *v1alpha1.DesignatePool {
	GinkgoHelper()
	return get(w, name, &v1alpha1.DesignatePool{})
}

func (w *world) poolCondition(name, condition string) metav1.Condition {
	GinkgoHelper()
	if c := meta.FindStatusCondition(w.pool(name).Status.Conditions, condition); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func (w *world) backendCondition(condition string) metav1.Condition {
	backend := &v1alpha1.DesignateBackend{}
	if err := kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: v1alpha1.BackendName}, backend); err != nil {
		return metav1.Condition{}
	}
	if c := meta.FindStatusCondition(backend.Status.Conditions, condition); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// poolsYAML is the parsed pools.yaml; nil before there is one.
func (w *world) poolsYAML() []conversion.PoolEntry {
	GinkgoHelper()
	entries, err := conversion.ParsePoolsYAML([]byte(w.poolsYAMLText()))
	Expect(err).NotTo(HaveOccurred())
	return entries
}

func (w *world) poolsYAMLText() string {
	GinkgoHelper()
	return get(w, v1alpha1.PoolsYAMLName, &corev1.ConfigMap{}).Data[v1alpha1.PoolsYAMLKey]
}

// poolsYAMLNames are the pools of pools.yaml in order, none before there is one.
func (w *world) poolsYAMLNames() []string {
	configMap := &corev1.ConfigMap{}
	if err := kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: v1alpha1.PoolsYAMLName}, configMap); err != nil {
		return nil
	}
	entries, err := conversion.ParsePoolsYAML([]byte(configMap.Data[v1alpha1.PoolsYAMLKey]))
	if err != nil {
		return []string{err.Error()}
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name)
	}
	return names
}

// statefulSets are the names of the namespace's StatefulSets in order.
func (w *world) statefulSets() []string {
	var list appsv1.StatefulSetList
	if err := kube.List(w, &list, client.InNamespace(w.namespace)); err != nil {
		return []string{err.Error()}
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return names
}

// quiet is how long the operator has to write nothing to count as settled.
const quiet = 700 * time.Millisecond

// settle waits until the operator has written nothing for a while.
func (w *world) settle() {
	GinkgoHelper()
	last, since := len(w.operator.Wire.Writes()), time.Now()
	Eventually(func() error {
		if writes := w.operator.Wire.Writes(); len(writes) != last {
			last, since = len(writes), time.Now()
			return fmt.Errorf("still writing: %v", writes[max(0, last-5):])
		}
		if time.Since(since) < quiet {
			return errors.New("not quiet for long enough")
		}
		return nil
	}).Should(Succeed())
}

// expectOrder expects writes that match patterns in this order, others between them.
func (w *world) expectOrder(patterns ...string) {
	GinkgoHelper()
	writes := w.operator.Wire.Writes()
	at := 0
	for _, pattern := range patterns {
		matches := regexp.MustCompile("^" + pattern + "$").MatchString
		found := slices.IndexFunc(writes[at:], matches)
		Expect(found).To(BeNumerically(">=", 0), "no %q after the first %d of:\n%s", pattern, at, strings.Join(writes, "\n"))
		at += found + 1
	}
}

func statefulSetList() client.ObjectList { return &appsv1.StatefulSetList{} }

package operator_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/conversion"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

// applyingBackend is a DesignateBackend whose operator applies pools.yaml.
func applyingBackend(namespace string) *v1alpha1.DesignateBackend {
	backend := harness.Backend(namespace, 1)
	backend.Spec.Designate.Apply = v1alpha1.ApplyJob
	backend.Spec.Designate.PoolUpdate = &v1alpha1.PoolUpdate{
		Image: "registry.example.org/designate:15", ConfigSecretName: "designate-config",
		Workers:    []v1alpha1.Workload{{Kind: v1alpha1.WorkloadDeployment, Name: "designate-worker"}},
		SettleTime: &metav1.Duration{Duration: time.Second},
	}
	return backend
}

// designateWorker is a Deployment as an installer would make it for Designate's worker.
func designateWorker() *appsv1.Deployment {
	labels := map[string]string{"app": "designate-worker"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "designate-worker"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					Containers: []corev1.Container{{
						Name: "worker", Image: "registry.example.org/designate:15",
						VolumeMounts: []corev1.VolumeMount{{Name: "keys", MountPath: "/etc/designate/rndc-keys"}},
					}},
					Volumes: []corev1.Volume{{Name: "keys", VolumeSource: corev1.VolumeSource{
						Secret: &corev1.SecretVolumeSource{SecretName: v1alpha1.RNDCSecretName},
					}}},
				},
			},
		},
	}
}

// runs are the numbers of the Jobs that there are.
func (w *world) runs() []int {
	var list batchv1.JobList
	Expect(kube.List(w, &list, client.InNamespace(w.namespace))).To(Succeed())
	var numbers []int
	for i := range list.Items {
		number, err := strconv.Atoi(list.Items[i].Labels[v1alpha1.LabelPoolUpdateRun])
		Expect(err).NotTo(HaveOccurred())
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	return numbers
}

// lastRun is the number of the newest Job; 0 without any.
func (w *world) lastRun() int {
	runs := w.runs()
	if len(runs) == 0 {
		return 0
	}
	return runs[len(runs)-1]
}

// input are the pools that a run applies.
func (w *world) input(run int) []string {
	GinkgoHelper()
	configMap := get(w, fmt.Sprintf("designate-pool-update-%d", run), &corev1.ConfigMap{})
	Expect(configMap.Immutable).To(HaveValue(BeTrue()))
	entries, err := conversion.ParsePoolsYAML([]byte(configMap.Data["pools.yaml"]))
	Expect(err).NotTo(HaveOccurred())
	var names []string
	for _, entry := range entries {
		Expect(entry.ID).NotTo(BeEmpty(), "what is applied says which pool is meant")
		names = append(names, entry.Name)
	}
	return names
}

// end plays the kubelet: the pod of a run ends, with an exit code and the last words of its log.
func (w *world) end(run int, exitCode int32, words string) {
	GinkgoHelper()
	Eventually(func() error {
		var pods corev1.PodList
		labels := client.MatchingLabels{v1alpha1.LabelPoolUpdateRun: strconv.Itoa(run)}
		if err := kube.List(w, &pods, client.InNamespace(w.namespace), labels); err != nil {
			return err
		}
		if len(pods.Items) == 1 && pods.Items[0].Status.Phase != corev1.PodRunning && pods.Items[0].Status.Phase != corev1.PodPending {
			return nil // It has been ended before.
		}
		if len(pods.Items) != 1 || pods.Items[0].Status.Phase != corev1.PodRunning {
			return fmt.Errorf("%d pods of run %d", len(pods.Items), run)
		}
		pod := &pods.Items[0]
		pod.Status.Phase = corev1.PodSucceeded
		if exitCode != 0 {
			pod.Status.Phase = corev1.PodFailed
		}
		now := metav1.Now()
		pod.Status.ContainerStatuses[0].Ready = false
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: exitCode, Message: words, StartedAt: now, FinishedAt: now,
		}}
		return kube.Status().Update(w, pod)
	}).Should(Succeed(), "run %d", run)
}

// applied lets every run succeed until pools are ready and no other run begins.
func (w *world) applied(pools ...string) {
	GinkgoHelper()
	var since time.Time
	Eventually(func() error {
		if run := w.openRun(); run > 0 {
			since = time.Time{}
			w.end(run, 0, "")
			return fmt.Errorf("run %d", run)
		}
		for _, name := range pools {
			if ready := w.readiness(name); ready != v1alpha1.ReasonReady {
				since = time.Time{}
				return fmt.Errorf("pool %s: %s", name, ready)
			}
		}
		if since.IsZero() {
			since = time.Now()
		}
		// As long as a change takes to settle, and more.
		if time.Since(since) < 3*time.Second {
			return errors.New("not for long enough")
		}
		return nil
	}).WithTimeout(2 * time.Minute).Should(Succeed())
}

// openRun is the number of a Job that has not ended; 0 without any.
func (w *world) openRun() int {
	GinkgoHelper()
	var list batchv1.JobList
	Expect(kube.List(w, &list, client.InNamespace(w.namespace))).To(Succeed())
	for i := range list.Items {
		if len(list.Items[i].Status.Conditions) == 0 {
			number, err := strconv.Atoi(list.Items[i].Labels[v1alpha1.LabelPoolUpdateRun])
			Expect(err).NotTo(HaveOccurred())
			return number
		}
	}
	return 0
}

// readiness is the reason of the condition Ready of a pool, which may not exist yet.
func (w *world) readiness(name string) string {
	pool := &v1alpha1.DesignatePool{}
	if err := kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: name}, pool); err != nil {
		return err.Error()
	}
	ready := meta.FindStatusCondition(pool.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.ObservedGeneration != pool.Generation {
		return "not known yet"
	}
	return ready.Reason
}

func (w *world) applyingThreePools() {
	GinkgoHelper()
	w.create(designateWorker(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "designate-config"}})
	w.configure(threePools())
	w.create(applyingBackend(w.namespace))
	w.applied("default", "edge", "gold")
}

var _ = Describe("Applying pools.yaml", func() {
	It("R50: is a Job with the pools that have changed, and counts once that has succeeded", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(designateWorker(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "designate-config"}})
		w.configure(threePools())
		w.create(applyingBackend(w.namespace))
		Eventually(w.lastRun).Should(Equal(1))
		first := w.input(1)
		Expect(first).NotTo(BeEmpty())
		w.eventuallyPool(conversion.ObjectName(first[0]), v1alpha1.ConditionProgrammed, metav1.ConditionFalse, v1alpha1.ReasonPoolUpdateRunning)
		Consistently(w.lastRun).WithTimeout(3*time.Second).Should(Equal(1), "one at a time")
		w.applied("default", "edge", "gold")
		Expect(w.backendCondition(v1alpha1.ConditionPoolsProgrammed)).To(HaveField("Status", metav1.ConditionTrue))
		Expect(w.backendCondition(v1alpha1.ConditionWorkersRestarted)).To(HaveField("Status", metav1.ConditionTrue))
		Expect(w.backendCondition(v1alpha1.ConditionWorkersMountKeys)).To(HaveField("Status", metav1.ConditionTrue))
		worker := get(w, "designate-worker", &appsv1.Deployment{})
		Expect(worker.Spec.Template.Annotations).To(HaveKey(v1alpha1.AnnotationRestartedFor))

		By("applying one pool whose NS records change, and restarting nobody")
		before := w.lastRun()
		w.configure(strings.ReplaceAll(threePools(), "ns1.edge", "ns9.edge"))
		Eventually(w.lastRun).Should(Equal(before + 1))
		Expect(w.input(before + 1)).To(Equal([]string{"edge"}))
		w.applied("default", "edge", "gold")
		Expect(w.lastRun()).To(Equal(before + 1))
		Expect(get(w, "designate-worker", &appsv1.Deployment{}).Spec.Template.Annotations).To(Equal(worker.Spec.Template.Annotations))
		Expect(w.runs()).To(HaveLen(1), "what is over is collected")

		By("doing nothing for an edit that changes nothing, nor after a restart of the operator")
		w.configure("# nothing new\n" + strings.ReplaceAll(threePools(), "ns1.edge", "ns9.edge"))
		w.settle()
		w.stopOperator()
		w.startOperator()
		w.settle()
		Consistently(w.lastRun).WithTimeout(4 * time.Second).Should(Equal(before + 1))
	})

	It("R1 R50: says why a Job failed, without secrets, tries again, and takes it for no success", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.applyingThreePools()
		before := w.lastRun()
		w.configure(strings.ReplaceAll(threePools(), "ns1.edge", "ns9.edge"))
		Eventually(w.lastRun).Should(Equal(before + 1))
		w.end(before+1, 1, "cannot connect to mysql+pymysql://designate:hunter2@db/designate\n")
		w.eventuallyPool("edge", v1alpha1.ConditionProgrammed, metav1.ConditionFalse, v1alpha1.ReasonPoolUpdateFailed)
		condition := w.poolCondition("edge", v1alpha1.ConditionProgrammed)
		Expect(condition.Message).To(And(ContainSubstring("exit code 1"), ContainSubstring("cannot connect"), Not(ContainSubstring("hunter2"))))
		Expect(w.poolCondition("gold", v1alpha1.ConditionReady)).To(HaveField("Status", metav1.ConditionTrue), "it is no neighbour's business")
		Expect(w.backendCondition(v1alpha1.ConditionReady)).To(HaveField("Reason", v1alpha1.ReasonPoolUpdateFailed))

		By("a change of another pool meanwhile, which is applied")
		w.configure(strings.NewReplacer("ns1.edge", "ns9.edge", "ns1.gold", "ns9.gold").Replace(threePools()))
		Eventually(func() []string {
			run := w.openRun()
			if run == 0 {
				return nil
			}
			pools := w.input(run)
			if slices.Equal(pools, []string{"edge"}) {
				w.end(run, 1, "still not")
			}
			return pools
		}).WithTimeout(2 * time.Minute).Should(Equal([]string{"gold"}))
		w.applied("default", "edge", "gold")
		w.eventuallyPool("edge", v1alpha1.ConditionProgrammed, metav1.ConditionTrue, v1alpha1.ReasonProgrammed)
	})

	It("keeps a server that leaves until Designate and its workers have forgotten it", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.applyingThreePools()
		Expect(w.replicas("designate-backendbind9-pool2")).To(BeEquivalentTo(3))
		before := w.lastRun()
		w.configure(pools(entry("default", 2), entry("edge", 1), entry("gold", 2)))
		Eventually(w.lastRun).Should(Equal(before + 1))
		Expect(w.open("designate-backendbind9-pool2-2")).To(BeFalse())
		Consistently(w.replicas).WithArguments("designate-backendbind9-pool2").WithTimeout(3 * time.Second).Should(BeEquivalentTo(3))

		By("a worker that cannot be restarted: it is paused")
		edit(w, "designate-worker", &appsv1.Deployment{}, func(d *appsv1.Deployment) { d.Spec.Paused = true })
		w.end(before+1, 0, "")
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionWorkersRestarted).Should(And(
			HaveField("Status", metav1.ConditionFalse), HaveField("Message", ContainSubstring("designate-worker"))))
		w.eventuallyPool("gold", v1alpha1.ConditionProgrammed, metav1.ConditionFalse, v1alpha1.ReasonWorkersRestarting)
		Consistently(w.replicas).WithArguments("designate-backendbind9-pool2").WithTimeout(3 * time.Second).Should(BeEquivalentTo(3))

		By("going on by itself once it is not paused any more")
		edit(w, "designate-worker", &appsv1.Deployment{}, func(d *appsv1.Deployment) { d.Spec.Paused = false })
		Eventually(w.replicas).WithArguments("designate-backendbind9-pool2").WithTimeout(time.Minute).Should(BeEquivalentTo(2))
		w.waitReady("default", "edge", "gold")
	})

	It("waits while Designate's workers do not see the keys, and says how to mend it", func(ctx SpecContext) {
		w := newWorld(ctx)
		worker := designateWorker()
		worker.Spec.Template.Spec.Containers[0].VolumeMounts[0].MountPath = "/elsewhere"
		w.create(worker, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "designate-config"}})
		w.create(applyingBackend(w.namespace))
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionWorkersMountKeys).Should(And(
			HaveField("Reason", v1alpha1.ReasonKeysNotMounted), HaveField("Message", ContainSubstring("designate-worker"))))
		w.eventuallyPool("default", v1alpha1.ConditionProgrammed, metav1.ConditionFalse, v1alpha1.ReasonKeysNotMounted)
		Consistently(w.lastRun).WithTimeout(3 * time.Second).Should(BeZero())
		edit(w, "designate-worker", &appsv1.Deployment{}, func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].VolumeMounts[0].MountPath = "/etc/designate/rndc-keys"
		})
		Eventually(w.lastRun).WithTimeout(time.Minute).Should(Equal(1))
	})

	It("R1: does not say that Designate knows pools that could not be written", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(designateWorker(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "designate-config"}},
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.PoolsYAMLName}})
		w.create(applyingBackend(w.namespace))
		w.eventuallyPool("default", v1alpha1.ConditionServersReady, metav1.ConditionTrue, v1alpha1.ReasonServersReady)
		w.eventuallyPool("default", v1alpha1.ConditionProgrammed, metav1.ConditionUnknown, v1alpha1.ReasonStateUnknown)
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionPoolsProgrammed).Should(HaveField("Status", metav1.ConditionUnknown))
		Expect(w.lastRun()).To(BeZero())
	})

	It("goes on where an operator that was killed stopped", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(designateWorker(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "designate-config"}})
		w.create(applyingBackend(w.namespace))
		Eventually(w.lastRun).Should(Equal(1))
		w.stopOperator()
		w.end(1, 0, "")
		w.startOperator()
		w.applied("default")
		Expect(w.lastRun()).To(Equal(2), "one to tell Designate, one to fill the server")
		var ledger map[string]any
		text := get(w, v1alpha1.LedgerName, &corev1.ConfigMap{}).Data[v1alpha1.LedgerKey]
		Expect(yaml.Unmarshal([]byte(text), &ledger)).To(Succeed())
		Expect(ledger).NotTo(HaveKey("run"))
		Expect(ledger).To(HaveKeyWithValue("lastRun", BeEquivalentTo(2)))
	})
})

package controlplane_test

import (
	"context"
	"os"
	"os/exec"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/test/controlplane"
)

var _ = Describe("the control plane", func() {
	var namespace string
	BeforeEach(func(ctx context.Context) { namespace = newNamespace(ctx) })

	It("makes the pods of a StatefulSet ready and binds their claims", func(ctx context.Context) {
		Expect(kube.Create(ctx, statefulSet(namespace, "bind", 2))).To(Succeed())
		Eventually(readyReplicas(ctx, namespace, "bind")).Should(Equal(int32(2)))

		var pod corev1.Pod
		Expect(kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "bind-1"}, &pod)).To(Succeed())
		Expect(pod.Status.PodIP).To(HavePrefix("10.244."))
		Expect(pod.Status.InitContainerStatuses).To(HaveLen(1))
		var claim corev1.PersistentVolumeClaim
		Expect(kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "data-bind-1"}, &claim)).To(Succeed())
		Expect(claim.Status.Phase).To(Equal(corev1.ClaimBound))
		var volume corev1.PersistentVolume
		Expect(kube.Get(ctx, client.ObjectKey{Name: claim.Spec.VolumeName}, &volume)).To(Succeed())
		Expect(volume.Spec.HostPath.Path).To(BeADirectory())
	})

	It("removes the pods, claims and volumes of a StatefulSet that is scaled to zero", func(ctx context.Context) {
		set := statefulSet(namespace, "bind", 1)
		Expect(kube.Create(ctx, set)).To(Succeed())
		Eventually(readyReplicas(ctx, namespace, "bind")).Should(Equal(int32(1)))
		Expect(kube.Patch(ctx, set, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":0}}`)))).To(Succeed())
		Eventually(ctx, func(g Gomega) {
			var pods corev1.PodList
			var claims corev1.PersistentVolumeClaimList
			g.Expect(kube.List(ctx, &pods, client.InNamespace(namespace))).To(Succeed())
			g.Expect(kube.List(ctx, &claims, client.InNamespace(namespace))).To(Succeed())
			g.Expect(pods.Items).To(BeEmpty())
			g.Expect(claims.Items).To(BeEmpty())
		}).Should(Succeed())
	})

	It("collects the dependents of a deleted owner", func(ctx context.Context) {
		owner, dependent := ownerAndDependent(ctx, namespace)
		Expect(kube.Delete(ctx, owner)).To(Succeed())
		Eventually(gone(ctx, dependent)).Should(BeTrue())
	})

	It("collects the dependents of an owner deleted in the foreground while a finalizer still holds it", func(ctx context.Context) {
		owner, dependent := ownerAndDependent(ctx, namespace, "test.designate.openstack.org/wait")
		Expect(kube.Delete(ctx, owner, client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())
		Eventually(gone(ctx, dependent)).Should(BeTrue())
		Consistently(gone(ctx, owner)).Should(BeFalse())
	})

	It("deletes a namespace with all that is in it", func(ctx context.Context) {
		Expect(kube.Create(ctx, statefulSet(namespace, "bind", 1))).To(Succeed())
		Eventually(readyReplicas(ctx, namespace, "bind")).Should(Equal(int32(1)))
		object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		Expect(kube.Delete(ctx, object)).To(Succeed())
		Eventually(gone(ctx, object)).Should(BeTrue())
	})

	It("evicts a pod, and makes it anew", func(ctx context.Context) {
		Expect(kube.Create(ctx, statefulSet(namespace, "bind", 1))).To(Succeed())
		Eventually(readyReplicas(ctx, namespace, "bind")).Should(Equal(int32(1)))
		before := getPod(ctx, namespace, "bind-0")
		eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "bind-0"}}
		Expect(kube.SubResource("eviction").Create(ctx, before, eviction)).To(Succeed())
		Eventually(ctx, func(g Gomega) {
			var after corev1.Pod
			g.Expect(kube.Get(ctx, client.ObjectKeyFromObject(before), &after)).To(Succeed())
			g.Expect(after.UID).NotTo(Equal(before.UID))
			g.Expect(isReady(&after)).To(BeTrue())
		}).Should(Succeed())
	})

	It("refuses an eviction that a PodDisruptionBudget forbids", func(ctx context.Context) {
		Expect(kube.Create(ctx, statefulSet(namespace, "bind", 1))).To(Succeed())
		Eventually(readyReplicas(ctx, namespace, "bind")).Should(Equal(int32(1)))
		budget := &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "bind"},
			Spec: policyv1.PodDisruptionBudgetSpec{
				MinAvailable: ptr.To(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels("bind")},
			},
		}
		Expect(kube.Create(ctx, budget)).To(Succeed())
		Eventually(ctx, func(g Gomega) {
			g.Expect(kube.Get(ctx, client.ObjectKeyFromObject(budget), budget)).To(Succeed())
			g.Expect(budget.Status.CurrentHealthy).To(Equal(int32(1)))
		}).Should(Succeed())
		eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "bind-0"}}
		err := kube.SubResource("eviction").Create(ctx, getPod(ctx, namespace, "bind-0"), eviction)
		Expect(apierrors.IsTooManyRequests(err)).To(BeTrue(), "%v", err)
	})

	It("lets kubectl and other users in, each with their own rights", func(ctx context.Context) {
		kubectl := exec.CommandContext(ctx, plane.Kubectl, "--kubeconfig", plane.KubeconfigPath, "auth", "whoami")
		out, err := kubectl.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
		Expect(string(out)).To(ContainSubstring("system:masters"))

		config, err := plane.AddUser(envtest.User{Name: "visitor"})
		Expect(err).NotTo(HaveOccurred())
		visitor, err := client.New(config, client.Options{})
		Expect(err).NotTo(HaveOccurred())
		err = visitor.List(ctx, &corev1.SecretList{}, client.InNamespace(namespace))
		Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
	})

	It("serves the CRDs of this repository, under its own version", func() {
		info, err := discovery.NewDiscoveryClientForConfigOrDie(plane.Config).ServerVersion()
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Major).To(Equal("1"))
		Expect(strings.TrimSuffix(info.Minor, "+")).To(MatchRegexp(`^\d\d$`))
		mapping, err := kube.RESTMapper().ResourcesFor(v1alpha1.GroupVersion.WithResource("designatepools"))
		Expect(err).NotTo(HaveOccurred())
		Expect(mapping).To(HaveLen(1))
	})

	It("does not start a second time under the same name, and leaves the first alone", func(ctx context.Context) {
		_, err := controlplane.Start(ctx, controlplane.Options{Name: "controlplane"})
		Expect(err).To(MatchError(ContainSubstring("is another one of its name running?")))
		Expect(kube.List(ctx, &corev1.NamespaceList{})).To(Succeed())
		Expect(plane.Err()).To(Succeed())
	})

	It("tells when one of its programs has died", func(ctx context.Context) {
		other, err := controlplane.Start(ctx, controlplane.Options{Name: "controlplane-api", APIServerOnly: true})
		Expect(err).NotTo(HaveOccurred())
		Expect(other.Err()).To(Succeed())
		Expect(other.StartProgram(other.Kubectl, "no-such-command")).To(Succeed())
		Eventually(other.Err).Should(MatchError(ContainSubstring("kubectl ended by itself: exit status 1")))
		Expect(other.Stop()).To(MatchError(ContainSubstring("kubectl ended by itself")))
	})

	It("keeps the logs of every component", func() {
		for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"} {
			info, err := os.Stat(plane.LogDir + "/" + name + ".log")
			Expect(err).NotTo(HaveOccurred())
			Expect(info.Size()).To(BeNumerically(">", 0), name)
		}
	})
})

func labels(name string) map[string]string { return map[string]string{"app": name} }

func statefulSet(namespace, name string, replicas int32) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: appsv1.StatefulSetSpec{
			Replicas:            ptr.To(replicas),
			PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector:            &metav1.LabelSelector{MatchLabels: labels(name)},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels(name)},
				Spec: corev1.PodSpec{
					InitContainers: []corev1.Container{{Name: "check", Image: "image"}},
					Containers:     []corev1.Container{{Name: "main", Image: "image"}},
				},
			},
			PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
				WhenScaled:  appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources: corev1.VolumeResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")},
					},
				},
			}},
		},
	}
}

func readyReplicas(ctx context.Context, namespace, name string) func() (int32, error) {
	return func() (int32, error) {
		var set appsv1.StatefulSet
		err := kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &set)
		return set.Status.ReadyReplicas, err
	}
}

func gone(ctx context.Context, object client.Object) func() (bool, error) {
	return func() (bool, error) {
		err := kube.Get(ctx, client.ObjectKeyFromObject(object), object)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	}
}

func getPod(ctx context.Context, namespace, name string) *corev1.Pod {
	GinkgoHelper()
	var pod corev1.Pod
	Expect(kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &pod)).To(Succeed())
	return &pod
}

func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func ownerAndDependent(ctx context.Context, namespace string, finalizers ...string) (owner, dependent *corev1.ConfigMap) {
	GinkgoHelper()
	owner = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "owner", Finalizers: finalizers}}
	Expect(kube.Create(ctx, owner)).To(Succeed())
	dependent = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "dependent",
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: ptr.To(true),
		}},
	}}
	Expect(kube.Create(ctx, dependent)).To(Succeed())
	return owner, dependent
}

package webhooks_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

const editTheList = "edit the ConfigMap designate-multipool-config"

var _ = Describe("a DesignatePool", func() {
	var namespace string
	BeforeEach(func(ctx context.Context) { namespace = newNamespace(ctx) })

	It("from the ConfigMap is not scaled, edited or relabelled by hand", func(ctx context.Context) {
		created(ctx, bridgeMade(namespace, "edge"))
		expectDenied(ctx, editTheList, "", "scale", "designatepool", "edge", "--replicas=3", "-n", namespace)
		expectDenied(ctx, editTheList, "", "patch", "designatepool", "edge", "-n", namespace,
			"--type=merge", "--patch", `{"spec":{"description":"mine"}}`)
		expectDenied(ctx, editTheList, "", "label", "designatepool", "edge", "-n", namespace,
			v1alpha1.LabelSource+"-")
		mustKubectl(ctx, "", "label", "designatepool", "edge", "-n", namespace, "team=dns")
	})

	It("made by hand is scaled by hand, within reason", func(ctx context.Context) {
		Expect(kube.Create(ctx, pool(namespace, "edge"))).To(Succeed())
		mustKubectl(ctx, "", "scale", "designatepool", "edge", "--replicas=3", "-n", namespace)
		output, err := kubectl(ctx, "", "scale", "designatepool", "edge", "--replicas=101", "-n", namespace)
		Expect(err).To(HaveOccurred(), output)
		Expect(output).To(ContainSubstring("100"))
	})

	It("cannot pretend to come from the ConfigMap", func(ctx context.Context) {
		err := kube.Create(ctx, bridgeMade(namespace, "edge"))
		Expect(err).To(MatchError(ContainSubstring(editTheList)))
	})

	It("cannot have a name that an older one holds", func(ctx context.Context) {
		Expect(kube.Create(ctx, pool(namespace, "edge"))).To(Succeed())
		second := pool(namespace, "second")
		second.Spec.PoolName = "EDGE"
		Expect(kube.Create(ctx, second)).To(MatchError(ContainSubstring(`holds the pool name "edge"`)))
	})

	It("named default stays as long as its DesignateBackend", func(ctx context.Context) {
		Expect(kube.Create(ctx, backend(namespace))).To(Succeed())
		Eventually(ctx, func() error {
			return kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "default"}, &v1alpha1.DesignatePool{})
		}).Should(Succeed())
		expectDenied(ctx, "stays as long as the DesignateBackend", "",
			"delete", "designatepool", "default", "-n", namespace, "--wait=false")
		Expect(mustKubectl(ctx, "", "delete", "designatebackend", "designate", "-n", namespace, "--wait=false")).
			To(ContainSubstring(`Warning: this asks for the removal of every pool of the namespace`))
	})
})

var _ = Describe("a DesignateBackend", func() {
	It("that no server could run with is refused", func(ctx context.Context) {
		object := backend(newNamespace(ctx))
		object.Spec.BIND.Options = []string{"recursion yes;"}
		Expect(kube.Create(ctx, object)).To(MatchError(ContainSubstring("recursion")))
	})
})

var _ = Describe("a namespace", func() {
	It("goes with everything that is guarded in it", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		mustKubectl(ctx, listOf("default", "edge"), "create", "-n", namespace, "-f", "-")
		created(ctx, bridgeMade(namespace, "edge"))
		object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		Expect(kube.Delete(ctx, object)).To(Succeed())
		Eventually(ctx, func() error {
			return kube.Get(ctx, client.ObjectKeyFromObject(object), &corev1.Namespace{})
		}).Should(Satisfy(apierrors.IsNotFound))
	})
})

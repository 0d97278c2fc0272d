package controlplane_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/test/controlplane"
)

var (
	plane *controlplane.ControlPlane
	kube  client.Client
)

func TestControlPlane(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(20 * time.Second)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	SetDefaultConsistentlyDuration(2 * time.Second)
	RunSpecs(t, "Control plane")
}

var _ = BeforeSuite(func(ctx context.Context) {
	start := time.Now()
	var err error
	plane, err = controlplane.Start(ctx, controlplane.Options{Name: "controlplane"})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		stop := time.Now()
		Expect(plane.Stop()).To(Succeed())
		GinkgoWriter.Printf("stopped in %s\n", time.Since(stop))
	})
	GinkgoWriter.Printf("started in %s\n", time.Since(start))
	kube, err = client.New(plane.Config, client.Options{})
	Expect(err).NotTo(HaveOccurred())
})

// newNamespace makes a namespace for one spec. Nothing deletes it: the whole control plane goes in the end.
func newNamespace(ctx context.Context) string {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "spec-"}}
	Expect(kube.Create(ctx, namespace)).To(Succeed())
	return namespace.Name
}

// Package webhooks_test installs config/default into a real control plane, runs the real operator there under its own
// service account, and asks the API server what people ask it.
package webhooks_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/test/controlplane"
)

var (
	plane    *controlplane.ControlPlane
	kube     client.Client
	operator *operatorProcess
)

func TestWebhooks(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	EnforceDefaultTimeoutsWhenUsingContexts()
	RunSpecs(t, "Webhooks")
}

var _ = BeforeSuite(func(ctx context.Context) {
	ctrl.SetLogger(GinkgoLogr)
	var err error
	plane, err = controlplane.Start(ctx, controlplane.Options{Name: "webhooks"})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(plane.Stop()).To(Succeed()) })

	scheme := runtime.NewScheme()
	Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	Expect(v1alpha1.AddToScheme(scheme)).To(Succeed())
	kube, err = client.New(plane.Config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())

	operator = install(ctx)
	operator.start(ctx)
	DeferCleanup(func() {
		operator.stop()
		gexec.CleanupBuildArtifacts()
	})
})

// newNamespace makes a namespace for one spec. Nothing deletes it: the whole control plane goes in the end.
func newNamespace(ctx context.Context) string {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "spec-"}}
	Expect(kube.Create(ctx, namespace)).To(Succeed())
	return namespace.Name
}

// kubectl is what a person types, as the cluster's administrator, and what they see. The error says that it failed.
func kubectl(ctx context.Context, input string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, plane.Kubectl, append([]string{"--kubeconfig", plane.KubeconfigPath}, args...)...)
	command.Stdin = strings.NewReader(input)
	command.Env = append(os.Environ(), "KUBECACHEDIR="+plane.LogDir+"/kubectl-cache")
	output, err := command.CombinedOutput()
	return string(output), err
}

func mustKubectl(ctx context.Context, input string, args ...string) string {
	GinkgoHelper()
	output, err := kubectl(ctx, input, args...)
	Expect(err).NotTo(HaveOccurred(), output)
	return output
}

func expectDenied(ctx context.Context, mention, input string, args ...string) {
	GinkgoHelper()
	output, err := kubectl(ctx, input, args...)
	Expect(err).To(HaveOccurred(), output)
	Expect(output).To(And(ContainSubstring("denied the request"), ContainSubstring(mention)))
}

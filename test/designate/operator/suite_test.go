// Package operator_test runs the operator's controllers against a real API server and a real Designate, and breaks the
// latter in every way that a Designate breaks.
package operator_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/designate-pools/designate-pool-operator/test/controlplane"
	"github.com/designate-pools/designate-pool-operator/test/designate/running"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

var (
	stack *running.Stack
	plane *controlplane.ControlPlane
	kube  client.WithWatch
)

func TestOperator(t *testing.T) {
	RegisterFailHandler(Fail)
	// Long: it is only waited for, and beside other lanes a machine can be slow to list zones through Keystone.
	SetDefaultEventuallyTimeout(3 * time.Minute)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	EnforceDefaultTimeoutsWhenUsingContexts()
	RunSpecs(t, "Operator and Designate")
}

var _ = BeforeSuite(func(ctx context.Context) {
	ctrl.SetLogger(zap.New(zap.WriteTo(GinkgoWriter), zap.UseDevMode(true)))
	var err error
	stack, err = running.FromEnvironment()
	Expect(err).NotTo(HaveOccurred())
	// Nothing here needs a pod.
	plane, err = controlplane.Start(ctx, controlplane.Options{
		Name: "designate-operator", APIServerOnly: true,
		// Designate's network has no default route, and nobody asks at this address.
		AdvertiseAddress: "192.0.2.1",
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(plane.Stop()).To(Succeed()) })
	kube, err = client.NewWithWatch(plane.Config, client.Options{Scheme: harness.Scheme()})
	Expect(err).NotTo(HaveOccurred())
})

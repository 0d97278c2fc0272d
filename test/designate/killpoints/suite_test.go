// Package killpoints kills the operator before and after each of its writes, to the API server and to Designate, starts it again
// and requires that everything ends as if nothing had happened, without a forbidden state on the way.
package killpoints

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
	kube  client.Client
)

func TestKillpoints(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(3 * time.Minute)
	RunSpecs(t, "Kill points")
}

var _ = BeforeSuite(func(ctx context.Context) {
	ctrl.SetLogger(zap.New(zap.WriteTo(GinkgoWriter)))
	var err error
	stack, err = running.FromEnvironment()
	Expect(err).NotTo(HaveOccurred())
	// Every world has pools.yaml applied, with a default pool of servers that nobody runs. Other suites use the same Designate.
	DeferCleanup(func(ctx context.Context) { Expect(stack.ApplyOnly(ctx, stack.DefaultPool())).To(Succeed()) })
	plane, err = controlplane.Start(ctx, controlplane.Options{
		Name: "killpoints",
		// Designate's network has no default route, and nobody asks at this address.
		AdvertiseAddress: "192.0.2.1",
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(plane.Stop()).To(Succeed()) })
	kube, err = client.New(plane.Config, client.Options{Scheme: harness.Scheme()})
	Expect(err).NotTo(HaveOccurred())
})

package operator_test

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/designate-pools/designate-pool-operator/controllers/statistics"
	"github.com/designate-pools/designate-pool-operator/test/controlplane"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

var (
	plane *controlplane.ControlPlane
	kube  client.WithWatch
)

func TestOperator(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	SetDefaultConsistentlyDuration(2 * time.Second)
	SetDefaultConsistentlyPollingInterval(100 * time.Millisecond)
	EnforceDefaultTimeoutsWhenUsingContexts()
	RunSpecs(t, "Operator")
}

var _ = BeforeSuite(func(ctx context.Context) {
	ctrl.SetLogger(zap.New(zap.WriteTo(GinkgoWriter), zap.UseDevMode(true)))
	var err error
	plane, err = controlplane.Start(ctx, controlplane.Options{Name: "operator"})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(plane.Stop()).To(Succeed()) })
	kube, err = client.NewWithWatch(plane.Config, client.Options{Scheme: harness.Scheme()})
	Expect(err).NotTo(HaveOccurred())
})

// operatorLog is everything that any operator of this suite has logged, at every level.
var operatorLog = gbytes.NewBuffer()

// world is a namespace with an operator of its own.
type world struct {
	context.Context
	namespace string
	operator  *harness.Operator
	// resync has every object looked at again that often; never when 0.
	resync time.Duration
	// ask is how servers are asked for their zones; as the shipped binary does it when nil.
	ask statistics.Ask
}

// newWorld makes a namespace and starts an operator for it. Nothing deletes the namespace: the whole control plane goes
// in the end.
func newWorld(ctx context.Context) *world { return newWorldAsking(ctx, nil) }

// newWorldAsking is newWorld where servers are asked for their zones in another way.
func newWorldAsking(ctx context.Context, ask statistics.Ask) *world {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "spec-"}}
	Expect(kube.Create(ctx, namespace)).To(Succeed())
	w := &world{Context: ctx, namespace: namespace.Name, ask: ask}
	w.startOperator()
	DeferCleanup(func() { w.stopOperator() })
	DeferCleanup(w.describeFailure)
	return w
}

func (w *world) startOperator() {
	GinkgoHelper()
	logger := zap.New(zap.WriteTo(io.MultiWriter(GinkgoWriter, operatorLog)), zap.UseDevMode(true)).WithName(w.namespace)
	operator, err := harness.StartOperator(w, harness.Settings{
		Config: plane.Config, Namespace: w.namespace, Resync: w.resync, Logger: logger, Ask: w.ask,
	})
	Expect(err).NotTo(HaveOccurred())
	w.operator = operator
}

func (w *world) stopOperator() {
	GinkgoHelper()
	if w.operator != nil {
		Expect(w.operator.Stop()).To(Succeed())
		w.operator = nil
	}
}

// threePools is the content of a ConfigMap with pools default, edge and gold.
func threePools() string {
	return pools(entry("default", 2), entry("edge", 1), entry("gold", 3))
}

func entry(name string, replicas int) string {
	return fmt.Sprintf("- name: %s\n  bindReplicas: %d\n  attributes: {tier: %s}\n  nsRecords: [{hostname: ns1.%s.example.org., priority: 1}]\n",
		name, replicas, name, name)
}

func pools(entries ...string) string { return strings.Join(entries, "") }

// describeFailure puts what the namespace looks like into the report of a spec that failed.
func (w *world) describeFailure() {
	if !CurrentSpecReport().Failed() {
		return
	}
	for _, kinds := range []string{"designatebackends,designatepools,statefulsets,pods,services,persistentvolumeclaims", "events"} {
		command := exec.Command(plane.Kubectl, "--kubeconfig", plane.KubeconfigPath, "-n", w.namespace, "get", kinds, "-o", "wide")
		output, err := command.CombinedOutput()
		GinkgoWriter.Printf("kubectl get %s (%v):\n%s\n", kinds, err, output)
	}
}

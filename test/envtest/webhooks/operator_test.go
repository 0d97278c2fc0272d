package webhooks_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const (
	operatorNamespace = "designate-pool-operator"
	operatorName      = "designate-pool-operator"
	operatorUser      = "system:serviceaccount:" + operatorNamespace + ":" + operatorName
	certificateSecret = "designate-pool-operator-webhook"
	repository        = "../../.."
)

// operatorProcess is the operator's binary, and how to run it.
type operatorProcess struct {
	binary     string
	kubeconfig string
	certDir    string
	webhook    int
	probes     int
	metrics    int
	session    *gexec.Session
}

// install applies config/default as it is, except for what a machine without containers cannot have: the Deployment,
// whose pods would run nothing, and the way through a Service, which no proxy would make.
func install(ctx context.Context) *operatorProcess {
	GinkgoHelper()
	binary, err := gexec.Build("github.com/designate-pools/designate-pool-operator/cmd/manager")
	Expect(err).NotTo(HaveOccurred())
	o := &operatorProcess{
		binary:     binary,
		kubeconfig: filepath.Join(plane.LogDir, "operator.kubeconfig"),
		certDir:    filepath.Join(GinkgoT().TempDir(), "certificate"),
		webhook:    freePort(), probes: freePort(), metrics: freePort(),
	}

	mustKubectl(ctx, o.manifests(ctx), "apply", "-f", "-")
	Eventually(ctx, func(g Gomega) {
		output, err := kubectl(ctx, "", "get", "designatepools,designatebackends", "-A")
		g.Expect(err).NotTo(HaveOccurred(), output)
	}).Should(Succeed())
	o.writeKubeconfig(ctx)
	return o
}

func (o *operatorProcess) manifests(ctx context.Context) string {
	GinkgoHelper()
	built := mustKubectl(ctx, "", "kustomize", filepath.Join(repository, "config", "default"))
	var kept []string
	for document := range strings.SplitSeq(built, "\n---\n") {
		var kind metav1.TypeMeta
		Expect(yaml.Unmarshal([]byte(document), &kind)).To(Succeed())
		switch kind.Kind {
		case "Deployment":
		case "ValidatingWebhookConfiguration":
			kept = append(kept, o.reroute(document))
		default:
			kept = append(kept, document)
		}
	}
	return strings.Join(kept, "\n---\n")
}

func (o *operatorProcess) reroute(document string) string {
	GinkgoHelper()
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	Expect(yaml.UnmarshalStrict([]byte(document), &configuration)).To(Succeed())
	for i := range configuration.Webhooks {
		call := &configuration.Webhooks[i].ClientConfig
		call.URL = ptr.To(fmt.Sprintf("https://localhost:%d%s", o.webhook, *call.Service.Path))
		call.Service = nil
	}
	text, err := yaml.Marshal(configuration)
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// writeKubeconfig lets the operator in under its own service account, so that the role it is given is the one it uses.
func (o *operatorProcess) writeKubeconfig(ctx context.Context) {
	GinkgoHelper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: operatorName}}
	token := &authenticationv1.TokenRequest{}
	Expect(kube.SubResource("token").Create(ctx, account, token)).To(Succeed())
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{
		Server: plane.Config.Host, CertificateAuthorityData: plane.Config.CAData,
	}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "c"
	Expect(clientcmd.WriteToFile(*config, o.kubeconfig)).To(Succeed())
}

// start runs the operator and waits until it says that it is ready.
func (o *operatorProcess) start(ctx context.Context) {
	GinkgoHelper()
	log, err := os.OpenFile(filepath.Join(plane.LogDir, "operator.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	Expect(err).NotTo(HaveOccurred())
	command := exec.Command(o.binary,
		"--kubeconfig="+o.kubeconfig,
		"--operator-namespace="+operatorNamespace,
		"--leader-elect",
		"--webhook-host-names=localhost",
		"--webhook-cert-dir="+o.certDir,
		"--webhook-port="+strconv.Itoa(o.webhook),
		fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", o.probes),
		fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", o.metrics),
	)
	o.session, err = gexec.Start(command, log, log)
	Expect(err).NotTo(HaveOccurred())
	Eventually(ctx, o.ready).Should(Equal(http.StatusOK), func() string {
		text, _ := os.ReadFile(log.Name())
		return string(text)
	})
}

// ready is the status code of /readyz, or 0 while nothing answers.
func (o *operatorProcess) ready() int {
	response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/readyz", o.probes))
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

// stop ends the operator as a node would, and expects it to end in order.
func (o *operatorProcess) stop() {
	GinkgoHelper()
	Eventually(o.session.Signal(syscall.SIGTERM)).Should(gexec.Exit(0))
}

// asOperator writes with the operator's own identity.
func asOperator() client.Client {
	GinkgoHelper()
	config := rest.CopyConfig(plane.Config)
	config.Impersonate.UserName = operatorUser
	c, err := client.New(config, client.Options{Scheme: kube.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return c
}

func freePort() int {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

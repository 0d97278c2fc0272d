package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/test/controlplane"
)

const (
	operatorName      = "designate-pool-operator"
	operatorNamespace = "designate-pool-operator"
)

// inCluster are the kinds of config/default that make sense only for an operator that runs in the cluster.
var inCluster = map[string]bool{"Deployment": true, "PodDisruptionBudget": true, "Service": true}

// startOperator installs config/default and runs the operator on this machine, under the service account and with the
// rights that it has in a cluster.
func startOperator(ctx context.Context, plane *controlplane.ControlPlane, manager string) error {
	kube, err := client.New(plane.Config, client.Options{})
	if err != nil {
		return err
	}
	webhookPort, err := freePort()
	if err != nil {
		return err
	}
	probePort, err := freePort()
	if err != nil {
		return err
	}
	if err := install(ctx, plane, kube, webhookPort); err != nil {
		return fmt.Errorf("installing config/default: %w", err)
	}
	kubeconfig := filepath.Join(plane.LogDir, "operator.kubeconfig")
	if err := writeOperatorKubeconfig(ctx, plane, kube, kubeconfig); err != nil {
		return err
	}
	probeAddress := net.JoinHostPort("127.0.0.1", strconv.Itoa(probePort))
	err = plane.StartProgram(manager,
		"--kubeconfig", kubeconfig,
		"--operator-namespace", operatorNamespace,
		"--webhook-port", strconv.Itoa(webhookPort),
		"--webhook-host-names", "localhost",
		"--webhook-cert-dir", filepath.Join(plane.LogDir, "state", "webhook-certificate"),
		"--health-probe-bind-address", probeAddress,
		"--metrics-bind-address", "0",
	)
	if err != nil {
		return err
	}
	waiter := console{healthy: plane.Err}
	return waiter.until(ctx, func(ctx context.Context) error { return ready(ctx, "http://"+probeAddress+"/readyz") })
}

// install applies what `kubectl apply -k config/default` would, except for what runs the operator in the cluster.
func install(ctx context.Context, plane *controlplane.ControlPlane, kube client.Client, webhookPort int) error {
	kustomize := exec.CommandContext(ctx, plane.Kubectl, "kustomize", "config/default")
	var stderr bytes.Buffer
	kustomize.Dir, kustomize.Stderr = plane.Root, &stderr
	manifests, err := kustomize.Output()
	if err != nil {
		return fmt.Errorf("kubectl kustomize: %w: %s", err, stderr.String())
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if inCluster[object.GetKind()] {
			continue
		}
		if object.GetKind() == "ValidatingWebhookConfiguration" {
			if err := callOnThisMachine(object, webhookPort); err != nil {
				return err
			}
		}
		err := kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("demo"), client.ForceOwnership)
		if err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
}

// callOnThisMachine has the API server call the webhooks by URL, for there is no Service that leads out of the cluster.
func callOnThisMachine(configuration *unstructured.Unstructured, port int) error {
	webhooks, found, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil || !found {
		return errors.Join(errors.New("the webhook configuration has no webhooks"), err)
	}
	for _, webhook := range webhooks {
		fields, ok := webhook.(map[string]any)
		if !ok {
			return errors.New("a webhook is not an object")
		}
		path, found, err := unstructured.NestedString(fields, "clientConfig", "service", "path")
		if err != nil || !found {
			return errors.Join(errors.New("a webhook has no path"), err)
		}
		fields["clientConfig"] = map[string]any{"url": fmt.Sprintf("https://localhost:%d%s", port, path)}
	}
	return unstructured.SetNestedSlice(configuration.Object, webhooks, "webhooks")
}

// writeOperatorKubeconfig writes a kubeconfig with a token of the operator's service account.
func writeOperatorKubeconfig(ctx context.Context, plane *controlplane.ControlPlane, kube client.Client, path string) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: operatorName}}
	token := &authenticationv1.TokenRequest{}
	if err := kube.SubResource("token").Create(ctx, account, token); err != nil {
		return fmt.Errorf("asking for a token of service account %s: %w", operatorName, err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["demo"] = &clientcmdapi.Cluster{
		Server: plane.Config.Host, CertificateAuthorityData: plane.Config.CAData,
	}
	config.AuthInfos[operatorName] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts["demo"] = &clientcmdapi.Context{Cluster: "demo", AuthInfo: operatorName}
	config.CurrentContext = "demo"
	return clientcmd.WriteToFile(*config, path)
}

func ready(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the operator is not ready: %s", response.Status)
	}
	return nil
}

// freePort is a port that nobody listens on just now.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("%s is no TCP address", listener.Addr())
	}
	return address.Port, listener.Close()
}

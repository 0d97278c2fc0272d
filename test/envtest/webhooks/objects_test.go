package webhooks_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// listOf is a manifest of the ConfigMap with pools of the given names, each with an attribute of its own.
func listOf(names ...string) string {
	var text strings.Builder
	text.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: designate-multipool-config\ndata:\n  pools: |\n")
	for _, name := range names {
		text.WriteString("    - name: " + name + "\n      attributes: {service_tier: " + name + "}\n" +
			"      bindReplicas: 1\n      nsRecords: [{hostname: ns1." + name + ".example.org., priority: 1}]\n")
	}
	return text.String()
}

func pool(namespace, name string) *v1alpha1.DesignatePool {
	return &v1alpha1.DesignatePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.DesignatePoolSpec{PoolSettings: v1alpha1.PoolSettings{
			Attributes:   map[string]string{"service_tier": name},
			BINDReplicas: 1,
			NSRecords:    []v1alpha1.NSRecord{{Hostname: "ns1." + name + ".example.org.", Priority: 1}},
		}},
	}
}

func backend(namespace string) *v1alpha1.DesignateBackend {
	return &v1alpha1.DesignateBackend{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.BackendName},
		Spec: v1alpha1.DesignateBackendSpec{
			Primaries:   []v1alpha1.Primary{{Address: "192.0.2.10", Port: 5354}},
			DefaultPool: pool(namespace, "default").Spec.PoolSettings,
			BIND:        v1alpha1.BINDTemplate{Image: "bind:9.18", ControlCIDRs: []string{"10.0.0.0/8"}},
		},
	}
}

// created makes an object as the operator would.
func created[T client.Object](ctx context.Context, object T) T {
	GinkgoHelper()
	Expect(asOperator().Create(ctx, object)).To(Succeed())
	return object
}

// bridgeMade is a pool as the bridge makes it.
func bridgeMade(namespace, name string) *v1alpha1.DesignatePool {
	object := pool(namespace, name)
	object.Labels = map[string]string{v1alpha1.LabelSource: v1alpha1.SourceBridge}
	return object
}

func deleteCollection(ctx context.Context, namespace string) {
	GinkgoHelper()
	Expect(kube.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(namespace))).To(Succeed())
	Eventually(ctx, func(g Gomega) {
		output, err := kubectl(ctx, "", "get", "configmap", "-n", namespace, "-o", "name")
		g.Expect(err).NotTo(HaveOccurred(), output)
		g.Expect(output).NotTo(ContainSubstring("designate-multipool-config"))
	}).Should(Succeed())
}

package webhooks_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/designate-pools/designate-pool-operator/test/cases"
)

var _ = Describe("A7 R49: the ConfigMap designate-multipool-config", func() {
	table, err := cases.Load()
	if err != nil {
		panic(err)
	}
	for _, one := range table {
		verb := "is refused"
		if one.Valid {
			verb = "is taken"
		}
		It(verb+" as in "+one.File, func(ctx context.Context) {
			namespace := newNamespace(ctx)
			output, err := kubectl(ctx, string(one.Manifest), "create", "-n", namespace, "-f", "-")
			if one.Valid {
				Expect(err).NotTo(HaveOccurred(), output)
				return
			}
			Expect(err).To(HaveOccurred(), output)
			Expect(output).To(ContainSubstring(
				`admission webhook "multipool-config.designate.openstack.org" denied the request`))
			for _, mention := range one.Mentions {
				Expect(strings.ToLower(output)).To(ContainSubstring(strings.ToLower(mention)))
			}
		})
	}

	It("is judged again when it is edited, and a dry run is told the same", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		mustKubectl(ctx, listOf("default", "edge"), "apply", "-n", namespace, "-f", "-")
		broken := strings.Replace(listOf("default", "edge"), "bindReplicas: 1", "bindReplicas: -1", 1)
		expectDenied(ctx, "bindReplicas", broken, "apply", "-n", namespace, "-f", "-")
		expectDenied(ctx, "bindReplicas", broken, "apply", "-n", namespace, "--dry-run=server", "-f", "-")
		Expect(mustKubectl(ctx, listOf("default"), "apply", "-n", namespace, "-f", "-")).
			To(ContainSubstring(`Warning: this asks for the removal of "edge"`))
	})

	It("can be deleted, alone and with a collection", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		mustKubectl(ctx, listOf("default", "edge"), "create", "-n", namespace, "-f", "-")
		Expect(mustKubectl(ctx, "", "delete", "configmap", "designate-multipool-config", "-n", namespace)).
			To(ContainSubstring(`Warning: this asks for the removal of "edge"`))
		mustKubectl(ctx, listOf("default", "edge"), "create", "-n", namespace, "-f", "-")
		mustKubectl(ctx, "", "create", "configmap", "another", "-n", namespace)
		deleteCollection(ctx, namespace)
	})
})

package webhooks_test

import (
	"context"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("what the repository has to be applied", func() {
	It("includes an operator that its namespace lets run", func(ctx context.Context) {
		// The namespace has warnings for what the restricted Pod Security level would refuse.
		output := mustKubectl(ctx, "", "apply", "--dry-run=server",
			"-f", filepath.Join(repository, "config", "manager", "deployment.yaml"))
		Expect(output).To(ContainSubstring("deployment.apps/designate-pool-operator created"))
		Expect(output).NotTo(ContainSubstring("Warning"))
	})

	It("includes samples that are taken as they are, in the order of their names", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		samples := filepath.Join(repository, "config", "samples")
		output := mustKubectl(ctx, "", "apply", "-n", namespace, "-f", samples)
		output += mustKubectl(ctx, "", "apply", "-n", namespace, "-f", filepath.Join(samples, "optional"))
		Expect(output).NotTo(ContainSubstring("Warning"))
		Eventually(ctx, func() (string, error) {
			return kubectl(ctx, "", "get", "designatepools", "-n", namespace, "-o", "name")
		}).Should(And(ContainSubstring("default"), ContainSubstring("golden"), ContainSubstring("edge"),
			ContainSubstring("silver")))
	})
})

package contract

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/designate-pools/designate-pool-operator/controllers/primaries"
	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

var _ = Describe("A primary", func() {
	It("answers of a zone that it does not know, over UDP and TCP, unless it is stopped", func(ctx SpecContext) {
		const address = "127.0.0.1:5354"
		Eventually(primaries.Ask).WithContext(ctx).WithArguments(address).WithTimeout(patience).Should(Succeed())
		start := without(ctx, running.MDNS)
		Expect(primaries.Ask(ctx, address)).To(MatchError(And(ContainSubstring("UDP:"), ContainSubstring("TCP:"))))
		start()
		Eventually(primaries.Ask).WithContext(ctx).WithArguments(address).WithTimeout(patience).Should(Succeed())
	})
})

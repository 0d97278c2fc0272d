package contract

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

var _ = Describe("A server", func() {
	It("that joins a pool gets its zones by a run, a restart of the worker and one more run, and by nothing less", func(ctx SpecContext) {
		old, joining := stack.Servers[2], stack.Servers[3]
		pool := applied(ctx, old)
		signsLike(ctx, joining, old)
		zone := newZone(ctx, pool)
		grown := stack.PoolOf(pool.Name, pool.ID, pool.Attributes, old, joining)

		By("a run: the worker has its targets from before")
		apply(ctx, grown)
		Expect(awaitZone(ctx, zone, active).Serial).To(BeNumerically(">", zone.Serial))
		Expect(served(ctx, joining, zone)()).To(BeZero())

		By("a restart: the zone is ACTIVE, so nothing is to be done about it")
		Expect(stack.Restart(ctx, running.Worker)).To(Succeed())
		Consistently(served(ctx, joining, zone)).WithTimeout(quiet).Should(BeZero())

		By("one more run")
		apply(ctx, grown)
		now := awaitZone(ctx, zone, active)
		Eventually(served(ctx, joining, zone)).WithTimeout(patience).Should(Equal(now.Serial))
	})

	It("that has left a pool is waited for until the worker is restarted, and keeps what it has", func(ctx SpecContext) {
		staying, leaving := stack.Servers[2], stack.Servers[3]
		pool := applied(ctx, staying, leaving)
		zone := newZone(ctx, pool)
		Eventually(served(ctx, leaving, zone)).WithTimeout(patience).Should(Equal(zone.Serial))

		By("a run while the leaving server is down: the worker still goes there")
		start := without(ctx, leaving.Name)
		shrunk := stack.PoolOf(pool.Name, pool.ID, pool.Attributes, staying)
		apply(ctx, shrunk)
		Consistently(func() string { return zoneNow(ctx, zone).State() }).WithTimeout(quiet).ShouldNot(Equal(active))

		By("a restart of the worker")
		Expect(stack.Restart(ctx, running.Worker)).To(Succeed())
		before := awaitZone(ctx, zone, active)
		change(ctx, zone)
		Eventually(served(ctx, staying, zone)).WithTimeout(patience).Should(BeNumerically(">", before.Serial))
		start()
		DeferCleanup(forget, leaving, zone)
		Expect(served(ctx, leaving, zone)()).To(BeNumerically("<", awaitZone(ctx, zone, active).Serial))
		removeZone(ctx, zone)
		Expect(served(ctx, staying, zone)()).To(BeZero())
		Expect(served(ctx, leaving, zone)()).NotTo(BeZero())
	})
})

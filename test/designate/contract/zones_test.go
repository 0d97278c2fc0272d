package contract

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

// zoneOf is the request for a zone in a pool.
func zoneOf(pool running.Pool) object {
	return object{"name": "zone-of-" + pool.Name + ".example.org.", "email": "hostmaster@example.org", "attributes": pool.Attributes}
}

var _ = Describe("The zones", func() {
	It("of a pool in the file are all written anew, though nothing has changed; those of other pools are left alone", func(ctx SpecContext) {
		listed, other := applied(ctx, stack.Servers[2]), applied(ctx, stack.Servers[3])
		one, two, neighbour := newZone(ctx, listed), newZone(ctx, listed), newZone(ctx, other)
		start := without(ctx, running.Worker)
		apply(ctx, listed)
		for _, zone := range []running.Zone{one, two} {
			Expect(zoneNow(ctx, zone).State()).To(Equal("PENDING/UPDATE"), zone.Name)
		}
		Expect(zoneNow(ctx, neighbour)).To(Equal(neighbour))
		start()
		for _, zone := range []running.Zone{one, two} {
			now := awaitZone(ctx, zone, active)
			Expect(now.Serial).To(BeNumerically(">", zone.Serial), zone.Name)
			Eventually(served(ctx, stack.Servers[2], zone)).WithTimeout(patience).Should(Equal(now.Serial))
		}
		Expect(zoneNow(ctx, neighbour)).To(Equal(neighbour))
		Expect(served(ctx, stack.Servers[3], neighbour)()).To(Equal(neighbour.Serial))
	})

	It("that are being deleted are back after a run, unless their pool is not in the file", func(ctx SpecContext) {
		listed, other := applied(ctx, stack.Servers[2]), applied(ctx, stack.Servers[3])
		resurrected, deleted := newZone(ctx, listed), newZone(ctx, other)
		start := without(ctx, running.Worker)
		for _, zone := range []running.Zone{resurrected, deleted} {
			Expect(stack.DeleteZone(ctx, zone.ID)).To(Succeed())
			Expect(zoneNow(ctx, zone).State()).To(Equal("PENDING/DELETE"))
		}
		apply(ctx, listed)
		Expect(zoneNow(ctx, resurrected).State()).To(Equal("PENDING/UPDATE"))
		Expect(zoneNow(ctx, deleted).State()).To(Equal("PENDING/DELETE"))
		start()
		now := awaitZone(ctx, resurrected, active)
		Eventually(served(ctx, stack.Servers[2], resurrected)).WithTimeout(patience).Should(Equal(now.Serial))
		Expect(stack.AwaitNoZone(ctx, deleted.ID)).To(Succeed())
	}, SpecTimeout(2*patience))

	It("keep a pool from being deleted, and nothing else does", func(ctx SpecContext) {
		pool := applied(ctx, stack.Servers[2])
		zone := newZone(ctx, pool)
		Expect(deletePool(ctx, pool.ID)).To(Equal(http.StatusBadRequest))
		Expect(poolNow(ctx, pool.ID).Name).To(Equal(pool.Name))
		removeZone(ctx, zone)
		Expect(deletePool(ctx, pool.ID)).To(Equal(http.StatusNoContent))
		Expect(deletePool(ctx, pool.ID)).To(Equal(http.StatusNotFound))
	})
})

var _ = Describe("A pool that is not the default one", func() {
	It("gets zones, and its servers get transfers, once a TSIG key is registered for it", func(ctx SpecContext) {
		pool := newPool(stack.Servers[2])
		apply(ctx, pool)
		answer, err := stack.NoAuth("any").Do(ctx, http.MethodPost, "/v2/zones", zoneOf(pool))
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Status).To(Equal(http.StatusBadRequest))
		registerKey(ctx, pool, stack.Servers[2])
		zone := newZone(ctx, pool)
		Eventually(served(ctx, stack.Servers[2], zone)).WithTimeout(patience).Should(Equal(zone.Serial))
	})

	It("gets no zones while two keys are registered for it", func(ctx SpecContext) {
		pool := applied(ctx, stack.Servers[2])
		registerKey(ctx, pool, stack.Servers[3])
		answer, err := stack.NoAuth("any").Do(ctx, http.MethodPost, "/v2/zones", zoneOf(pool))
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Status).To(Equal(http.StatusBadRequest))
		Expect(string(answer.Body)).To(ContainSubstring("does not have a TSIG key configured"))
	})

	It("gets no transfers with the key of another pool", func(ctx SpecContext) {
		// The key of the first server opens the pool for zones; the second one signs with a key that belongs elsewhere.
		pool := newPool(stack.Servers[2:4]...)
		apply(ctx, pool)
		registerKey(ctx, pool, stack.Servers[2])
		elsewhere := newPool(stack.Servers[4])
		apply(ctx, elsewhere)
		registerKey(ctx, elsewhere, stack.Servers[3])
		zone, err := stack.CreateZone(ctx, "project", "zone-of-"+pool.Name+".example.org.", pool.Attributes)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(removeZone, zone)
		Eventually(served(ctx, stack.Servers[2], zone)).WithTimeout(patience).ShouldNot(BeZero())
		Consistently(served(ctx, stack.Servers[3], zone)).WithTimeout(quiet).Should(BeZero())
	})
})

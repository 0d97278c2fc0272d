package client

import (
	"context"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

// stopped and frozen are what can befall a service until the end of a spec.
func stopped(ctx context.Context, service string) {
	GinkgoHelper()
	Expect(stack.Stop(ctx, service)).To(Succeed())
	DeferCleanup(stack.Start, service)
}

func frozen(ctx context.Context, service string) {
	GinkgoHelper()
	Expect(stack.Freeze(ctx, service)).To(Succeed())
	DeferCleanup(stack.Thaw, service)
}

var _ = Describe("An outage", func() {
	patience := designate.Limits{Request: 2 * time.Second}

	DescribeTable("is never an empty Designate, nor a pool that is gone:",
		func(ctx SpecContext, befall func(context.Context, string), service string, limits designate.Limits) {
			var client *designate.Client
			// Keystone may still be busy with what waited for it in the spec before.
			Eventually(func() (err error) {
				client, err = designate.Connect(ctx, cloud(inProject(stack.Admin), nil), limits)
				return err
			}).WithTimeout(time.Minute).Should(Succeed())
			DeferCleanup(client.Close)
			befall(ctx, service)
			_, err := zones(ctx, client)
			Expect(err).To(beOfKind(designate.Unreachable))
			Expect(client.DeletePool(ctx, uuid.NewString())).To(beOfKind(designate.Unreachable))
		},
		Entry("the API is stopped", stopped, running.API, designate.Limits{}),
		Entry("the API is frozen", frozen, running.API, patience),
		Entry("central is stopped, which the API says after a while", stopped, running.Central, designate.Limits{}),
		Entry("central is frozen, and nobody waits for the API", frozen, running.Central, patience),
		Entry("Keystone is stopped, which the API says in HTML", stopped, running.Keystone, designate.Limits{}),
		Entry("Keystone is frozen", frozen, running.Keystone, patience),
		Entry("the database is frozen", frozen, running.MariaDB, patience),
		Entry("RabbitMQ is frozen", frozen, running.RabbitMQ, patience),
	)

	DescribeTable("of Keystone is no refusal of the credentials:",
		func(ctx SpecContext, befall func(context.Context, string)) {
			befall(ctx, running.Keystone)
			_, err := designate.Connect(ctx, cloud(inProject(stack.Admin), nil), patience)
			Expect(err).To(beOfKind(designate.Unreachable))
		},
		Entry("stopped", stopped),
		Entry("frozen", frozen),
	)
})

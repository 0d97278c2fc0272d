package client

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/test/designate/faults"
)

const html = "<html><body>Service Unavailable</body></html>"

var _ = Describe("Between the client and Designate", Ordered, func() {
	var (
		proxy  *faults.Proxy
		client *designate.Client
		all    []string
	)
	BeforeAll(func(ctx SpecContext) {
		for range 3 {
			zone, err := stack.CreateZone(ctx, uuid.NewString(), "z"+uuid.NewString()+".example.org.", nil)
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(stack.RemoveZone, zone.ID)
		}
		var err error
		proxy, err = faults.Start("127.0.0.1:0", stack.NoAuthURL)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(proxy.Refuse()).To(Succeed()) })
		limits := designate.Limits{Request: 2 * time.Second, Idle: time.Second}
		client, err = designate.Connect(ctx, designate.Access{Endpoint: proxy.URL}, limits)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(client.Close)
		all, err = zones(ctx, client)
		Expect(err).NotTo(HaveOccurred())
		Expect(len(all)).To(BeNumerically(">=", 3), "a short list would be a whole one")
	})

	// well says that nothing is broken any more.
	well := func(ctx context.Context) {
		GinkgoHelper()
		Expect(zones(ctx, client)).To(Equal(all))
	}

	DescribeTable("a fault is told as what it is, once, and nothing remains of it",
		func(ctx SpecContext, fault faults.Fault, kind designate.Kind, retryAfter time.Duration) {
			proxy.Break("/v2/zones", fault)
			DeferCleanup(proxy.Mend)
			before := proxy.Requests("/v2/zones")
			_, err := zones(ctx, client)
			Expect(err).To(beOfKind(kind))
			told, ok := errors.AsType[*designate.Error](err)
			Expect(ok).To(BeTrue())
			Expect(told.RetryAfter).To(Equal(retryAfter))
			Expect(err.Error()).NotTo(ContainSubstring("html"), "a body in a message")
			Expect(proxy.Requests("/v2/zones")-before).To(BeNumerically("<=", 2), "requests made again by somebody")
			proxy.Mend()
			well(ctx)
		},
		Entry("401", faults.Status(http.StatusUnauthorized, ""), designate.Unauthorised, time.Duration(0)),
		Entry("403 with nothing", faults.Status(http.StatusForbidden, ""), designate.Unauthorised, time.Duration(0)),
		Entry("404 of something that is no Designate", faults.Status(http.StatusNotFound, html, "Content-Type", "text/html"),
			designate.Unreachable, time.Duration(0)),
		Entry("429 with Retry-After", faults.Status(http.StatusTooManyRequests, "", "Retry-After", "7"), designate.Overloaded, 7*time.Second),
		Entry("500", faults.Status(http.StatusInternalServerError, ""), designate.Unreachable, time.Duration(0)),
		Entry("503 with HTML", faults.Status(http.StatusServiceUnavailable, html, "Content-Type", "text/html"),
			designate.Unreachable, time.Duration(0)),
		Entry("503 with Retry-After", faults.Status(http.StatusServiceUnavailable, "", "Retry-After", "3"), designate.Overloaded, 3*time.Second),
		Entry("504", faults.Status(http.StatusGatewayTimeout, html), designate.Unreachable, time.Duration(0)),
		Entry("200 with HTML", faults.Status(http.StatusOK, html, "Content-Type", "text/html"), designate.Malformed, time.Duration(0)),
		Entry("200 with nothing", faults.Status(http.StatusOK, ""), designate.Malformed, time.Duration(0)),
		Entry("an empty object", faults.Status(http.StatusOK, "{}"), designate.Malformed, time.Duration(0)),
		Entry("an empty list that counts what it leaves out",
			faults.Status(http.StatusOK, `{"zones": [], "links": {}, "metadata": {"total_count": 3}}`), designate.Malformed, time.Duration(0)),
		Entry("a frozen server", faults.Freeze(), designate.Unreachable, time.Duration(0)),
		Entry("a server that is slower than anybody waits", faults.Delay(time.Minute), designate.Unreachable, time.Duration(0)),
		Entry("a server that freezes half-way", faults.FreezeHalfWay(), designate.Unreachable, time.Duration(0)),
		Entry("a connection that ends without an answer", faults.Reset(), designate.Unreachable, time.Duration(0)),
		Entry("an answer that is cut off", faults.CutOff(), designate.Malformed, time.Duration(0)),
		Entry("half an answer that says it is whole", faults.Half(), designate.Malformed, time.Duration(0)),
		Entry("pages that go round in circles", faults.Loop(), designate.Malformed, time.Duration(0)),
		Entry("a page that has lost its link", faults.Short(), designate.Malformed, time.Duration(0)),
	)

	It("a refused connection is told as what it is, and nothing remains of it", func(ctx SpecContext) {
		Expect(proxy.Refuse()).To(Succeed())
		_, err := zones(ctx, client)
		Expect(err).To(beOfKind(designate.Unreachable))
		Expect(proxy.Accept()).To(Succeed())
		well(ctx)
	})

	It("a slow answer is an answer", func(ctx SpecContext) {
		proxy.Break("/v2/zones", faults.Delay(time.Second))
		DeferCleanup(proxy.Mend)
		well(ctx)
	})
})

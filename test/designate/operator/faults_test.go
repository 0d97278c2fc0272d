package operator_test

import (
	"context"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/test/designate/faults"
)

const html = "<html><body>Service Unavailable</body></html>"

var _ = Describe("R1 R7 R33: what lies between the operator and Designate fails, the number of zones stays what it was, and all is well again by itself",
	Ordered, Serial, func() {
		var (
			proxy *faults.Proxy
			w     *world
		)
		BeforeAll(func(ctx context.Context) {
			makeZones(ctx, 2)
			var err error
			proxy, err = faults.Start("127.0.0.1:0", stack.NoAuthURL)
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(func() { Expect(proxy.Refuse()).To(Succeed()) })
			w = newWorld(context.WithoutCancel(ctx), at(proxy.URL))
		})

		DescribeTable("when there is",
			func(_ context.Context, fault faults.Fault, reason string) {
				suffer(w, reason,
					func(context.Context) { proxy.Break("/v2/zones", fault) },
					func(context.Context) { proxy.Mend() })
			},
			Entry("404", faults.Status(http.StatusNotFound, html), v1alpha1.ReasonDesignateUnreachable),
			Entry("429 with Retry-After", faults.Status(http.StatusTooManyRequests, "", "Retry-After", "2"), v1alpha1.ReasonDesignateOverloaded),
			Entry("500", faults.Status(http.StatusInternalServerError, ""), v1alpha1.ReasonDesignateUnreachable),
			Entry("503 with HTML", faults.Status(http.StatusServiceUnavailable, html), v1alpha1.ReasonDesignateUnreachable),
			Entry("504", faults.Status(http.StatusGatewayTimeout, html), v1alpha1.ReasonDesignateUnreachable),
			Entry("an answer that is too slow", faults.Delay(time.Minute), v1alpha1.ReasonDesignateUnreachable),
			Entry("an answer that stops half-way", faults.FreezeHalfWay(), v1alpha1.ReasonDesignateUnreachable),
			Entry("an answer that is cut off", faults.CutOff(), v1alpha1.ReasonDesignateAnswerUnusable),
			Entry("pages that go round in circles", faults.Loop(), v1alpha1.ReasonDesignateAnswerUnusable),
			Entry("a page that has lost its link", faults.Short(), v1alpha1.ReasonDesignateAnswerUnusable),
		)

		It("when connections are refused", func() {
			suffer(w, v1alpha1.ReasonDesignateUnreachable,
				func(context.Context) { Expect(proxy.Refuse()).To(Succeed()) },
				func(context.Context) { Expect(proxy.Accept()).To(Succeed()) })
		})
	})

package contract

import (
	"context"
	"net/http"

	"github.com/google/uuid"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"

	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

// apiPool is a pool as the API tells it.
type apiPool struct {
	ID          string             `json:"id"`
	Name        string             `json:"name"`
	Description *string            `json:"description"`
	Attributes  map[string]string  `json:"attributes"`
	NSRecords   []running.NSRecord `json:"ns_records"`
}

func poolNow(ctx context.Context, id string) apiPool {
	GinkgoHelper()
	var pool apiPool
	Expect(stack.NoAuth("admin").Call(ctx, http.MethodGet, "/v2/pools/"+id, nil, &pool)).To(Succeed())
	return pool
}

var _ = Describe("A pool in the file", func() {
	It("is made with the id that the file says", func(ctx SpecContext) {
		pool := newPool(stack.Servers[2])
		apply(ctx, pool)
		now := poolNow(ctx, pool.ID)
		Expect(now.Name).To(Equal(pool.Name))
		Expect(now.Attributes).To(Equal(pool.Attributes))
		Expect(now.NSRecords).To(Equal(pool.NSRecords))
	})

	It("keeps what the file leaves out, and loses what is empty there", func(ctx SpecContext) {
		pool := newPool(stack.Servers[2])
		pool.Description = ptr.To("as it was")
		apply(ctx, pool)
		before := poolNow(ctx, pool.ID)

		By("leaving everything out that can be left out")
		apply(ctx, running.Pool{Name: pool.Name, ID: pool.ID})
		Expect(poolNow(ctx, pool.ID)).To(Equal(before))
		Expect(rows(ctx, "pool_targets", pool)).To(Equal("1"))
		Expect(rows(ctx, "pool_nameservers", pool)).To(Equal("1"))

		By("emptying it")
		apply(ctx, running.Pool{
			Name: pool.Name, ID: pool.ID, Description: ptr.To(""), Attributes: map[string]string{},
			Nameservers: []running.HostPort{}, Targets: []running.Target{},
		})
		now := poolNow(ctx, pool.ID)
		Expect(now.Attributes).To(BeEmpty())
		Expect(now.Description).To(HaveValue(BeEmpty()))
		Expect(now.NSRecords).To(Equal(pool.NSRecords))
		Expect(rows(ctx, "pool_targets", pool)).To(Equal("0"))
		Expect(rows(ctx, "pool_nameservers", pool)).To(Equal("0"))
	})

	It("is found by its id and not by its name, where it has both", func(ctx SpecContext) {
		pool := newPool(stack.Servers[2])
		apply(ctx, pool)
		renamed := pool
		renamed.Name += "-renamed"
		apply(ctx, renamed)
		Expect(poolNow(ctx, pool.ID).Name).To(Equal(renamed.Name))
	})

	DescribeTable("cannot have the name of another, as the database compares names:",
		func(ctx SpecContext, alike func(name string) string) {
			pool := newPool(stack.Servers[2])
			apply(ctx, pool)
			other := newPool(stack.Servers[3])
			other.Name = alike(pool.Name)
			ended := update(ctx, other)
			Expect(ended.ExitCode).To(Equal(255))
			Expect(ended.Output).To(ContainSubstring("Duplicate Pool"))
			answer, err := stack.NoAuth("admin").Do(ctx, http.MethodGet, "/v2/pools/"+other.ID, nil)
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.Status).To(Equal(http.StatusNotFound))
		},
		Entry("the same", func(name string) string { return name }),
		Entry("another case", func(name string) string { return "P" + name[1:] }),
		Entry("a space at the end", func(name string) string { return name + " " }),
	)
})

var _ = Describe("A run ends with", func() {
	It("1 when the file is refused, and has done what stands before", func(ctx SpecContext) {
		first, second := newPool(stack.Servers[2]), newPool(stack.Servers[3])
		second.NSRecords = []running.NSRecord{{Hostname: "not-absolute.example.org", Priority: 1}}
		Expect(update(ctx, first, second).ExitCode).To(Equal(1))
		Expect(poolNow(ctx, first.ID).Name).To(Equal(first.Name))
		Expect(deletePool(ctx, second.ID)).To(Equal(http.StatusNotFound))
	})

	It("1 when an id is none", func(ctx SpecContext) {
		pool := newPool(stack.Servers[2])
		pool.ID = "not-an-id"
		Expect(update(ctx, pool).ExitCode).To(Equal(1))
	})

	It("1 when central does not answer, after the RPC timeout", func(ctx SpecContext) {
		without(ctx, running.Central)
		ended := update(ctx, running.Pool{Name: "nobody", ID: uuid.NewString()})
		Expect(ended.ExitCode).To(Equal(1))
		Expect(ended.Output).To(ContainSubstring("No response received from designate-central"))
	})

	It("255 when a pool would be left without NS records", func(ctx SpecContext) {
		pool := newPool(stack.Servers[2])
		apply(ctx, pool)
		pool.NSRecords = []running.NSRecord{}
		Expect(update(ctx, pool).ExitCode).To(Equal(255))
		Expect(poolNow(ctx, pool.ID).NSRecords).NotTo(BeEmpty())
	})
})

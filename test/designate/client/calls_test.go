package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/google/uuid"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

// newPool is a pool without servers and without zones, which belongs to a project: it is hidden from others, also from an
// administrator who does not ask for all projects.
func newPool(ctx context.Context) string {
	GinkgoHelper()
	var pool struct{ ID string }
	Expect(stack.NoAuth("another").Call(ctx, http.MethodPost, "/v2/pools", object{
		"name": "p-" + uuid.NewString(), "ns_records": []object{{"hostname": "ns1.example.org.", "priority": 1}},
	}, &pool)).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		answer, err := stack.NoAuth("another").Do(ctx, http.MethodDelete, "/v2/pools/"+pool.ID, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Status).To(BeElementOf(http.StatusNoContent, http.StatusNotFound))
	})
	return pool.ID
}

var _ = Describe("Calls", func() {
	It("list the zones of all projects in as many requests as there are pages", func(ctx SpecContext) {
		created := []string{}
		for range 3 {
			zone, err := stack.CreateZone(ctx, uuid.NewString(), "z"+uuid.NewString()+".example.org.", nil)
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(stack.RemoveZone, zone.ID)
			created = append(created, zone.ID)
		}
		api := onlookAt(stack.NoAuthURL)
		listed, err := zones(ctx, connect(ctx, designate.Access{Endpoint: api.URL}, 2))
		Expect(err).NotTo(HaveOccurred())
		Expect(listed).To(ContainElements(created))
		requests, _ := api.seen()
		Expect(requests).To(HaveLen(len(listed)/2 + 1))
		Expect(requests).To(HaveEach("GET /v2/zones"))
	})

	It("read a zone as Designate has it", func(ctx SpecContext) {
		zone, err := stack.CreateZone(ctx, uuid.NewString(), "z"+uuid.NewString()+".example.org.", nil)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(stack.RemoveZone, zone.ID)
		want, err := stack.AwaitZone(ctx, zone.ID, "ACTIVE/NONE")
		Expect(err).NotTo(HaveOccurred())
		var got designate.Zone
		Expect(connect(ctx, noAuth(), 0).EachZone(ctx, func(listed designate.Zone) error {
			if listed.ID == zone.ID {
				got = listed
			}
			return nil
		})).To(Succeed())
		Expect(got.CreatedAt.Format("2006-01-02T15:04:05.000000")).To(Equal(want.CreatedAt))
		Expect(got).To(Equal(designate.Zone{
			ID: want.ID, Name: want.Name, PoolID: want.PoolID, ProjectID: want.ProjectID, Type: want.Type, Status: want.Status,
			Action: want.Action, Serial: want.Serial, Attributes: want.Attributes, CreatedAt: got.CreatedAt,
		}))
	})

	It("list pools one a page, the default one among them, which has no time", func(ctx SpecContext) {
		mine := newPool(ctx)
		pools, err := connect(ctx, noAuth(), 1).Pools(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(pools).To(ContainElements(HaveField("ID", mine), HaveField("ID", running.DefaultPoolID)))
		for _, pool := range pools {
			Expect(pool.CreatedAt.IsZero()).To(Equal(pool.ID == running.DefaultPoolID), pool.Name)
		}
		By("in the order that Designate has by itself, this is an error of its own")
		answer, err := stack.NoAuth("admin").Do(ctx, http.MethodGet, "/v2/pools?limit=1&marker="+url.QueryEscape(running.DefaultPoolID), nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Status).To(Equal(http.StatusInternalServerError))
	})

	It("delete a pool that is empty, and say of one that has zones or is not there what it is", func(ctx SpecContext) {
		zone, err := stack.CreateZone(ctx, uuid.NewString(), "z"+uuid.NewString()+".example.org.", nil)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(stack.RemoveZone, zone.ID)
		client := connect(ctx, noAuth(), 0)
		Expect(client.DeletePool(ctx, zone.PoolID)).To(beOfKind(designate.PoolNotEmpty))
		mine := newPool(ctx)
		Expect(client.DeletePool(ctx, mine)).To(Succeed())
		Expect(client.DeletePool(ctx, mine)).To(beOfKind(designate.NotFound))
	})

	It("take no other 404 for the absence of a pool", func(ctx SpecContext) {
		for _, path := range []string{"/v3", "/v2/zones"} {
			client := connect(ctx, designate.Access{Endpoint: stack.NoAuthURL + path}, 0)
			Expect(client.DeletePool(ctx, uuid.NewString())).To(beOfKind(designate.Unreachable), path)
		}
	})

	It("make, list and delete the TSIG key of a pool that need not exist yet", func(ctx SpecContext) {
		client := connect(ctx, noAuth(), 1)
		key := designate.TSIGKey{
			Name: "k-" + uuid.NewString(), Algorithm: "hmac-sha256", Secret: "c2VjcmV0LXNlY3JldC1zZWNyZXQ=", PoolID: uuid.NewString(),
		}
		created, err := client.CreateTSIGKey(ctx, key)
		Expect(err).NotTo(HaveOccurred())
		Expect(created.ID).NotTo(BeEmpty())
		key.ID = created.ID
		Expect(created).To(Equal(key))
		Expect(client.TSIGKeys(ctx)).To(ContainElement(key))
		_, err = client.CreateTSIGKey(ctx, key)
		Expect(err).To(beOfKind(designate.AlreadyExists))
		odd := key
		odd.Name, odd.Algorithm = "k-"+uuid.NewString(), "hmac-none"
		_, err = client.CreateTSIGKey(ctx, odd)
		Expect(err).To(beOfKind(designate.Refused))
		Expect(client.DeleteTSIGKey(ctx, key.ID)).To(Succeed())
		Expect(client.DeleteTSIGKey(ctx, key.ID)).To(beOfKind(designate.NotFound))
	})
})

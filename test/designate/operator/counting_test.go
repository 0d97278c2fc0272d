package operator_test

import (
	"context"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/test/designate/running"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

const (
	projectA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	projectB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	goldID   = "22222222-2222-4222-8222-222222222222"
)

var _ = Describe("Zones are counted", func() {
	It("whatever project they belong to, however they came about and whatever state they are in", func(ctx context.Context) {
		before := total(ctx, running.DefaultPoolID)

		By("making zones of two projects, imported, transferred, SECONDARY, in ERROR and being deleted")
		own, err := stack.CreateZone(ctx, projectA, zoneName("own"), nil)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(stack.RemoveZone, own.ID)
		imported := importZone(ctx, zoneName("imported"))
		DeferCleanup(stack.RemoveZone, imported)
		transferred, err := stack.CreateZone(ctx, projectA, zoneName("transferred"), nil)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(stack.RemoveZone, transferred.ID)
		transferZone(ctx, transferred.ID)
		secondary := createSecondary(ctx, zoneName("secondary"))
		DeferCleanup(stack.RemoveZone, secondary)
		broken, err := stack.CreateZone(ctx, projectA, zoneName("broken"), nil)
		Expect(err).NotTo(HaveOccurred())
		_, err = stack.AwaitZone(ctx, broken.ID, "ACTIVE/NONE")
		Expect(err).NotTo(HaveOccurred())
		deleting, err := stack.CreateZone(ctx, projectB, zoneName("deleting"), nil)
		Expect(err).NotTo(HaveOccurred())
		_, err = stack.AwaitZone(ctx, deleting.ID, "ACTIVE/NONE")
		Expect(err).NotTo(HaveOccurred())

		By("holding two of them in states that pass by quickly: nobody does the work")
		Expect(stack.Stop(ctx, running.Worker)).To(Succeed())
		Expect(stack.Stop(ctx, running.Producer)).To(Succeed())
		DeferCleanup(func(ctx context.Context) {
			Expect(stack.Start(ctx, running.Producer)).To(Succeed())
			Expect(stack.Start(ctx, running.Worker)).To(Succeed())
			Expect(stack.RemoveZone(ctx, broken.ID)).To(Succeed())
			// Asked for again: nobody heard the first time.
			Expect(stack.RemoveZone(ctx, deleting.ID)).To(Succeed())
		})
		_, err = stack.SQL(ctx, "designate", "UPDATE zones SET status='ERROR', action='UPDATE' WHERE name='"+broken.Name+"'")
		Expect(err).NotTo(HaveOccurred())
		Expect(stack.DeleteZone(ctx, deleting.ID)).To(Succeed())

		w := newWorld(ctx, throughKeystone(), clouds(stack.Admin, running.Region))
		w.eventuallyZones("default", before+6)
		states := map[string]int32{}
		for _, state := range w.pool("default").Status.Zones.States {
			states[state.Status+"/"+state.Action] = state.Count
		}
		Expect(states).To(HaveKeyWithValue("ERROR/UPDATE", BeNumerically(">=", 1)))
		Expect(states).To(HaveKeyWithValue("PENDING/DELETE", BeNumerically(">=", 1)))
		Expect(w.backend().Status.Zones).To(HaveField("Total", total(ctx, running.DefaultPoolID)+total(ctx, goldID)))
		w.eventuallyCondition(v1alpha1.ConditionDesignateReachable, "True Reachable")
		w.eventuallyCondition(v1alpha1.ConditionDefaultPoolMatches, "True DefaultPoolMatches")
	})

	It("under the pool that they are in, whose id Designate had first", func(ctx context.Context) {
		makeGold(ctx)
		zone, err := stack.CreateZone(ctx, projectB, zoneName("gold"), map[string]string{"service_tier": "gold"})
		Expect(err).NotTo(HaveOccurred())
		Expect(zone.PoolID).To(Equal(goldID))
		DeferCleanup(stack.RemoveZone, zone.ID)

		pool := harness.MakePool("", "gold").Obj()
		w := newWorld(ctx, at(stack.NoAuthURL), pool)
		w.eventuallyZones("gold", 1)
		Expect(w.pool("gold").Status.PoolID).To(Equal(goldID))
		Expect(w.pool("gold").Status.Zones.Names).To(ConsistOf(zone.Name))
		w.eventuallyZones("default", total(ctx, running.DefaultPoolID))
		w.eventuallyCondition(v1alpha1.ConditionPoolNamesDistinct, "True NamesDistinct")
	})

	It("and a pool that Designate takes for ours, but is not, is told", func(ctx context.Context) {
		makeGold(ctx)
		w := newWorld(ctx, at(stack.NoAuthURL), harness.MakePool("", "other").PoolName("Gold").Obj())
		w.eventuallyCondition(v1alpha1.ConditionPoolNamesDistinct, "False NameTakenInDesignate")
	})

	It("and a default pool of another id is told, with the id that it has", func(ctx context.Context) {
		w := newWorld(ctx, at(stack.NoAuthURL))
		w.eventuallyCondition(v1alpha1.ConditionDefaultPoolMatches, "True DefaultPoolMatches")
		backend := w.backend()
		base := backend.DeepCopy()
		backend.Spec.Designate.DefaultPoolID = "99999999-9999-4999-8999-999999999999"
		Expect(kube.Patch(ctx, backend, client.MergeFrom(base))).To(Succeed())
		w.eventuallyCondition(v1alpha1.ConditionDefaultPoolMatches, "False DefaultPoolMissing")
		Expect(w.condition(v1alpha1.ConditionReady)).To(HavePrefix("False"))
	})

	It("R9 R37: and one listing serves all pools, again and again, without a write while nothing changes", func(ctx context.Context) {
		pools := []client.Object{}
		for _, name := range []string{"one", "two", "three"} {
			pools = append(pools, harness.MakePool("", name).Obj())
		}
		w := newWorld(ctx, at(stack.NoAuthURL), pools...)
		for _, name := range []string{"default", "one", "two", "three"} {
			Eventually(func() *v1alpha1.PoolZones { return w.pool(name).Status.Zones }).WithContext(ctx).ShouldNot(BeNil(), name)
		}
		Eventually(func() []string { w.operator.Wire.Reset(); time.Sleep(time.Second); return w.operator.Wire.Writes() }).
			WithContext(ctx).Should(BeEmpty())
		w.operator.Wire.Reset()
		Consistently(func() []string { return w.operator.Wire.Writes() }).WithContext(ctx).WithTimeout(3 * pollInterval).
			WithPolling(time.Second).Should(BeEmpty())
	})
})

// makeGold makes a pool in Designate by hand, with the TSIG key without which it takes no zones.
func makeGold(ctx context.Context) {
	GinkgoHelper()
	server := stack.Servers[2]
	Expect(stack.ApplyPools(ctx, stack.PoolOf("gold", goldID, map[string]string{"service_tier": "gold"}, server))).To(Succeed())
	var key struct {
		ID string `json:"id"`
	}
	Expect(stack.NoAuth("any").Call(ctx, http.MethodPost, "/v2/tsigkeys", map[string]any{
		"name": server.TSIG.Name, "algorithm": server.TSIG.Algorithm, "secret": server.TSIG.Secret, "scope": "POOL", "resource_id": goldID,
	}, &key)).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		// A spec may have had the pool removed.
		answer, err := stack.NoAuth("any").Do(ctx, http.MethodDelete, "/v2/pools/"+goldID, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Status).To(BeElementOf(http.StatusNoContent, http.StatusNotFound))
		Expect(stack.NoAuth("any").Call(ctx, http.MethodDelete, "/v2/tsigkeys/"+key.ID, nil, nil)).To(Succeed())
	})
}

// importZone imports a zone file, and returns the id of the zone.
func importZone(ctx context.Context, name string) string {
	GinkgoHelper()
	text := "$ORIGIN " + name + "\n$TTL 300\n@ IN SOA ns1.example.org. hostmaster.example.org. 1 3600 600 86400 300\n@ IN NS ns1.example.org.\n"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, stack.NoAuthURL+"/v2/zones/tasks/imports", strings.NewReader(text))
	Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Content-Type", "text/dns")
	request.Header.Set("X-Auth-Project-ID", projectA)
	request.Header.Set("X-Roles", "admin")
	response, err := http.DefaultClient.Do(request)
	Expect(err).NotTo(HaveOccurred())
	Expect(response.Body.Close()).To(Succeed())
	Expect(response).To(HaveHTTPStatus(http.StatusAccepted))
	return awaitNamed(ctx, name)
}

// createSecondary makes a SECONDARY zone, and returns its id.
func createSecondary(ctx context.Context, name string) string {
	GinkgoHelper()
	body := map[string]any{"name": name, "type": "SECONDARY", "masters": []string{"192.0.2.1"}}
	var zone running.Zone
	Expect(stack.NoAuth(projectA).Call(ctx, http.MethodPost, "/v2/zones", body, &zone)).To(Succeed())
	return zone.ID
}

// transferZone gives a zone to another project.
func transferZone(ctx context.Context, id string) {
	GinkgoHelper()
	var request struct {
		ID  string `json:"id"`
		Key string `json:"key"`
	}
	Expect(stack.NoAuth(projectA).Call(ctx, http.MethodPost, "/v2/zones/"+id+"/tasks/transfer_requests", map[string]any{}, &request)).To(Succeed())
	accept := map[string]any{"key": request.Key, "zone_transfer_request_id": request.ID}
	Expect(stack.NoAuth(projectB).Call(ctx, http.MethodPost, "/v2/zones/tasks/transfer_accepts", accept, nil)).To(Succeed())
	zone, err := stack.Zone(ctx, id)
	Expect(err).NotTo(HaveOccurred())
	Expect(zone.ProjectID).To(Equal(projectB))
}

// awaitNamed waits until there is a zone of a name, and returns its id.
func awaitNamed(ctx context.Context, name string) string {
	GinkgoHelper()
	var id string
	Eventually(func(g Gomega) {
		var list struct {
			Zones []running.Zone `json:"zones"`
		}
		g.Expect(stack.NoAuth("any").AllProjects().Call(ctx, http.MethodGet, "/v2/zones?name="+name, nil, &list)).To(Succeed())
		g.Expect(list.Zones).To(HaveLen(1))
		id = list.Zones[0].ID
	}).WithContext(ctx).Should(Succeed())
	return id
}

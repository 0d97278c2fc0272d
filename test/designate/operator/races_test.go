package operator_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/conversion"
	"github.com/designate-pools/designate-pool-operator/test/designate/running"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

const (
	// racesVariable says how many pools are raced; one round when it is not set.
	racesVariable = "RACES"
	// inRound is how many are raced at a time.
	inRound = 20
	// longestOffset is how long after the wish a zone is made at most: longer than a removal without zones takes to Designate.
	longestOffset = 9 * time.Second
)

// race is a pool that is removed while somebody makes a zone in it.
type race struct {
	name, id string
	// zone is what was made; empty when Designate refused.
	zone running.Zone
}

var _ = Describe("A zone that is made while its pool is removed", Serial, func() {
	It("is refused by Designate, or keeps its pool and its servers", func(ctx context.Context) {
		total := inRound
		if asked := os.Getenv(racesVariable); asked != "" {
			var err error
			total, err = strconv.Atoi(asked)
			Expect(err).NotTo(HaveOccurred())
		}
		w := newWorld(ctx, at(stack.NoAuthURL))
		made, refused, slipped := 0, 0, 0
		for round := 0; round*inRound < total; round++ {
			races := w.prepareRaces(round)
			runRaces(ctx, w, races)
			for _, r := range races {
				if r.zone.ID == "" {
					refused++
					w.eventuallyGone(r.name, r.id)
					continue
				}
				made++
				w.eventuallyBlocked(r.name, v1alpha1.ReasonZonesExist)
				Expect(w.runs(r.name)).To(BeTrue(), "the servers of %s, which has a zone", r.name)
				if !designateHas(ctx, r.id) {
					slipped++
					Expect(w.blocked(r.name)).To(ContainSubstring("apply pools.yaml"))
					Expect(stack.ApplyPools(ctx, racePool(r))).To(Succeed())
				}
			}
			for _, r := range races {
				if r.zone.ID != "" {
					Expect(stack.RemoveZone(ctx, r.zone.ID)).To(Succeed())
					w.eventuallyGone(r.name, r.id)
				}
			}
		}
		AddReportEntry("races", fmt.Sprintf("%d zones made, %d refused, %d slipped in", made, refused, slipped), ReportEntryVisibilityAlways)
		Expect(made).To(BeNumerically(">", 0), "every zone came too late")
		Expect(refused).To(BeNumerically(">", 0), "every zone came too early")
	})
})

// racePool is the pool of a race in Designate. Which server it has does not matter.
func racePool(r *race) running.Pool {
	return stack.PoolOf(r.name, r.id, map[string]string{"race": r.name}, stack.Servers[2])
}

// prepareRaces makes pools without zones, in Designate with TSIG keys, and here.
func (w *world) prepareRaces(round int) []*race {
	GinkgoHelper()
	var races []*race
	var pools []running.Pool
	for i := range inRound {
		name := fmt.Sprintf("race-%d-%d", round, i)
		r := &race{name: name, id: conversion.PoolID(w.namespace, name)}
		races, pools = append(races, r), append(pools, racePool(r))
	}
	Expect(stack.ApplyPools(w, pools...)).To(Succeed())
	for _, r := range races {
		var key struct {
			ID string `json:"id"`
		}
		Expect(stack.NoAuth("any").Call(w, http.MethodPost, "/v2/tsigkeys", map[string]any{
			"name": r.id, "algorithm": "hmac-sha256", "secret": "bm90IGEgc2VjcmV0", "scope": "POOL", "resource_id": r.id,
		}, &key)).To(Succeed())
		DeferCleanup(func(ctx context.Context) {
			Expect(stack.NoAuth("any").Call(ctx, http.MethodDelete, "/v2/tsigkeys/"+key.ID, nil, nil)).To(Succeed())
		})
		pool := harness.MakePool(w.namespace, r.name).Obj()
		Expect(kube.Create(w, pool)).To(Succeed())
	}
	for _, r := range races {
		w.eventuallyZones(r.name, 0)
		Eventually(func() bool { return w.runs(r.name) }).WithContext(w).Should(BeTrue())
		Expect(w.pool(r.name).Status.PoolID).To(Equal(r.id))
	}
	return races
}

// runRaces removes all pools, and makes a zone in each some time later.
func runRaces(ctx context.Context, w *world, races []*race) {
	GinkgoHelper()
	var group sync.WaitGroup
	for _, r := range races {
		group.Go(func() {
			defer GinkgoRecover()
			w.remove(r.name)
			time.Sleep(rand.N(longestOffset))
			body := map[string]any{"name": zoneName(r.name), "email": "hostmaster@example.org", "attributes": map[string]string{"race": r.name}}
			answer, err := stack.NoAuth(projectA).Do(ctx, http.MethodPost, "/v2/zones", body)
			Expect(err).NotTo(HaveOccurred())
			if answer.Status >= http.StatusMultipleChoices {
				return
			}
			var zone running.Zone
			Expect(answer.JSON(&zone)).To(Succeed())
			if zone.PoolID == r.id {
				r.zone = zone
				return
			}
			// Without its pool, a zone is put into another one.
			Expect(stack.RemoveZone(ctx, zone.ID)).To(Succeed())
		})
	}
	group.Wait()
	for _, r := range races {
		err := kube.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: r.name}, &v1alpha1.DesignatePool{})
		if r.zone.ID != "" {
			Expect(apierrors.IsNotFound(err)).To(BeFalse(), "pool %s, which has a zone", r.name)
		}
	}
}

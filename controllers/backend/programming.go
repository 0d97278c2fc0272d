package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/poolupdate"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

const (
	defaultSettle = 10 * time.Second
	// runLook is how often a Job that goes on is looked at without an event.
	runLook = 15 * time.Second
	// firstRestartLook and longestRestartLook bound how often workers that restart are looked at, for no event tells of them.
	firstRestartLook   = 2 * time.Second
	longestRestartLook = 30 * time.Second
)

// programming is what one pass knows and does about telling Designate of the pools.
type programming struct {
	// facts are what steps are decided from; entries are the pools of pools.yaml in the same order, with their ids.
	facts   poolupdate.Facts
	entries []conversion.PoolEntry
	// workers are Designate's, as far as the pass had to look at them.
	workers *workersSeen
	// progress is that of the step that goes on.
	progress poolupdate.Progress
	// err says why the pass could not go on with it.
	err error
}

// applies says that the operator applies pools.yaml.
func (s *scope) applies() bool {
	return s.backend != nil && s.backendErr == nil &&
		s.backend.Spec.Designate.Apply == v1alpha1.ApplyJob && s.backend.Spec.Designate.PoolUpdate != nil
}

// program goes on with telling Designate of the pools: one step at most in a pass. What was done is in the ledger before the
// next thing is, so that a crash at any point is made up for.
func (r *Reconciler) program(ctx context.Context, s *scope) error {
	if !s.applies() {
		return r.forgetApplied(ctx, s)
	}
	s.programming.err = r.step(ctx, s)
	s.markProgrammed()
	return s.programming.err
}

func (r *Reconciler) step(ctx context.Context, s *scope) error {
	if err := r.gatherWanted(ctx, s); err != nil {
		return err
	}
	if s.stored.Run != nil {
		if err := r.followRun(ctx, s); err != nil {
			return err
		}
	}
	if s.stored.Restart != 0 {
		if err := r.followRestart(ctx, s); err != nil {
			return err
		}
	}
	next, step := poolupdate.Next(&s.stored.Ledger, s.programming.facts)
	s.lookAgainAfter(step.Wait)
	if step.Run != nil {
		return r.beginRun(ctx, s, next, step)
	}
	if _, err := s.stored.Write(ctx, r.Client, s.namespace, next); err != nil {
		return err
	}
	if step.Restart {
		return r.followRestart(ctx, s)
	}
	return nil
}

// forgetApplied forgets what Designate was told, where people see to that: nobody knows what they tell it.
func (r *Reconciler) forgetApplied(ctx context.Context, s *scope) error {
	if usable := s.backend != nil && s.backendErr == nil; !usable {
		return nil
	}
	_, err := s.stored.Write(ctx, r.Client, s.namespace, poolupdate.Forgotten(&s.stored.Ledger))
	return err
}

// gatherWanted puts together what is to be applied.
func (r *Reconciler) gatherWanted(ctx context.Context, s *scope) error {
	p := &s.programming
	entries, err := s.entries(withIDs)
	if err != nil {
		return err
	}
	p.entries = entries
	settle := defaultSettle
	if configured := s.backend.Spec.Designate.PoolUpdate.SettleTime; configured != nil {
		settle = configured.Duration
	}
	p.facts = poolupdate.Facts{Now: s.now, Settle: settle}
	for i := range entries {
		pool, err := s.wantedPool(&entries[i])
		if err != nil {
			return err
		}
		pool.Since = r.rests.Since(pool.UID, fmt.Sprint(pool.Entry, pool.Targets, pool.Empty), s.now)
		p.facts.Pools = append(p.facts.Pools, *pool)
	}
	r.findObstacles(ctx, s)
	return nil
}

// wantedPool is a pool as it is to be applied.
func (s *scope) wantedPool(entry *conversion.PoolEntry) (*poolupdate.Pool, error) {
	at := slices.IndexFunc(s.stored.Pools, func(p ledger.Pool) bool { return p.Name == entry.Name })
	held := &s.stored.Pools[at]
	pool := &poolupdate.Pool{UID: held.UID}
	var err, targetsErr, emptyErr error
	pool.Entry, err = entryHash(entry)
	pool.Targets, targetsErr = targetsHash(entry)
	pool.Empty, emptyErr = s.emptyServers(held, entry)
	if listing := s.newestListing(); listing != nil {
		pool.Deleting = listing.In(held.ID).Deleting()
		if listing.In(held.ID).Total == 0 {
			pool.NoZonesSince = listing.Began
			if len(pool.Empty) > 0 && s.stored.RestartEnded != nil {
				s.awaitListing(s.stored.RestartEnded.Time)
			}
		}
	}
	return pool, errors.Join(err, targetsErr, emptyErr)
}

// newestListing is the last listing, if no later attempt has failed. An older one does not say which zones are being deleted.
func (s *scope) newestListing() *zones.Listing {
	if s.zones.Failure != nil {
		return nil
	}
	return s.zones.Fresh(s.now)
}

// emptyServers are the servers that wait to be filled: they run on a claim, or with a configuration, that no pool update has
// put zones on.
func (s *scope) emptyServers(held *ledger.Pool, entry *conversion.PoolEntry) ([]ledger.Fill, error) {
	facts, _ := s.facts.Pool(held.UID)
	var empty []ledger.Fill
	for _, server := range held.Servers {
		if !server.Listed() || server.Ordinal >= held.Accepted.BINDReplicas || !facts.Servers[server.Ordinal].Ready {
			continue
		}
		token, err := s.fillTokenOf(held, server, entry)
		if err != nil {
			return nil, err
		}
		if token != "" && token != server.Filled {
			empty = append(empty, ledger.Fill{Ordinal: server.Ordinal, Token: token})
		}
	}
	return empty, nil
}

// fillTokenOf is what Server.Filled is once a server has been filled as it is now; empty while its claim is not known, or is to go.
func (s *scope) fillTokenOf(held *ledger.Pool, server ledger.Server, entry *conversion.PoolEntry) (string, error) {
	claim := s.claimOf(held.UID, builders.PodName(builders.StatefulSetName(s.stored.Mode, held.Index), server.Ordinal))
	target := slices.IndexFunc(entry.Targets, func(t conversion.Target) bool { return t.DNS.Host == server.Address })
	if claim == "" || claim == server.Rebuilding || target < 0 {
		return "", nil
	}
	return fillToken(claim, &entry.Targets[target])
}

// markProgrammed says of each pool whether Designate knows it, for what is let go next. When the pass could not find out, it
// does not.
func (s *scope) markProgrammed() {
	for i := range s.facts.Pools {
		pool := &s.facts.Pools[i]
		wanted := s.programming.pool(pool.UID)
		pool.Programmed = s.programming.err == nil && (wanted == nil || poolupdate.Programmed(&s.stored.Ledger, wanted))
	}
}

// pool is a pool as it is to be applied; nil when pools.yaml does not hold it.
func (p *programming) pool(uid types.UID) *poolupdate.Pool {
	for i := range p.facts.Pools {
		if p.facts.Pools[i].UID == uid {
			return &p.facts.Pools[i]
		}
	}
	return nil
}

// programmedCondition is the condition Programmed of a pool.
func (s *scope) programmedCondition(uid types.UID) metav1.Condition {
	if !s.applies() {
		return metav1.Condition{
			Type: v1alpha1.ConditionProgrammed, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonAppliedByAdministrator,
			Message: "People apply pools.yaml to Designate (spec.designate.apply of the DesignateBackend is External).",
		}
	}
	condition := poolupdate.Condition(&s.stored.Ledger, s.programming.pool(uid), s.programming.progress)
	if err := s.programming.err; err != nil && condition.Status != metav1.ConditionTrue {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionUnknown, v1alpha1.ReasonStateUnknown, err.Error()
	}
	return condition
}

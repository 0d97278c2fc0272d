package poolupdate

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

// Next decides what is to be done next, and returns the ledger that says so. While a run goes on, that is nothing.
func Next(old *ledger.Ledger, facts Facts) (*ledger.Ledger, Step) {
	next := old.DeepCopy()
	for i := range facts.Pools {
		if entry := next.Pool(facts.Pools[i].UID); entry != nil && entry.Applied == nil {
			entry.Applied = &ledger.Applied{}
		}
	}
	if next.Run != nil {
		return next, Step{}
	}
	p := planner{ledger: next, facts: facts}
	p.dropFilled()
	p.fillWhatHasNoZones()
	p.chooseRun()
	if p.step.Run == nil && !p.settling {
		// Else one restart will do for those pools too.
		p.chooseRestart()
	}
	return next, p.step
}

// planner collects a step.
type planner struct {
	ledger *ledger.Ledger
	facts  Facts
	step   Step
	// settling says that pools are about to be applied.
	settling bool
}

// lookAgain asks for another look at a time.
func (p *planner) lookAgain(at time.Time) {
	wait := max(at.Sub(p.facts.Now), time.Millisecond)
	if p.step.Wait == 0 || wait < p.step.Wait {
		p.step.Wait = wait
	}
}

// dropFilled leaves out the servers that the ledger says have been filled since the facts were gathered.
func (p *planner) dropFilled() {
	p.facts.Pools = slices.Clone(p.facts.Pools)
	for i := range p.facts.Pools {
		pool := &p.facts.Pools[i]
		entry := p.ledger.Pool(pool.UID)
		pool.Empty = slices.DeleteFunc(slices.Clone(pool.Empty), func(f ledger.Fill) bool {
			if entry == nil {
				return true
			}
			server := entry.Server(f.Ordinal)
			return server == nil || server.Filled == f.Token
		})
	}
}

// fillWhatHasNoZones spares the second run where it would put no zone anywhere: workers that know a server put later ones
// there by themselves. The listing must be younger than the restart, for a zone may have been made before.
func (p *planner) fillWhatHasNoZones() {
	for i := range p.facts.Pools {
		pool := &p.facts.Pools[i]
		entry := p.ledger.Pool(pool.UID)
		if entry == nil || !current(entry, pool) || p.ledger.RestartEnded == nil || !pool.NoZonesSince.After(p.ledger.RestartEnded.Time) {
			continue
		}
		fill(entry, pool.Empty, p.ledger.RestartEnded.Time)
		pool.Empty = nil
	}
}

// chooseRun puts the pools together that are to be applied now. One that failed is applied alone, so that it keeps no
// other from being applied.
func (p *planner) chooseRun() {
	var together, alone []*Pool
	for i := range p.facts.Pools {
		pool := &p.facts.Pools[i]
		entry := p.ledger.Pool(pool.UID)
		switch {
		case !p.waits(entry, pool):
		case entry.Applied.Failures == 0:
			together = append(together, pool)
		case p.mayRetry(entry, pool):
			alone = append(alone, pool)
		default:
			p.lookAgain(entry.Applied.RetryAt.Time)
		}
	}
	settledAt := p.settledAt(together)
	switch {
	case len(together) > 0 && !p.facts.Now.Before(settledAt):
		p.begin(together)
	case len(alone) > 0:
		p.begin(alone[:1])
	case len(together) > 0:
		p.settling = true
		p.lookAgain(settledAt)
	}
}

// waits says that a pool waits to be applied, and that nothing is in the way of that.
func (p *planner) waits(entry *ledger.Pool, pool *Pool) bool {
	return entry != nil && !entry.Removing() && needsRun(entry, pool) && pool.Obstacle == nil && !p.held(entry, pool)
}

// settledAt is when pools have been as they are for long enough, or have not come to rest for too long.
func (p *planner) settledAt(pools []*Pool) time.Time {
	var oldest, newest time.Time
	for _, pool := range pools {
		if oldest.IsZero() || pool.Since.Before(oldest) {
			oldest = pool.Since
		}
		if pool.Since.After(newest) {
			newest = pool.Since
		}
	}
	settled, enough := newest.Add(p.facts.Settle), oldest.Add(patience*p.facts.Settle)
	if enough.Before(settled) {
		return enough
	}
	return settled
}

// held says that zones of a pool are being deleted, which a run would undo, and notes since when that keeps it waiting.
func (p *planner) held(entry *ledger.Pool, pool *Pool) bool {
	applied := entry.Applied
	if pool.Deleting == 0 {
		applied.HeldSince = nil
		return false
	}
	if applied.HeldSince == nil {
		applied.HeldSince = ledger.At(p.facts.Now)
	}
	until := applied.HeldSince.Add(HeldFor)
	if p.facts.Now.Before(until) {
		p.lookAgain(until)
		return true
	}
	return false
}

// mayRetry says that the time for another try has come, or that it would be one of something else.
func (p *planner) mayRetry(entry *ledger.Pool, pool *Pool) bool {
	applied := entry.Applied
	return applied.RetryAt == nil || !p.facts.Now.Before(applied.RetryAt.Time) || applied.Failed != pool.Entry
}

// begin is a run with some pools.
func (p *planner) begin(pools []*Pool) {
	p.ledger.LastRun++
	run := &ledger.Run{Number: p.ledger.LastRun}
	for _, pool := range pools {
		entry := p.ledger.Pool(pool.UID)
		in := ledger.RunPool{UID: pool.UID, Entry: pool.Entry, Targets: pool.Targets}
		// Only workers that know a server fill it.
		if entry.Applied.Workers == pool.Targets {
			in.Fills = slices.Clone(pool.Empty)
		}
		if pool.Deleting > 0 {
			p.step.Undone = append(p.step.Undone, pool.UID)
		}
		entry.Applied.HeldSince = nil
		run.Pools = append(run.Pools, in)
	}
	p.ledger.Run, p.step.Run = run, run
}

// chooseRestart has the workers restarted when they do not know the servers that Designate knows, unless that is under way.
func (p *planner) chooseRestart() {
	needed := false
	for i := range p.ledger.Pools {
		applied := p.ledger.Pools[i].Applied
		needed = needed || (applied != nil && applied.Workers != applied.Targets && applied.Restarting != applied.Targets)
	}
	if !needed {
		return
	}
	p.ledger.Restart, p.ledger.RestartBegan = p.ledger.LastRun, ledger.At(p.facts.Now)
	for i := range p.ledger.Pools {
		if applied := p.ledger.Pools[i].Applied; applied != nil {
			applied.Restarting = applied.Targets
		}
	}
	p.step.Restart = true
}

// needsRun says that Designate does not know a pool as it is, or that a server waits to be filled by workers that know it. Where
// the last listing found no zone, the next one says whether there is anything to fill it with.
func needsRun(entry *ledger.Pool, pool *Pool) bool {
	return entry.Applied.Entry != pool.Entry || (current(entry, pool) && len(pool.Empty) > 0 && pool.NoZonesSince.IsZero())
}

// current says that Designate and its workers know a pool as it is.
func current(entry *ledger.Pool, pool *Pool) bool {
	return entry.Applied != nil && entry.Applied.Entry == pool.Entry && entry.Applied.Workers == pool.Targets
}

func fill(entry *ledger.Pool, fills []ledger.Fill, when time.Time) {
	for _, filled := range fills {
		if server := entry.Server(filled.Ordinal); server != nil {
			server.Filled, server.FilledAt = filled.Token, ledger.At(when)
		}
	}
}

// Ended is the ledger after the run that was going on has ended. A server that it was to fill and that is not ready now may have
// missed it, and has to be filled again.
func Ended(old *ledger.Ledger, outcome Outcome, facts Facts) *ledger.Ledger {
	next := old.DeepCopy()
	run := next.Run
	next.Run = nil
	for i := range run.Pools {
		in := &run.Pools[i]
		entry := next.Pool(in.UID)
		switch {
		case entry == nil || entry.Applied == nil:
		case outcome.Succeeded:
			in.Fills = slices.DeleteFunc(in.Fills, func(f ledger.Fill) bool { return !facts.ready(in.UID, f) })
			succeed(entry, in, facts.Now)
		default:
			fail(entry, in, outcome.Failure, len(run.Pools) == 1, facts.Now)
		}
	}
	if outcome.Succeeded {
		// What kept others from being applied may have passed as well.
		for i := range next.Pools {
			if applied := next.Pools[i].Applied; applied != nil {
				applied.RetryAt = nil
			}
		}
	}
	return next
}

// ready says that a server is ready and as empty as when a run began that was to fill it.
func (f *Facts) ready(pool types.UID, filled ledger.Fill) bool {
	for i := range f.Pools {
		if f.Pools[i].UID == pool {
			return slices.Contains(f.Pools[i].Empty, filled)
		}
	}
	return false
}

func succeed(entry *ledger.Pool, in *ledger.RunPool, now time.Time) {
	applied := entry.Applied
	applied.Entry, applied.Targets = in.Entry, in.Targets
	applied.Failures, applied.Failed, applied.Failure, applied.RetryAt = 0, "", "", nil
	fill(entry, in.Fills, now)
}

// fail notes that a run failed. Of several pools each is tried alone at once: most likely, only one of them is at fault.
func fail(entry *ledger.Pool, in *ledger.RunPool, failure string, alone bool, now time.Time) {
	applied := entry.Applied
	applied.Failures++
	applied.Failed, applied.Failure, applied.RetryAt = in.Entry, failure, nil
	if alone {
		wait := firstRetry
		for range applied.Failures - 1 {
			if wait *= 2; wait >= longestRetry {
				wait = longestRetry
				break
			}
		}
		applied.RetryAt = ledger.At(now.Add(wait))
	}
}

// Abandoned is the ledger without a run that was to begin and cannot any more. It counts as none.
func Abandoned(old *ledger.Ledger) *ledger.Ledger {
	next := old.DeepCopy()
	next.Run = nil
	return next
}

// Restarted is the ledger after every worker has been started since Restart.
func Restarted(old *ledger.Ledger, now time.Time) *ledger.Ledger {
	next := old.DeepCopy()
	next.Restart, next.RestartBegan, next.RestartEnded = 0, nil, ledger.At(now)
	for i := range next.Pools {
		if applied := next.Pools[i].Applied; applied != nil {
			applied.Workers, applied.Restarting = applied.Restarting, ""
		}
	}
	return next
}

// Forgotten is the ledger of a namespace where people apply pools.yaml: nothing is known of what Designate has.
func Forgotten(old *ledger.Ledger) *ledger.Ledger {
	next := old.DeepCopy()
	next.Run, next.Restart, next.RestartBegan, next.RestartEnded = nil, 0, nil, nil
	for i := range next.Pools {
		pool := &next.Pools[i]
		pool.Applied = nil
		for j := range pool.Servers {
			pool.Servers[j].Filled, pool.Servers[j].FilledAt = "", nil
		}
	}
	return next
}

// Programmed says that Designate and its workers know a pool as it is.
func Programmed(l *ledger.Ledger, pool *Pool) bool {
	entry := l.Pool(pool.UID)
	return entry != nil && current(entry, pool)
}

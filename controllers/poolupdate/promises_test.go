package poolupdate

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// TestWhateverHappensTheLedgerTellsTheTruthAndAllIsAppliedInTheEnd lets things happen at random. What the ledger says of
// Designate, its workers and the servers must be so after each, and once nothing happens any more, everything must be applied.
func TestWhateverHappensTheLedgerTellsTheTruthAndAllIsAppliedInTheEnd(t *testing.T) {
	for seed := range uint64(400) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld()
			random := rand.New(rand.NewPCG(seed, 1))
			w.add("default", 1)
			w.add("gold", 2)
			for range 80 {
				what := w.happen(random)
				w.check(func(format string, arguments ...any) { t.Fatalf(what+": "+format, arguments...) })
			}
			for _, p := range w.pools {
				p.obstacle, p.deleting = nil, 0
				for _, s := range p.servers {
					s.ready = true
				}
			}
			w.rest()
			w.check(t.Fatalf)
			runs := w.runs
			for i, p := range w.pools {
				pool := w.facts().Pools[i]
				if !Programmed(w.ledger, &pool) || len(pool.Empty) > 0 || w.knows[p.uid()] != p.entry() || w.serving[p.uid()] != p.targets() {
					t.Errorf("%s is not applied in the end:\n%s", p.name, w)
				}
			}
			w.now = w.now.Add(24 * time.Hour)
			w.rest()
			if w.runs != runs {
				t.Errorf("%d pool updates for nothing", w.runs-runs)
			}
		})
	}
}

// happen lets one thing happen.
func (w *world) happen(random *rand.Rand) string {
	p := w.pools[random.IntN(len(w.pools))]
	switch kind := random.IntN(24); {
	case kind == 0 && len(w.pools) < 4:
		w.add(fmt.Sprintf("pool-%d", len(w.pools)), 1+random.IntN(2))
		return "a pool is added"
	case kind == 1:
		p.version, p.since = p.version+1, w.now
		return p.name + " changes"
	case kind == 2:
		w.scale(p.name, 1+random.IntN(4))
		return p.name + " is scaled"
	case kind == 3:
		before := p.zones
		p.zones = random.IntN(3)
		for i, s := range p.servers {
			// Workers put new zones on the servers that they know, and on no other.
			s.full = (s.full || before == 0) && w.served(p, i)
		}
		return p.name + " has other zones"
	case kind == 4:
		p.deleting = random.IntN(2)
		return p.name + " has zones that are being deleted"
	case kind == 5:
		p.obstacle = nil
		if random.IntN(2) == 0 {
			p.obstacle = &Obstacle{v1alpha1.ReasonKeysNotMounted, "Keys."}
		}
		return p.name + " has an obstacle or none"
	case kind == 6:
		p.servers[0] = w.emptyServer()
		p.since = w.now
		return "a server of " + p.name + " loses its claim"
	case kind == 7:
		s := p.servers[random.IntN(len(p.servers))]
		s.ready = !s.ready
		return "a server of " + p.name + " is ready or not"
	case kind < 11 && w.ledger.Run != nil:
		w.succeed()
		return "the Job succeeds"
	case kind < 13 && w.ledger.Run != nil:
		w.fail()
		return "the Job fails"
	case kind < 15 && w.ledger.Restart != 0:
		w.restarted()
		return "the workers have restarted"
	case kind < 19:
		w.now = w.now.Add(time.Duration(random.IntN(40)) * time.Second)
		return "time passes"
	default:
		w.pass()
		return "a pass"
	}
}

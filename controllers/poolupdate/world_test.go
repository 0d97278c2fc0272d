package poolupdate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

const settle = 10 * time.Second

var start = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// world is a Designate in miniature, with its workers and the servers that they put zones on. Everything in it happens only when
// a test says so.
type world struct {
	now    time.Time
	ledger *ledger.Ledger
	pools  []*pool
	// runs counts those that were begun; undone are the pools of all of them whose deletions may have been undone.
	runs   int
	undone []string
	step   Step

	// claims counts those that were ever made.
	claims int

	// knows and targets are the settings and the servers of each pool that Designate knows, serving the servers that its workers
	// took over when they were started.
	knows   map[types.UID]string
	targets map[types.UID]string
	serving map[types.UID]string
}

// pool is a pool as it is to be, and its servers as they are.
type pool struct {
	name     string
	version  int
	obstacle *Obstacle
	zones    int
	deleting int
	since    time.Time
	servers  []*server
}

// server is a BIND. Its claim is another one whenever it is empty; full says that workers have put all zones there.
type server struct {
	claim string
	ready bool
	full  bool
}

func newWorld() *world {
	return &world{
		now: start, ledger: &ledger.Ledger{Version: 1},
		knows: map[types.UID]string{}, targets: map[types.UID]string{}, serving: map[types.UID]string{},
	}
}

func (p *pool) uid() types.UID { return types.UID("uid-" + p.name) }

func (p *pool) targets() string { return fmt.Sprintf("%d servers", len(p.servers)) }

func (p *pool) entry() string { return fmt.Sprintf("version %d with %s", p.version, p.targets()) }

func (w *world) pool(name string) *pool {
	for _, p := range w.pools {
		if p.name == name {
			return p
		}
	}
	panic("the test has no pool " + name)
}

// add adds a pool with servers that are ready and empty.
func (w *world) add(name string, servers int) {
	p := &pool{name: name, version: 1, since: w.now}
	w.pools = append(w.pools, p)
	w.ledger.Pools = append(w.ledger.Pools, ledger.Pool{UID: p.uid(), Object: name, Name: name, Index: int32(len(w.pools) - 1)})
	w.scale(name, servers)
}

func (w *world) scale(name string, servers int) {
	p, entry := w.pool(name), w.ledger.Pool(w.pool(name).uid())
	for len(p.servers) < servers {
		p.servers = append(p.servers, w.emptyServer())
		entry.Servers = append(entry.Servers, ledger.Server{Ordinal: int32(len(p.servers) - 1), Address: "listed"})
	}
	p.servers, entry.Servers = p.servers[:servers], entry.Servers[:servers]
	p.since = w.now
}

// emptyServer is a server on a new claim.
func (w *world) emptyServer() *server {
	w.claims++
	return &server{claim: fmt.Sprintf("claim-%d", w.claims), ready: true}
}

func (w *world) facts() Facts {
	facts := Facts{Now: w.now, Settle: settle}
	for _, p := range w.pools {
		pool := Pool{UID: p.uid(), Entry: p.entry(), Targets: p.targets(), Since: p.since, Obstacle: p.obstacle, Deleting: p.deleting}
		if p.zones == 0 {
			pool.NoZonesSince = w.now
		}
		entry := w.ledger.Pool(p.uid())
		for i, s := range p.servers {
			if s.ready && entry.Servers[i].Filled != s.claim {
				pool.Empty = append(pool.Empty, ledger.Fill{Ordinal: int32(i), Token: s.claim})
			}
		}
		facts.Pools = append(facts.Pools, pool)
	}
	return facts
}

// pass is one pass of the aggregator in which nothing has ended.
func (w *world) pass() { w.next(w.facts()) }

func (w *world) next(facts Facts) {
	w.ledger, w.step = Next(w.ledger, facts)
	if w.step.Run != nil {
		w.runs++
		for _, uid := range w.step.Undone {
			w.undone = append(w.undone, string(uid))
		}
	}
}

// succeed lets the Job of the run succeed: Designate knows its pools, and workers put all zones on the servers that they know.
func (w *world) succeed() {
	for _, in := range w.ledger.Run.Pools {
		w.knows[in.UID], w.targets[in.UID] = in.Entry, in.Targets
		for _, p := range w.pools {
			if p.uid() == in.UID {
				for i, s := range p.servers {
					s.full = s.full || (s.ready && w.served(p, i))
				}
			}
		}
	}
	w.end(Outcome{Succeeded: true})
}

// end is the pass that sees how the run has ended: it goes on with the facts that it has gathered before.
func (w *world) end(outcome Outcome) {
	facts := w.facts()
	w.ledger = Ended(w.ledger, outcome, facts)
	w.next(facts)
}

// served says that the workers know a server.
func (w *world) served(p *pool, ordinal int) bool {
	var servers int
	_, err := fmt.Sscanf(w.serving[p.uid()], "%d servers", &servers)
	return err == nil && ordinal < servers
}

func (w *world) fail() { w.end(Outcome{Failure: "exit code 1: no."}) }

// restarted lets the restart of the workers end. They were all started as soon as it began.
func (w *world) restarted() {
	for _, entry := range w.ledger.Pools {
		if entry.Applied != nil {
			w.serving[entry.UID] = entry.Applied.Restarting
		}
	}
	facts := w.facts()
	w.ledger = Restarted(w.ledger, w.now)
	w.next(facts)
}

func (w *world) after(d time.Duration) func() { return func() { w.now = w.now.Add(d) } }

// rest lets everything go on that goes on by itself, with every run succeeding, until nothing is left to do.
func (w *world) rest() {
	for range 40 {
		w.pass()
		switch {
		case w.ledger.Run != nil:
			w.succeed()
		case w.ledger.Restart != 0:
			w.restarted()
		case w.step.Wait > 0:
			w.now = w.now.Add(w.step.Wait)
		default:
			return
		}
		w.now = w.now.Add(2 * time.Second)
	}
	panic("it never comes to rest")
}

// String says what goes on, and what is known of each pool.
func (w *world) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "  at %s, runs so far: %d", w.now.Sub(start), w.runs)
	if w.ledger.Run != nil {
		var names []string
		for _, in := range w.ledger.Run.Pools {
			name := w.ledger.Pool(in.UID).Name
			if len(in.Fills) > 0 {
				name += fmt.Sprintf(" (fills %d)", len(in.Fills))
			}
			names = append(names, name)
		}
		fmt.Fprintf(&text, ", run %d goes on: %s", w.ledger.Run.Number, strings.Join(names, ", "))
	}
	if w.ledger.Restart != 0 {
		fmt.Fprintf(&text, ", workers restart for run %d", w.ledger.Restart)
	}
	if w.step.Wait > 0 {
		fmt.Fprintf(&text, ", looks again in %s", w.step.Wait)
	}
	if len(w.undone) > 0 {
		fmt.Fprintf(&text, ", deletions may be undone: %s", strings.Join(w.undone, ", "))
	}
	text.WriteString("\n")
	facts := w.facts()
	for i, p := range w.pools {
		condition := Condition(w.ledger, &facts.Pools[i], Progress{})
		fmt.Fprintf(&text, "  %s: %s %s", p.name, condition.Status, condition.Reason)
		for _, s := range w.ledger.Pool(p.uid()).Servers {
			state := "empty"
			if s.Filled != "" {
				state = "filled"
			}
			fmt.Fprintf(&text, ", %d %s", s.Ordinal, state)
		}
		text.WriteString("\n")
	}
	return text.String()
}

// check holds the ledger against what is so.
func (w *world) check(fail func(format string, arguments ...any)) {
	for _, p := range w.pools {
		entry := w.ledger.Pool(p.uid())
		if applied := entry.Applied; applied != nil && applied.Entry != "" {
			if applied.Entry != w.knows[p.uid()] || applied.Targets != w.targets[p.uid()] {
				fail("%s: the ledger says that Designate knows %+v, and it knows %q", p.name, applied, w.knows[p.uid()])
			}
			if applied.Workers != "" && applied.Workers != w.serving[p.uid()] {
				fail("%s: the ledger says that the workers know %q, and they know %q", p.name, applied.Workers, w.serving[p.uid()])
			}
		}
		for i, s := range p.servers {
			if entry.Servers[i].Filled == s.claim && !s.full && p.zones > 0 {
				fail("%s: server %d counts as filled and is empty", p.name, i)
			}
		}
	}
	if w.ledger.Run != nil && slices.ContainsFunc(w.ledger.Run.Pools, func(in ledger.RunPool) bool {
		return w.ledger.Pool(in.UID).Removing()
	}) {
		fail("a run has a pool that is being removed")
	}
}

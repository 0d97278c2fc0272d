package ledger

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files anew")

// story is a world that writes down what happens in it.
type story struct {
	*world
	log strings.Builder
}

// then lets something happen and the controllers come to rest, and writes down what came of it.
func (s *story) then(what string, happen ...func()) {
	s.step(what, append(happen, s.rest)...)
}

// step lets something happen, and nothing else, and writes down what came of it.
func (s *story) step(what string, happen ...func()) {
	for _, h := range happen {
		h()
	}
	s.log.WriteString("* " + what + "\n" + s.String())
}

func (s *story) appears(name string, replicas int32) func() { return func() { s.add(name, replicas) } }

func (s *story) scaled(name string, replicas int32) func() {
	return func() { s.pool(name).spec.BINDReplicas = replicas }
}

func (s *story) ready(name string, ordinals ...int32) func() {
	return func() {
		for _, ordinal := range ordinals {
			s.pool(name).pods[ordinal] = true
		}
	}
}

func (s *story) unready(name string, ordinal int32) func() {
	return func() { s.pool(name).pods[ordinal] = false }
}

func (s *story) removal(name string, phase RemovalPhase) func() {
	return func() { s.pool(name).removal = phase }
}

func (s *story) withdrawn(name string) func() { return s.removal(name, Withdrawing) }

func (s *story) planned() { s.plan(s.facts()) }

// written writes pools.yaml and settles, which is what follows a plan.
func (s *story) written() {
	facts := s.facts()
	s.write(facts)
	s.settle(facts)
}

func (s *story) deployed(name string) func() { return func() { s.deploy(s.pool(name)) } }

// twoPools is the beginning of most stories.
func (s *story) twoPools() {
	s.then("pools default, with 1 replica, and edge, with 2, appear", s.appears("default", 1), s.appears("edge", 2))
	s.then("all servers become ready", s.ready("default", 0), s.ready("edge", 0, 1))
}

var stories = map[string]func(*story){
	"Designate, which has a pool under another id, cannot be asked at first": func(s *story) {
		s.then("pools default and edge, with 1 replica each, appear, and Designate is silent",
			func() { s.silent = true; s.ids["edge"] = "id-of-old" }, s.appears("default", 1), s.appears("edge", 1))
		s.then("all servers become ready", s.ready("default", 0), s.ready("edge", 0))
		s.then("Designate answers that it has a pool edge", func() { s.silent = false })
		s.then("Designate is silent again, and edge is scaled to 2", func() { s.silent = true }, s.scaled("edge", 2))
		s.then("server 1 of edge becomes ready", s.ready("edge", 1))
		s.then("Designate says that it has edge under a third id", func() { s.silent = false; s.ids["edge"] = "id-of-another" })
	},
	"pools are added in order, and a later one that sorts first moves nothing": func(s *story) {
		s.then("pools default, with 1 replica, and edge, with 2, appear", s.appears("default", 1), s.appears("edge", 2))
		s.then("the server of default becomes ready", s.ready("default", 0))
		s.then("server 1 of edge becomes ready before server 0", s.ready("edge", 1))
		s.then("server 0 of edge becomes ready", s.ready("edge", 0))
		s.then("pool a, which sorts first, appears with 1 replica", s.appears("a", 1))
		s.then("the server of a becomes ready", s.ready("a", 0))
		s.then("server 0 of edge is not ready any more", s.unready("edge", 0))
	},
	"a pool is scaled up and down step by step": func(s *story) {
		s.twoPools()
		s.then("edge is scaled to 3", s.scaled("edge", 3))
		s.then("server 2 of edge becomes ready", s.ready("edge", 2))
		s.step("edge is scaled to 1, and the aggregator plans", s.scaled("edge", 1), s.planned)
		s.step("the aggregator writes pools.yaml while clients can still reach all", s.written)
		s.step("the pool controller closes servers 1 and 2 to clients", s.deployed("edge"))
		s.step("the aggregator writes pools.yaml without them", s.planned, s.written)
		s.step("the pool controller shrinks the StatefulSet, and pods 1 and 2 still run", s.deployed("edge"), s.planned, s.written)
		s.then("pods 1 and 2 stop", func() { s.schedule(s.pool("edge")) })
		s.then("pool late takes the keys that are free", s.appears("late", 3))
	},
	"a pool is scaled down while the server that stays has never been ready": func(s *story) {
		s.then("pool default appears with 3 replicas", s.appears("default", 3))
		s.then("servers 1 and 2 become ready", s.ready("default", 1, 2))
		s.then("default is scaled to 1", s.scaled("default", 1))
		s.then("server 0 becomes ready", s.ready("default", 0))
	},
	"a pool is scaled to 0 and back": func(s *story) {
		s.twoPools()
		s.then("edge is scaled to 0", s.scaled("edge", 0))
		s.then("edge is scaled to 2", s.scaled("edge", 2))
		s.then("all servers of edge become ready", s.ready("edge", 0, 1))
	},
	"servers join once they have all zones": func(s *story) {
		s.then("pools default and edge, with 1 replica each, appear, and servers lack zones at first",
			func() { s.lacking = true }, s.appears("default", 1), s.appears("edge", 1))
		s.then("all servers become ready", s.ready("default", 0), s.ready("edge", 0))
		s.then("they have all zones", func() { s.lacking = false })
		s.then("edge is scaled to 2, and server 1 is ready and lacks zones", func() { s.lacking = true }, s.scaled("edge", 2), s.rest, s.ready("edge", 1))
		s.then("server 0, which has joined, is not ready", s.unready("edge", 0))
		s.then("server 1 has all zones", func() { s.lacking = false })
	},
	"servers stop once Designate does not name them": func(s *story) {
		s.twoPools()
		s.then("Designate is not told of changes, and edge is scaled to 1", func() { s.behind = true }, s.scaled("edge", 1))
		s.then("Designate is told", func() { s.behind = false })
		s.then("Designate is not told of changes, and edge is scaled to 0: it keeps its last servers in any case",
			func() { s.behind = true }, s.scaled("edge", 0))
	},
	"a pool begins with 0 servers": func(s *story) {
		s.then("pools default, with 1 replica, and empty, with 0, appear", s.appears("default", 1), s.appears("empty", 0))
		s.then("empty is scaled to 1", s.scaled("empty", 1))
		s.then("the server of empty becomes ready", s.ready("empty", 0))
	},
	"a pool is scaled up again before the server that leaves has stopped": func(s *story) {
		s.twoPools()
		s.step("edge is scaled to 1, and server 1 is closed", s.scaled("edge", 1), s.planned, s.written, s.deployed("edge"))
		s.step("pools.yaml is written without server 1, whose pod still runs", s.planned, s.written)
		s.step("another pool takes keys meanwhile", s.appears("late", 1), s.planned, s.written)
		s.then("edge is scaled to 2: server 1 keeps its key", s.scaled("edge", 2))
	},
	"a server is rebuilt from empty": func(s *story) {
		s.twoPools()
		s.step("server 1 of edge is to be rebuilt", func() { s.rebuild(s.pool("edge"), 1) })
		s.step("with its claim it does not join", s.aggregate)
		s.step("its client Service closes, and it loses claim and pod", s.deployed("edge"))
		s.then("it has a claim and a pod again")
		s.then("it is ready, and lacks zones", func() { s.lacking = true }, s.ready("edge", 1))
		s.then("it has them all", func() { s.lacking = false })
	},
	"a pool is withdrawn": func(s *story) {
		s.twoPools()
		s.step("the removal of edge may go on", s.withdrawn("edge"), s.planned)
		s.step("pools.yaml is written without edge", s.written)
		s.then("its servers stop", func() {})
		s.then("pool late takes its index and keys, which are free", s.appears("late", 1))
	},
	"a pool in the middle is forced out, and its numbers are free only once its entry is gone": func(s *story) {
		s.then("three pools appear", s.appears("default", 1), s.appears("edge", 1), s.appears("far", 1))
		s.then("all servers become ready", s.ready("default", 0), s.ready("edge", 0), s.ready("far", 0))
		s.step("edge is forced out, and its servers still run", s.withdrawn("edge"), s.aggregate)
		s.step("pool early appears too early for the numbers of edge", s.appears("early", 1), s.aggregate)
		s.then("edge is gone", func() {})
		s.then("pool late takes the numbers of edge", s.appears("late", 1))
	},
	"a pool whose name is still held by one that leaves has to wait": func(s *story) {
		s.twoPools()
		s.step("edge is forced out and made again under its name", s.withdrawn("edge"), s.aggregate, s.appears("edge", 1), s.aggregate)
		s.then("the old edge is gone", func() {})
	},
	"the mode flips while pools.yaml names nothing": func(s *story) {
		s.wanted = v1alpha1.SinglePool
		s.then("pool default appears", s.appears("default", 1))
		s.then("MultiPool mode is asked for, and pool edge appears", func() { s.wanted = v1alpha1.MultiPool }, s.appears("edge", 1))
		s.then("all servers become ready", s.ready("default", 0), s.ready("edge", 0))
	},
	"the ledger is lost and planned anew from what exists": func(s *story) {
		s.then("pools default and gone appear", s.appears("default", 1), s.appears("gone", 1))
		s.then("pool edge appears with 2 replicas", s.appears("edge", 2))
		s.then("servers become ready, server 1 of edge does not",
			s.ready("default", 0), s.ready("gone", 0), s.ready("edge", 0))
		s.then("gone is removed", s.withdrawn("gone"))
		s.step("the ledger is lost, and planned anew", s.lose, s.planned)
		s.then("pool late appears", s.appears("late", 1))
	},
	"the ledger is lost in the middle of a scale-down": func(s *story) {
		s.twoPools()
		s.step("edge is scaled to 1", s.scaled("edge", 1), s.planned, s.written)
		s.step("the ledger is lost while server 1 is open to clients", s.lose, s.planned, s.written)
		s.then("the scale-down ends as if nothing had happened", func() {})
	},
	"the ledger is lost together with the DesignatePool of running servers": func(s *story) {
		s.twoPools()
		s.step("the DesignatePool edge vanishes with its finalizer, and so does the ledger",
			func() { s.pool("edge").vanished = true }, s.lose, s.planned)
		s.then("pool late appears: the numbers of edge are taken", s.appears("late", 1))
	},
	"the ledger is lost while a pool is scaled to 0": func(s *story) {
		s.twoPools()
		s.then("edge is scaled to 0", s.scaled("edge", 0))
		s.step("the ledger is lost, and planned anew", s.lose, s.planned)
		s.then("pools.yaml still names its servers", func() {})
	},
	"the address of a server changes": func(s *story) {
		s.twoPools()
		s.then("server 1 of edge gets another address", func() { s.pool("edge").services[1].address = "10.9.9.9" })
		s.then("the load balancer of server 1 has no address for a while", func() { s.pool("edge").services[1].address = "" })
	},
	"the Services of a server are missing": func(s *story) {
		s.twoPools()
		s.step("those of server 1 of edge are deleted", func() { delete(s.pool("edge").services, 1) }, s.aggregate)
		s.then("the pool controller makes them again", func() {})
	},
	"an invalid spec leaves the accepted one in force": func(s *story) {
		s.twoPools()
		s.then("edge is scaled to 5 with a spec that is invalid", s.scaled("edge", 5), func() { s.pool("edge").invalid = true })
		s.then("the spec is mended", func() { s.pool("edge").invalid = false })
	},
}

func TestStories(t *testing.T) {
	all := maps.Clone(stories)
	maps.Copy(all, migrations)
	for name, tell := range all {
		t.Run(name, func(t *testing.T) {
			s := &story{world: newWorld(v1alpha1.MultiPool)}
			tell(s)
			golden := filepath.Join("testdata", strings.ReplaceAll(strings.ReplaceAll(name, ",", ""), " ", "-")+".log")
			if *update {
				if err := os.WriteFile(golden, []byte(s.log.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), s.log.String()); diff != "" {
				t.Errorf("the story went differently (-want +got):\n%s", diff)
			}
		})
	}
}

package ledger

import "github.com/designate-pools/designate-pool-operator/api/v1alpha1"

// singlePool is a single pool in use, with a number of servers.
func (s *story) singlePool(replicas int32) {
	s.wanted = v1alpha1.SinglePool
	s.then("pool default appears", s.appears("default", replicas))
	s.then("its servers become ready", func() {
		for ordinal := range replicas {
			s.ready("default", ordinal)()
		}
	})
}

func (s *story) asked(mode v1alpha1.Mode) func() { return func() { s.wanted = mode } }

// migrations are stories of a default pool that moves from one mode to the other.
var migrations = map[string]func(*story){
	"a single pool moves to several and back, server by server": func(s *story) {
		s.singlePool(2)
		s.then("MultiPool mode is asked for, and pool edge appears", s.asked(v1alpha1.MultiPool), s.appears("edge", 1))
		s.step("server 1 of default is ready in the new mode: pools.yaml names it beside the old ones", s.ready("default", 1), s.planned, s.written)
		s.step("the pool controller leads its clients over", s.deployed("default"))
		s.step("pools.yaml is written without the old server 1", s.planned, s.written)
		s.then("server 0 is ready in the new mode, too", s.ready("default", 0))
		s.then("edge's server is ready", s.ready("edge", 0))
		s.then("SinglePool mode is asked for while edge is still there", s.asked(v1alpha1.SinglePool))
		s.then("edge is withdrawn", s.withdrawn("edge"))
		s.then("both servers are ready in the old mode again", s.ready("default", 0, 1))
	},
	"a migration is taken back half-way": func(s *story) {
		s.singlePool(2)
		s.then("MultiPool mode is asked for", s.asked(v1alpha1.MultiPool))
		s.step("server 0 is ready in the new mode, and its clients are led over", s.ready("default", 0), s.planned, s.written, s.deployed("default"))
		s.step("SinglePool mode is asked for again", s.asked(v1alpha1.SinglePool), s.planned, s.written)
		s.then("the old servers serve on, and the new ones go", func() {})
	},
	"a migration is taken back after an old server has left": func(s *story) {
		s.singlePool(2)
		s.then("MultiPool mode is asked for, and server 0 becomes ready", s.asked(v1alpha1.MultiPool), s.rest, s.ready("default", 0))
		s.then("SinglePool mode is asked for again", s.asked(v1alpha1.SinglePool))
		s.then("the old server 0 becomes ready again", s.ready("default", 0))
	},
	"Designate does not hear of anything during a migration": func(s *story) {
		s.singlePool(1)
		s.then("MultiPool mode is asked for, and the new server is ready", func() { s.behind = true }, s.asked(v1alpha1.MultiPool), s.rest, s.ready("default", 0))
		s.then("Designate is told", func() { s.behind = false })
	},
	"new servers lack zones during a migration": func(s *story) {
		s.singlePool(1)
		s.then("MultiPool mode is asked for, and the new server is ready", func() { s.lacking = true }, s.asked(v1alpha1.MultiPool), s.rest, s.ready("default", 0))
		s.then("it has all zones", func() { s.lacking = false })
	},
	"a pool with fewer servers, or more, in the new mode": func(s *story) {
		s.singlePool(3)
		s.then("MultiPool mode is asked for, with 1 server", s.asked(v1alpha1.MultiPool), s.scaled("default", 1))
		s.then("the new server is ready", s.ready("default", 0))
		s.then("SinglePool mode is asked for, with 2 servers", s.asked(v1alpha1.SinglePool), s.scaled("default", 2))
		s.then("server 1 is ready before server 0", s.ready("default", 1))
		s.then("server 0 is ready, too", s.ready("default", 0))
	},
	"a pool without servers in the new mode": func(s *story) {
		s.singlePool(2)
		s.then("MultiPool mode is asked for, with 0 servers", s.asked(v1alpha1.MultiPool), s.scaled("default", 0))
		s.then("the pool is scaled to 1", s.scaled("default", 1))
		s.then("the server is ready", s.ready("default", 0))
	},
	"the ledger is lost in the middle of a migration": func(s *story) {
		s.singlePool(2)
		s.then("MultiPool mode is asked for, and server 0 becomes ready", s.asked(v1alpha1.MultiPool), s.rest, s.ready("default", 0))
		s.step("the ledger is lost, and planned anew", s.lose, s.planned)
		s.then("the migration goes on", func() {})
		s.then("server 1 becomes ready", s.ready("default", 1))
	},
}

package poolupdate

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

var update = flag.Bool("update", false, "write the golden files anew")

// story is a world that writes down what happens in it.
type story struct {
	*world
	t   *testing.T
	log strings.Builder
}

// step lets something happen, and a pass of the aggregator, and writes down what came of it.
func (s *story) then(what string, happen ...func()) {
	s.t.Helper()
	for _, h := range append(happen, s.pass) {
		h()
		s.check(s.t.Errorf)
	}
	s.log.WriteString("* " + what + "\n" + s.String())
}

func (s *story) changed(name string) func() {
	return func() { s.pool(name).version++; s.pool(name).since = s.now }
}

// twoPools is the beginning of most stories: pools with zones that Designate knows as they are.
func (s *story) twoPools() {
	s.add("default", 1)
	s.add("gold", 2)
	s.pool("default").zones, s.pool("gold").zones = 3, 50
	s.rest()
	s.then("Designate knows default, with 1 server, and gold, with 2, and both have zones")
}

var stories = map[string]func(*story){
	"pools that are new are applied together, and a second run fills those that may have zones": func(s *story) {
		s.add("default", 1)
		s.add("gold", 2)
		s.pool("default").zones = 3
		s.then("pools default, with zones, and gold, without, have servers")
		s.then("they have settled", s.after(settle))
		s.then("the Job has succeeded", s.succeed)
		s.then("a minute later the workers have not restarted yet", s.after(time.Minute))
		s.then("the workers have restarted", s.restarted, s.after(time.Second))
		s.then("the Job has succeeded", s.succeed)
		s.then("an hour later", s.after(time.Hour))
	},
	"settings that change are one run, of that pool alone, and no restart": func(s *story) {
		s.twoPools()
		s.then("the NS records of gold change", s.changed("gold"))
		s.then("and again 6 seconds later", s.after(6*time.Second), s.changed("gold"))
		s.then("they have settled", s.after(settle))
		s.then("the Job has succeeded", s.succeed)
	},
	"a pool that never settles is applied all the same": func(s *story) {
		s.twoPools()
		s.then("gold changes", s.changed("gold"))
		s.then("so does default, which goes on changing", s.changed("default"))
		for range 8 {
			s.then("8 seconds later it changes", s.after(8*time.Second), s.changed("default"))
		}
	},
	"a server that is added is filled by workers that know it": func(s *story) {
		s.twoPools()
		s.then("gold is scaled to 3", func() { s.scale("gold", 3) })
		s.then("they have settled", s.after(settle))
		s.then("the Job has succeeded", s.succeed)
		s.then("the workers have restarted", s.restarted)
		s.then("the Job has succeeded", s.succeed)
	},
	"a server that leaves is forgotten by the workers, and nothing is filled": func(s *story) {
		s.twoPools()
		s.then("gold is scaled to 1", func() { s.scale("gold", 1) })
		s.then("they have settled", s.after(settle))
		s.then("the Job has succeeded", s.succeed)
		s.then("the workers have restarted", s.restarted)
	},
	"a server that lost its claim is filled again, without a restart": func(s *story) {
		s.twoPools()
		s.then("server 1 of gold has another claim and is not ready", func() { *s.pool("gold").servers[1] = server{claim: "another"} }, s.after(time.Second))
		s.then("it is ready", func() { s.pool("gold").servers[1].ready = true; s.pool("gold").since = s.now })
		s.then("it has settled", s.after(settle))
		s.then("the Job has succeeded", s.succeed)
	},
	"a Job that fails to fill a server says so": func(s *story) {
		s.twoPools()
		s.then("server 1 of gold has another claim", func() { *s.pool("gold").servers[1] = server{claim: "another", ready: true} }, s.after(settle))
		s.then("the Job has failed", s.fail)
		s.then("half a minute later", s.after(30*time.Second))
		s.then("the Job has succeeded", s.succeed)
	},
	"a Job that fails is tried again pool by pool, and those that work are not kept waiting": func(s *story) {
		s.twoPools()
		s.then("both pools change", s.changed("default"), s.changed("gold"), s.after(settle))
		s.then("the Job has failed", s.fail)
		s.then("that of default alone has failed too", s.fail)
		s.then("that of gold has succeeded", s.succeed)
		s.then("that of default has failed again", s.fail)
		s.then("its time has not come 5 seconds later", s.after(5*time.Second))
		s.then("it has a minute later", s.after(time.Minute))
		s.then("it has failed again, and default is put right", s.fail, s.changed("default"))
		s.then("the Job has succeeded", s.succeed)
	},
	"zones that are being deleted keep their pool waiting, but not for ever": func(s *story) {
		s.twoPools()
		s.then("gold changes while 2 of its zones are being deleted", func() { s.pool("gold").deleting = 2 }, s.changed("gold"), s.after(settle))
		s.then("default, which changes as well, does not wait", s.changed("default"), s.after(settle))
		s.then("the Job has succeeded", s.succeed)
		s.then("one zone is gone after 9 minutes", s.after(9*time.Minute), func() { s.pool("gold").deleting = 1 })
		s.then("10 minutes are over", s.after(time.Minute))
	},
	"zones that have been deleted let their pool be applied": func(s *story) {
		s.twoPools()
		s.then("gold changes while 2 of its zones are being deleted", func() { s.pool("gold").deleting = 2 }, s.changed("gold"), s.after(settle))
		s.then("they are gone", func() { s.pool("gold").deleting = 0 })
	},
	"servers that change while the workers restart take another restart": func(s *story) {
		s.twoPools()
		s.then("gold is scaled to 3, and applied", func() { s.scale("gold", 3) }, s.after(settle), s.pass, s.succeed)
		s.then("default is scaled to 2 while the workers restart", func() { s.scale("default", 2) }, s.after(settle))
		s.then("the Job has succeeded", s.succeed)
		s.then("the workers have restarted", s.restarted)
	},
	"workers that never restart keep no pool from being changed": func(s *story) {
		s.twoPools()
		s.then("gold is scaled to 3, and applied", func() { s.scale("gold", 3) }, s.after(settle), s.pass, s.succeed)
		s.then("an hour later the NS records of default change", s.after(time.Hour), s.changed("default"))
		s.then("they have settled", s.after(settle))
		s.then("the Job has succeeded", s.succeed)
	},
	"an obstacle keeps its pool waiting and no other": func(s *story) {
		s.twoPools()
		s.then("both pools change, and default must not be applied",
			func() {
				s.pool("default").obstacle = &Obstacle{v1alpha1.ReasonDefaultPoolRenamed, "It has another name."}
			},
			s.changed("default"), s.changed("gold"), s.after(settle))
		s.then("the Job has succeeded", s.succeed)
		s.then("nothing is in the way any more", func() { s.pool("default").obstacle = nil })
	},
	"a pool past the point of no return is in no run": func(s *story) {
		s.twoPools()
		s.then("gold changes, and is being removed", s.changed("gold"),
			func() { s.ledger.Pool(s.pool("gold").uid()).Removal = ledger.Withdrawing }, s.after(settle))
	},
	"people apply pools.yaml for a while": func(s *story) {
		s.twoPools()
		s.then("they do", func() {
			s.ledger = Forgotten(s.ledger)
			for _, p := range s.pools {
				p.since = s.now
			}
		})
		s.then("they do not any more, and everything is applied anew", s.after(settle))
	},
}

func TestStories(t *testing.T) {
	for name, tell := range stories {
		t.Run(name, func(t *testing.T) {
			s := &story{world: newWorld(), t: t}
			tell(s)
			path := filepath.Join("testdata", strings.NewReplacer(" ", "-", ",", "").Replace(name)+".log")
			if *update {
				if err := os.WriteFile(path, []byte(s.log.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			golden, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(golden), s.log.String()); diff != "" {
				t.Errorf("(-golden +now):\n%s", diff)
			}
		})
	}
}

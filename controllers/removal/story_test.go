package removal

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files anew")

// story is a world that writes down what happens in it.
type story struct {
	*world
	log strings.Builder
}

func (s *story) then(what string, happen ...func()) {
	for _, h := range happen {
		h()
	}
	s.log.WriteString("* " + what + "\n" + s.String())
}

// gated is the beginning of most stories: the pool is past the gate.
func (s *story) gated() {
	s.then("the pool leaves the ConfigMap", s.wish, s.pass)
	s.then("a listing finds no zone", s.list, s.pass)
}

var stories = map[string]func(*story){
	"a pool without zones goes": func(s *story) {
		s.gated()
		s.then("Designate deletes the pool", s.delete, s.pass)
		s.then("a listing that began too soon tells nothing", s.list, s.pass)
		s.then("a later one finds no zone", s.later(DefaultRPCTimeout), s.list, s.pass)
	},
	"a listing from before the wish lets nothing pass": func(s *story) {
		s.then("a listing finds no zone, and a zone is made", s.list, func() { s.beginZone("a.example.") }, s.finishZones)
		s.then("the pool leaves the ConfigMap", s.wish, s.pass)
		s.then("a listing finds the zone", s.list, s.pass)
		s.then("it is deleted, and a listing finds none", s.deleteZones, s.list, s.pass)
	},
	"a zone is made between the listing and the deletion": func(s *story) {
		s.gated()
		s.then("a zone is made", func() { s.beginZone("a.example.") }, s.finishZones)
		s.then("Designate refuses to delete the pool", s.delete, s.pass)
		s.then("the same listing lets nothing pass", s.pass)
		s.then("a later one finds the zone", s.later(time.Minute), s.list, s.pass)
		s.then("the zone is deleted, and a listing finds none", s.deleteZones, s.list, s.pass)
		s.then("Designate deletes the pool", s.delete, s.pass)
		s.then("a later listing finds no zone", s.later(DefaultRPCTimeout), s.list, s.pass)
	},
	"a zone slips in while Designate deletes the pool": func(s *story) {
		s.gated()
		s.then("somebody begins to make a zone", func() { s.beginZone("a.example.") })
		s.then("Designate, which does not see it, deletes the pool", s.delete, s.pass)
		s.then("the zone is there", s.finishZones)
		s.then("a listing finds it", s.later(DefaultRPCTimeout), s.list, s.pass)
		s.then("the pool is made again", s.apply)
		s.then("the next listing finds it, too", s.later(time.Minute), s.list, s.pass)
	},
	"somebody makes the pool again meanwhile": func(s *story) {
		s.gated()
		s.then("Designate deletes the pool", s.delete, s.pass)
		s.then("somebody applies an old pools.yaml", func() { s.exists = true })
		s.then("a listing finds the pool", s.later(DefaultRPCTimeout), s.list, s.pass)
		s.then("Designate deletes it once more", s.delete, s.pass)
		s.then("a later listing finds neither", s.later(DefaultRPCTimeout), s.list, s.pass)
	},
	"Designate is away at each step": func(s *story) {
		s.then("Designate is away, and the pool leaves the ConfigMap", func() { s.silent = true }, s.wish, s.list, s.pass)
		s.then("it is back, and a listing finds no zone", func() { s.silent = false }, s.list, s.pass)
		s.then("it is away when it is to delete the pool", func() { s.silent = true }, s.delete, s.pass)
		s.then("it is back and deletes the pool", func() { s.silent = false }, s.delete, s.pass)
		s.then("it is away when it is to say whether a zone slipped in", func() { s.silent = true }, s.later(DefaultRPCTimeout), s.list, s.pass)
		s.then("the listing from before tells nothing", s.later(time.Hour), s.pass)
		s.then("it is back", func() { s.silent = false }, s.list, s.pass)
	},
	"the wish is taken back": func(s *story) {
		s.then("the pool leaves the ConfigMap", s.wish, s.pass)
		s.then("it is put back", s.takeBack, s.pass)
		s.gated()
		s.then("it is put back past the point of no return, which takes nothing back", s.takeBack, s.pass)
		s.then("Designate deletes the pool", s.delete, s.pass)
		s.then("a later listing finds no zone", s.later(DefaultRPCTimeout), s.list, s.pass)
	},
	"a person forces it while Designate is away": func(s *story) {
		s.gated()
		s.then("Designate is away", func() { s.silent = true }, s.delete, s.pass)
		s.then("a person forces it", s.force, s.pass)
	},
	"the DesignateBackend loses its access on the way": func(s *story) {
		s.gated()
		s.then("access is taken away", func() { s.backend.Spec.Designate.Access = nil }, s.delete, s.pass)
		s.then("and given again", func() { withAccess(s.backend) }, s.pass)
		s.then("a later listing finds no zone", s.later(DefaultRPCTimeout), s.list, s.pass)
	},
	"the default pool goes with its backend and stays in Designate": func(s *story) {
		s.world = newWorld(v1alpha1.DefaultPoolName)
		s.then("the backend is deleted", func() { leaving(s.backend) }, s.pass)
		s.then("a listing finds no zone", s.list, s.pass)
		s.then("a later one does not, either", s.later(DefaultRPCTimeout), s.list, s.pass)
	},
}

func TestStories(t *testing.T) {
	for title, tell := range stories {
		t.Run(title, func(t *testing.T) {
			s := &story{world: newWorld("edge")}
			tell(s)
			file := filepath.Join("testdata", strings.ReplaceAll(strings.ReplaceAll(title, ",", ""), " ", "-")+".log")
			if *update {
				if err := os.WriteFile(file, []byte(s.log.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), s.log.String()); diff != "" {
				t.Errorf("the story (-want +got):\n%s", diff)
			}
		})
	}
}

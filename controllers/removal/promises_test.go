package removal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

// TestNoZoneIsEverLost lets anything happen in any order. Zones are under way for no longer than Designate's RPC timeout. When a
// pool leaves, no zone is in it or on its way there; and when all comes to rest, it has left, or Designate has it again.
func TestNoZoneIsEverLost(t *testing.T) {
	left, tookBack := 0, 0
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := newWorld("edge")
		var events []string
		var begun time.Time
		for range 60 {
			name := w.anything(random, &begun)
			events = append(events, name)
			if w.entry.Leaving() {
				break
			}
		}
		if w.entry.Leaving() && len(w.zones)+len(w.making) > 0 {
			t.Fatalf("seed %d: the pool leaves, and there are zones %v and on their way %v, after %v", seed, w.zones, w.making, events)
		}
		w.rest()
		switch {
		case w.entry.Leaving():
			left++
		case len(w.zones) == 0 && w.verdict.Wanted:
			t.Fatalf("seed %d: nothing is in the way, and the pool is still there: %s after %v", seed, w, events)
		case !w.exists || w.entry.Removal != "":
			t.Fatalf("seed %d: the pool stays, and Designate does not have it: %s after %v", seed, w, events)
		case w.entry.Deletion != nil && w.entry.Deletion.Refusals > 0:
			tookBack++
		}
	}
	if left == 0 || tookBack == 0 {
		t.Errorf("of the pools %d left and %d came back: the histories meet too little", left, tookBack)
	}
}

// anything lets one thing happen, and says what.
func (w *world) anything(random *rand.Rand, begun *time.Time) string {
	if len(w.making) > 0 && w.now.Sub(*begun) > DefaultRPCTimeout-10*time.Second {
		w.finishZones()
		return "the zone is there in time"
	}
	events := []struct {
		name   string
		happen func()
	}{
		{"wish", w.wish},
		{"list", w.list},
		{"list and pass", func() { w.list(); w.pass() }},
		{"delete", w.delete},
		{"apply", w.apply},
		{"pass", w.pass},
		{"pass again", w.pass},
		{"silence", func() { w.silent = !w.silent }},
		{"begin zone", func() {
			if len(w.making) == 0 && random.IntN(3) == 0 {
				*begun = w.now
				w.beginZone(fmt.Sprintf("zone-%d.example.", random.IntN(100)))
			}
		}},
		{"finish zones", w.finishZones},
		{"delete zones", w.deleteZones},
		{"wait", w.later(8 * time.Second)},
		{"somebody makes the pool", func() { w.exists = w.exists || random.IntN(4) == 0 }},
	}
	if w.entry.Removal == ledger.Deleted {
		events = slices.DeleteFunc(events, func(e struct {
			name   string
			happen func()
		}) bool {
			return e.name == "somebody makes the pool" // Who does may put zones there at once, which only the next listing tells.
		})
	}
	event := events[random.IntN(len(events))]
	event.happen()
	return event.name
}

// rest lets Designate answer and everybody work until nothing changes any more.
func (w *world) rest() {
	w.silent = false
	w.finishZones()
	for range 20 {
		w.later(longestDelay)()
		w.list()
		w.pass()
		w.delete()
		w.pass()
		w.apply()
	}
}

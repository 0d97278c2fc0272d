package statistics

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/designate-pools/designate-pool-operator/controllers/designate"
)

// zoneIn is a PRIMARY zone in a state.
func zoneIn(name, status, action string, serial int64) designate.Zone {
	return designate.Zone{Name: name, Type: "PRIMARY", Status: status, Action: action, Serial: serial}
}

// secondary is a SECONDARY zone in a state, transferred from its own primaries or not yet.
func secondary(name, status, action string, serial int64, transferred bool) designate.Zone {
	zone := designate.Zone{Name: name, Type: "SECONDARY", Status: status, Action: action, Serial: serial}
	if transferred {
		zone.TransferredAt = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	}
	return zone
}

// wantedOf are the zones of a pool.
func wantedOf(t *testing.T, zones ...designate.Zone) *Wanted {
	t.Helper()
	var builder WantedBuilder
	for i := range zones {
		if err := builder.Add(&zones[i]); err != nil {
			t.Fatal(err)
		}
	}
	return builder.Wanted()
}

func tally(names ...string) Tally { return Tally{Total: len(names), Names: names} }

func TestAServerLacksWhatDesignateWantsAndHasWhatItDoesNot(t *testing.T) {
	for name, test := range map[string]struct {
		served []string
		wanted []designate.Zone
		want   Difference
	}{
		"nothing on either side": {},
		"all that is wanted": {
			[]string{record("b.org", "7"), record("a.org", "7")},
			[]designate.Zone{zoneIn("a.org.", "ACTIVE", "NONE", 7), zoneIn("b.org.", "ACTIVE", "NONE", 7)},
			Difference{},
		},
		"in letters of another size": {
			[]string{record("Prim.Example.ORG", "7"), record("b.org", "7")},
			[]designate.Zone{zoneIn("prim.Example.org.", "ACTIVE", "NONE", 7), zoneIn("B.org.", "ACTIVE", "NONE", 7)},
			Difference{},
		},
		"an empty server": {
			nil,
			[]designate.Zone{zoneIn("b.org.", "ACTIVE", "NONE", 7), zoneIn("a.org.", "PENDING", "UPDATE", 7)},
			Difference{Missing: tally("a.org.", "b.org.")},
		},
		"a server of a pool without zones": {
			[]string{record("b.org", "7"), record("a.org", "")}, nil,
			Difference{Extra: tally("a.org.", "b.org.")},
		},
		"a zone that has not been loaded": {
			[]string{record("a.org", "")},
			[]designate.Zone{zoneIn("a.org.", "ACTIVE", "NONE", 7)},
			Difference{Missing: tally("a.org.")},
		},
		"a zone whose serial is 0 is loaded": {
			[]string{record("a.org", "0")},
			[]designate.Zone{zoneIn("a.org.", "ACTIVE", "NONE", 0)},
			Difference{},
		},
		"an older serial": {
			[]string{record("a.org", "6")},
			[]designate.Zone{zoneIn("a.org.", "ACTIVE", "NONE", 7)},
			Difference{Stale: tally("a.org.")},
		},
		"an older serial while a change is on its way": {
			[]string{record("a.org", "6")},
			[]designate.Zone{zoneIn("a.org.", "PENDING", "UPDATE", 7)},
			Difference{Stale: tally("a.org.")},
		},
		"a newer serial, for it has changed since the listing": {
			[]string{record("a.org", "8")},
			[]designate.Zone{zoneIn("a.org.", "ACTIVE", "NONE", 7)},
			Difference{},
		},
		"an older serial across the end of the numbers": {
			[]string{record("a.org", "4294967295"), record("b.org", "3")},
			[]designate.Zone{zoneIn("a.org.", "ACTIVE", "NONE", 3), zoneIn("b.org.", "ACTIVE", "NONE", 4294967295)},
			Difference{Stale: tally("a.org.")},
		},
		"a serial that no server can have": {
			[]string{record("a.org", "6"), record("b.org", "6"), record("c.org", "")},
			[]designate.Zone{zoneIn("a.org.", "ACTIVE", "NONE", 1<<32+7), zoneIn("b.org.", "ACTIVE", "NONE", -1), zoneIn("c.org.", "ACTIVE", "NONE", -1)},
			Difference{Missing: tally("c.org.")},
		},
		"what is being created is neither missing nor extra nor stale": {
			[]string{record("b.org", "6"), record("c.org", "")},
			[]designate.Zone{zoneIn("a.org.", "PENDING", "CREATE", 7), zoneIn("b.org.", "PENDING", "CREATE", 7), zoneIn("c.org.", "PENDING", "CREATE", 7)},
			Difference{},
		},
		"nor is what is being deleted, also where that fails": {
			[]string{record("b.org", "6"), record("c.org", ""), record("e.org", "6")},
			[]designate.Zone{
				zoneIn("a.org.", "PENDING", "DELETE", 7), zoneIn("b.org.", "PENDING", "DELETE", 7), zoneIn("c.org.", "PENDING", "DELETE", 7),
				zoneIn("d.org.", "ERROR", "DELETE", 7), zoneIn("e.org.", "ERROR", "DELETE", 7),
			},
			Difference{},
		},
		"a server that keeps a zone from being created lacks it": {
			nil,
			[]designate.Zone{zoneIn("a.org.", "ERROR", "CREATE", 7), zoneIn("b.org.", "ERROR", "UPDATE", 7)},
			Difference{Missing: tally("a.org.", "b.org.")},
		},
		"a SECONDARY zone with any serial of its own primaries": {
			[]string{record("a.org", "6"), record("b.org", "8"), record("c.org", "6")},
			[]designate.Zone{
				secondary("a.org.", "ACTIVE", "NONE", 7, true), secondary("b.org.", "ACTIVE", "NONE", 7, true), secondary("c.org.", "PENDING", "UPDATE", 7, true),
			},
			Difference{},
		},
		"a SECONDARY zone that other servers have": {
			[]string{record("b.org", "")},
			[]designate.Zone{
				secondary("a.org.", "ACTIVE", "NONE", 7, true), secondary("b.org.", "PENDING", "UPDATE", 7, true), secondary("c.org.", "ERROR", "CREATE", 7, true),
			},
			Difference{Missing: tally("a.org.", "b.org.", "c.org.")},
		},
		"a SECONDARY zone whose own primaries nobody has reached": {
			[]string{record("b.org", ""), record("d.org", "")},
			[]designate.Zone{
				secondary("a.org.", "PENDING", "CREATE", 1, false), secondary("b.org.", "ERROR", "CREATE", 1, false),
				// As an update of the pool leaves them.
				secondary("c.org.", "PENDING", "UPDATE", 1796095725, false), secondary("d.org.", "ERROR", "UPDATE", 1796095725, false),
			},
			Difference{},
		},
		"a zone that was made again while the listing went on": {
			[]string{record("b.org", "7")},
			[]designate.Zone{
				zoneIn("a.org.", "ACTIVE", "NONE", 7), zoneIn("b.org.", "ACTIVE", "NONE", 9),
				zoneIn("a.org.", "PENDING", "CREATE", 8), zoneIn("b.org.", "ACTIVE", "NONE", 7),
			},
			Difference{},
		},
		"names of which one begins with the other": {
			[]string{record("a.org.uk", "7"), record("a-b.org", "7")},
			[]designate.Zone{zoneIn("a.org.", "ACTIVE", "NONE", 7), zoneIn("a-b.org.", "ACTIVE", "NONE", 7)},
			Difference{Missing: tally("a.org."), Extra: tally("a.org.uk.")},
		},
		"all kinds at once": {
			[]string{record("extra.org", "1"), record("stale.org", "1"), record("same.org", "1"), record("unloaded.org", "")},
			[]designate.Zone{
				zoneIn("unloaded.org.", "ACTIVE", "NONE", 1), zoneIn("missing.org.", "ACTIVE", "NONE", 1),
				zoneIn("same.org.", "ACTIVE", "NONE", 1), zoneIn("stale.org.", "ACTIVE", "NONE", 2),
			},
			Difference{Missing: tally("missing.org.", "unloaded.org."), Extra: tally("extra.org."), Stale: tally("stale.org.")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Compare(served(t, test.served...), wantedOf(t, test.wanted...))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAllAreCountedAndTheFirstOfTheAlphabetNamed(t *testing.T) {
	var wanted []designate.Zone
	var records []string
	for _, i := range rand.Perm(20) {
		wanted = append(wanted, zoneIn(fmt.Sprintf("missing%02d.org.", i), "ACTIVE", "NONE", 7), zoneIn(fmt.Sprintf("stale%02d.org.", i), "ACTIVE", "NONE", 7))
		records = append(records, record(fmt.Sprintf("extra%02d.org", i), "7"), record(fmt.Sprintf("stale%02d.org", i), "6"))
	}
	few := func(kind string) Tally {
		var t Tally
		for i := range 5 {
			t.Names = append(t.Names, fmt.Sprintf("%s%02d.org.", kind, i))
		}
		t.Total = 20
		return t
	}
	want := Difference{Missing: few("missing"), Extra: few("extra"), Stale: few("stale")}
	if diff := cmp.Diff(want, Compare(served(t, records...), wantedOf(t, wanted...))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhateverTheZonesEachIsCountedAsOneByOneTheyWouldBe(t *testing.T) {
	for range 500 {
		have, want := map[string]uint32{}, map[string]uint32{}
		var records []string
		var zones []designate.Zone
		for _, i := range rand.Perm(12) {
			name := fmt.Sprintf("z%d.org", i)
			if rand.IntN(2) == 0 {
				have[name+"."] = rand.Uint32N(3)
				records = append(records, record(name, fmt.Sprint(have[name+"."])))
			}
			if rand.IntN(2) == 0 {
				want[name+"."] = rand.Uint32N(3)
				zones = append(zones, zoneIn(name+".", "ACTIVE", "NONE", int64(want[name+"."])))
			}
		}
		expected := Difference{}
		for name, serial := range want {
			if has, ok := have[name]; !ok {
				expected.Missing.Total++
			} else if has < serial {
				expected.Stale.Total++
			}
		}
		for name := range have {
			if _, ok := want[name]; !ok {
				expected.Extra.Total++
			}
		}
		got := Compare(served(t, records...), wantedOf(t, zones...))
		if got.Missing.Total != expected.Missing.Total || got.Extra.Total != expected.Extra.Total || got.Stale.Total != expected.Stale.Total {
			t.Fatalf("served %v, wanted %v: got %v", have, want, got)
		}
	}
}

func TestAZoneIsOnlyWantedUnderANameThatOneCanHave(t *testing.T) {
	var builder WantedBuilder
	for _, name := range []string{"", string(make([]byte, maxName+1))} {
		if err := builder.Add(&designate.Zone{Name: name}); err == nil {
			t.Errorf("%d bytes are taken for a name", len(name))
		}
	}
}

func TestABuilderBeginsAnewAfterEachListing(t *testing.T) {
	var builder WantedBuilder
	zone := zoneIn("a.org.", "ACTIVE", "NONE", 1)
	if err := builder.Add(&zone); err != nil {
		t.Fatal(err)
	}
	first := builder.Wanted()
	zone.Name = "b.org."
	if err := builder.Add(&zone); err != nil {
		t.Fatal(err)
	}
	second := builder.Wanted()
	if first.Total() != 1 || second.Total() != 1 {
		t.Fatalf("%d and %d zones", first.Total(), second.Total())
	}
	want := Difference{Missing: tally("a.org."), Extra: tally("b.org.")}
	if diff := cmp.Diff(want, Compare(served(t, record("b.org", "1")), first)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSerialsGoRoundInACircle(t *testing.T) {
	const half = 1 << 31
	for name, test := range map[string]struct {
		serial, than uint32
		want         bool
	}{
		"the same":                             {5, 5, false},
		"one before":                           {5, 6, true},
		"one after":                            {6, 5, false},
		"the last before the first":            {1<<32 - 1, 0, true},
		"the first after the last":             {0, 1<<32 - 1, false},
		"just less than half a circle before":  {0, half - 1, true},
		"just more than half a circle before":  {0, half + 1, false},
		"half a circle, which nobody can tell": {0, half, true},
		"half a circle, the other way round":   {half, 0, true},
		"a date after a time":                  {1796095725, 2026120101, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Older(test.serial, test.than); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestNamesAreInTheOrderOfTheirBytes(t *testing.T) {
	zones := served(t, record("b.org", "1"), record("a-b.org", "1"), record("a.org", "1"), record("a.b.org", "1"), record("A.C.org", "1"))
	var got []string
	for zone := range zones.All() {
		got = append(got, zone.Name)
		if len(got) == 4 {
			break
		}
	}
	if want := []string{"a-b.org.", "a.b.org.", "a.c.org.", "a.org."}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

package zones

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/designate-pools/designate-pool-operator/controllers/designate"
)

// zoneOf is an ACTIVE zone without attributes, an hour younger than any pool.
func zoneOf(pool, name string) designate.Zone {
	return designate.Zone{ID: name, Name: name, PoolID: pool, Status: "ACTIVE", Action: "NONE", CreatedAt: noon.Add(-time.Hour)}
}

func poolOf(id string, attributes map[string]string) designate.Pool {
	return designate.Pool{ID: id, Name: "name of " + id, Attributes: attributes, CreatedAt: noon.Add(-2 * time.Hour)}
}

func count(t *testing.T, known []designate.Pool, zones ...designate.Zone) *Listing {
	t.Helper()
	c := newCounter(noon, known)
	for _, zone := range zones {
		if err := c.add(zone); err != nil {
			t.Fatal(err)
		}
	}
	return c.done()
}

func TestZonesAreCountedUnderTheirPoolsAndStates(t *testing.T) {
	deleted := zoneOf("gold", "b.example.")
	deleted.Status, deleted.Action = "PENDING", "DELETE"
	broken := zoneOf("unlisted", "c.example.")
	broken.Status, broken.Action = "ERROR", "CREATE"
	secondary := zoneOf("gold", "d.example.")
	secondary.Type, secondary.ProjectID = "SECONDARY", "another"
	known := []designate.Pool{poolOf("gold", nil), poolOf("iron", nil)}

	got := count(t, known, secondary, zoneOf("gold", "a.example."), deleted, broken)
	want := &Listing{Began: noon, Total: 4, Known: known, Pools: map[string]*PoolZones{
		"gold": {Total: 3, Names: []string{"a.example.", "b.example.", "d.example."}, States: map[State]int{
			{"ACTIVE", "NONE"}: 2, {"PENDING", "DELETE"}: 1,
		}},
		"unlisted": {Total: 1, Names: []string{"c.example."}, States: map[State]int{{"ERROR", "CREATE"}: 1}},
	}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Listing{}, "Wanted")); diff != "" {
		t.Errorf("listing (-want +got):\n%s", diff)
	}
	for id, total := range map[string]int{"gold": 3, "unlisted": 1, "iron": 0} {
		if wanted := got.WantedIn(id).Total(); wanted != total {
			t.Errorf("servers of %s are held against %d zones, want %d", id, wanted, total)
		}
	}
	if iron := got.In("iron"); iron.Total != 0 {
		t.Errorf("a pool without zones has %d", iron.Total)
	}
}

func TestTheFirstNamesOfTheAlphabetAreKeptInWhateverOrderZonesCome(t *testing.T) {
	want := []string{"a.", "b.", "c.", "d.", "e."}
	for _, order := range []string{"abcdefgh", "hgfedcba", "fahbgced", "abcde"} {
		var zones []designate.Zone
		for _, letter := range order {
			zones = append(zones, zoneOf("gold", string(letter)+"."))
		}
		listing := count(t, nil, zones...)
		if diff := cmp.Diff(want, listing.In("gold").Names); diff != "" {
			t.Errorf("names of zones in the order %s (-want +got):\n%s", order, diff)
		}
		if total := listing.In("gold").Total; total != len(order) {
			t.Errorf("%d zones were counted, want %d", total, len(order))
		}
	}
}

// R7: a zone that could be in any pool is not one that is in none.
func TestAZoneWithoutAPoolMakesTheListingUnusable(t *testing.T) {
	err := newCounter(noon, nil).add(zoneOf("", "a.example."))
	if designate.KindOf(err) != designate.Malformed || err == nil {
		t.Errorf("got %v, want an error of kind Malformed", err)
	}
}

func TestZonesThatAreElsewhereThanWhereTheirAttributesAsk(t *testing.T) {
	east, west := map[string]string{"region": "east"}, map[string]string{"region": "west"}
	eastFast := map[string]string{"region": "east", "tier": "fast"}
	known := func(pools ...designate.Pool) []designate.Pool {
		return append(pools, poolOf("default", nil), poolOf("west", west))
	}
	with := func(pool string, attributes map[string]string) designate.Zone {
		zone := zoneOf(pool, "a.example.")
		zone.Attributes = attributes
		return zone
	}
	older := with("default", east)
	older.CreatedAt = noon.Add(-3 * time.Hour)
	original := poolOf("east", east)
	original.CreatedAt = time.Time{}

	for name, test := range map[string]struct {
		known []designate.Pool
		zone  designate.Zone
		want  string // the pool that it should be in
	}{
		"it is where it asks to be":                            {known(poolOf("east", eastFast)), with("east", east), ""},
		"it asks for nothing":                                  {known(poolOf("east", east)), with("default", nil), ""},
		"it asks for a pool and is in the default one":         {known(poolOf("east", east)), with("default", east), "east"},
		"it asks for a pool and is in another one":             {known(poolOf("east", east)), with("west", east), "east"},
		"the pool it asks for has more attributes":             {known(poolOf("east", eastFast)), with("west", east), "east"},
		"no pool has all that it asks for":                     {known(poolOf("east", east)), with("west", eastFast), ""},
		"it was there before the pool":                         {known(poolOf("east", east)), older, ""},
		"the pool was there before Designate kept such a time": {known(original), with("west", east), "east"},
		"of two such pools the first is told":                  {known(poolOf("east-2", east), poolOf("east-1", eastFast)), with("west", east), "east-1"},
		"its pool was made after the pools were listed":        {known(poolOf("east", east)), with("new", east), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := count(t, test.known, test.zone).In(test.zone.PoolID)
			astray, zone := 0, ""
			if test.want != "" {
				astray, zone = 1, "a.example."
			}
			if got.Astray != astray || got.AstrayName != zone || got.AstrayPool != test.want {
				t.Errorf("%d zones astray, such as %q, which asks for %q; want %d, %q, %q",
					got.Astray, got.AstrayName, got.AstrayPool, astray, zone, test.want)
			}
		})
	}
}

func TestTheAstrayZoneThatIsNamedIsTheSameInWhateverOrderTheyCome(t *testing.T) {
	known := []designate.Pool{poolOf("default", nil), poolOf("east", map[string]string{"region": "east"}), poolOf("west", map[string]string{"region": "west"})}
	first, second := zoneOf("default", "a."), zoneOf("default", "b.")
	first.Attributes, second.Attributes = known[1].Attributes, known[2].Attributes
	for _, zones := range [][]designate.Zone{{first, second}, {second, first}} {
		got := count(t, known, zones...).In("default")
		if got.Astray != 2 || got.AstrayName != "a." || got.AstrayPool != "east" {
			t.Errorf("got %+v, want 2 astray, such as a. for east", got)
		}
	}
}

// generated makes zones as a listing hands them on, one at a time.
func generated(number int) designate.Zone {
	return zoneOf(fmt.Sprintf("pool-%d", number%100), fmt.Sprintf("zone-%d.example.", number))
}

// TestCountingTakesMemoryForNamesOnly: what servers are held against grows with the zones, and in large steps.
func TestCountingTakesMemoryForNamesOnly(t *testing.T) {
	zones := make([]designate.Zone, 0, 2000)
	for number := range cap(zones) {
		zones = append(zones, generated(number))
	}
	c := newCounter(noon, nil)
	add := func() {
		for i := range zones {
			if err := c.add(zones[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	add() // All pools, states and first names have been seen by now.
	if allocations := testing.AllocsPerRun(10, add); allocations > float64(len(zones)/10) {
		t.Errorf("counting %d more zones took memory %v times", len(zones), allocations)
	}
}

func BenchmarkCounting100000Zones(b *testing.B) {
	zones := make([]designate.Zone, 0, 100_000)
	for number := range cap(zones) {
		zones = append(zones, generated(number))
	}
	b.ReportAllocs()
	for b.Loop() {
		c := newCounter(noon, nil)
		for i := range zones {
			if err := c.add(zones[i]); err != nil {
				b.Fatal(err)
			}
		}
		if c.listing.Total != len(zones) {
			b.Fatalf("%d zones were counted", c.listing.Total)
		}
	}
}

package zones

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/statistics"
)

// namesKept is how many names of zones are kept for each pool.
const namesKept = 5

// counter counts zones one by one, and keeps nothing of a zone but its name and serial.
type counter struct {
	listing  *Listing
	builders map[string]*statistics.WantedBuilder
	known    map[string]*designate.Pool
	// selective are the known pools that have attributes, by their ids.
	selective []*designate.Pool
}

func newCounter(began time.Time, known []designate.Pool) *counter {
	c := &counter{
		listing:  &Listing{Began: began, Pools: map[string]*PoolZones{}, Known: known},
		builders: map[string]*statistics.WantedBuilder{},
		known:    make(map[string]*designate.Pool, len(known)),
	}
	for i := range known {
		c.known[known[i].ID] = &known[i]
		if len(known[i].Attributes) > 0 {
			c.selective = append(c.selective, &known[i])
		}
	}
	slices.SortFunc(c.selective, func(a, b *designate.Pool) int { return cmp.Compare(a.ID, b.ID) })
	return c
}

// add counts one zone. A zone that does not say which pool it is in could be in any: then no pool's number is right.
func (c *counter) add(zone designate.Zone) error {
	if zone.PoolID == "" {
		return &designate.Error{Kind: designate.Malformed, Operation: operation, Detail: "a zone without pool_id"}
	}
	c.listing.Total++
	pool := c.listing.Pools[zone.PoolID]
	if pool == nil {
		pool = &PoolZones{States: map[State]int{}}
		c.listing.Pools[zone.PoolID] = pool
		c.builders[zone.PoolID] = &statistics.WantedBuilder{}
	}
	if err := c.builders[zone.PoolID].Add(&zone); err != nil {
		return &designate.Error{Kind: designate.Malformed, Operation: operation, Detail: err.Error()}
	}
	pool.Total++
	pool.States[State{zone.Status, zone.Action}]++
	pool.keepName(zone.Name)
	if wanted := c.wanted(&zone); wanted != nil {
		pool.Astray++
		if pool.Astray == 1 || zone.Name < pool.AstrayName {
			pool.AstrayName, pool.AstrayPool = zone.Name, wanted.ID
		}
	}
	return nil
}

// done is the listing once all zones have been counted.
func (c *counter) done() *Listing {
	c.listing.Wanted = make(map[string]*statistics.Wanted, len(c.builders))
	for id, zones := range c.builders {
		c.listing.Wanted[id] = zones.Wanted()
	}
	return c.listing
}

// keepName keeps the names that come first in the alphabet, so that the same zones are named by every listing.
func (p *PoolZones) keepName(name string) {
	if len(p.Names) == namesKept && name >= p.Names[namesKept-1] {
		return
	}
	at, _ := slices.BinarySearch(p.Names, name)
	p.Names = slices.Insert(p.Names, at, name)
	p.Names = p.Names[:min(len(p.Names), namesKept)]
}

// wanted is the pool that a zone asks for when it is in another one; nil when it is where it should be, or nobody can tell.
func (c *counter) wanted(zone *designate.Zone) *designate.Pool {
	own := c.known[zone.PoolID]
	if len(zone.Attributes) == 0 || own == nil || matches(own, zone) {
		return nil
	}
	for _, pool := range c.selective {
		// A zone that is older than the pool could not be put there, and nothing moves it later. A pool that Designate gives no
		// time is one that it began with.
		if matches(pool, zone) && zone.CreatedAt.After(pool.CreatedAt) {
			return pool
		}
	}
	return nil
}

// matches says that a pool has all attributes that a zone asks for, as Designate's filter `attribute` compares them.
func matches(pool *designate.Pool, zone *designate.Zone) bool {
	for key, value := range zone.Attributes {
		if has, ok := pool.Attributes[key]; !ok || has != value {
			return false
		}
	}
	return true
}

// sameZones says that the numbers and names are the same.
func sameZones(a, b PoolZones) bool {
	return a.Total == b.Total && maps.Equal(a.States, b.States) && slices.Equal(a.Names, b.Names)
}

// Package statistics asks BIND servers which zones they have, through their statistics channel, and holds that against the
// zones that Designate wants there.
//
// Doubt is an error here, too: what comes back without one is all that a server has.
package statistics

import (
	"context"
	"iter"
)

// Ask asks the server at an IP address, as Client.Zones does.
type Ask func(ctx context.Context, address string) (*Zones, error)

// Zone is a zone of class IN that a server has by itself, be it as primary or as secondary.
type Zone struct {
	// Name is absolute and in lower case, with BIND's escapes.
	Name string
	// Loaded says that the server answers for the zone. A secondary does not before the first transfer has arrived, nor after
	// the zone has expired.
	Loaded bool
	// Serial is that of the SOA record; 0 while the zone is not loaded.
	Serial uint32
}

// Zones are all zones that one server had at one time.
type Zones struct{ list list }

// Total is how many there are, loaded or not.
func (z *Zones) Total() int { return len(z.list.entries) }

// All are the zones in alphabetical order.
func (z *Zones) All() iter.Seq[Zone] {
	return func(yield func(Zone) bool) {
		for i, entry := range z.list.entries {
			if !yield(Zone{Name: string(z.list.name(i)), Loaded: entry.marks&hasSerial != 0, Serial: entry.serial}) {
				return
			}
		}
	}
}

package statistics

import "github.com/designate-pools/designate-pool-operator/controllers/designate"

// Designate's words for what the comparison goes by.
const (
	actionCreate  = "CREATE"
	statusPending = "PENDING"
	typeSecondary = "SECONDARY"
)

// Wanted are the zones that Designate wants on all servers of one pool. It does not change any more.
type Wanted struct{ list list }

// Total is how many there are, in whatever state.
func (w *Wanted) Total() int { return len(w.list.entries) }

// WantedBuilder takes the zones of one pool one by one, in any order. The zero value has none.
type WantedBuilder struct{ list list }

// Add adds a zone as a listing tells it. When a zone was deleted and made again while the listing went on, the later one
// counts. The error says that the zone has no name that a zone can have: without it, the list would not be whole.
func (b *WantedBuilder) Add(zone *designate.Zone) error {
	marks := marksOf(zone)
	serial := uint32(zone.Serial) //nolint:gosec // Whether it fits is looked at next.
	if int64(serial) != zone.Serial {
		// No serial that a server could have.
		marks &^= hasSerial
	}
	return b.list.add(zone.Name, serial, marks)
}

// WantedFrom are the zones that some servers answer for, which one that takes over from them has to have. The error says that one of them
// has a name that a zone cannot have.
func WantedFrom(servers ...*Zones) (*Wanted, error) {
	var b WantedBuilder
	for _, zones := range servers {
		for zone := range zones.All() {
			if !zone.Loaded {
				continue
			}
			if err := b.list.add(zone.Name, zone.Serial, required); err != nil {
				return nil, err
			}
		}
	}
	return b.Wanted(), nil
}

// Wanted are the zones so far. The builder has none afterwards.
func (b *WantedBuilder) Wanted() *Wanted {
	b.list.sort()
	wanted := &Wanted{list: b.list}
	b.list = list{}
	return wanted
}

// marksOf says what servers can be asked of a zone.
//
// A zone that Designate is creating or deleting may be on a server or not. In ERROR/CREATE it may be on all servers but
// one, whose turn it is to be found. A SECONDARY zone has nothing to serve before its own primaries have been reached. Its
// serials are theirs, and go back when they do: BIND keeps what it has.
func marksOf(zone *designate.Zone) marks {
	secondary := zone.Type == typeSecondary
	switch {
	case zone.Action == designate.ActionDelete, zone.Action == actionCreate && zone.Status == statusPending,
		secondary && zone.TransferredAt.IsZero():
		return 0
	case secondary:
		return required
	}
	return required | hasSerial
}

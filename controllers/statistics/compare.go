package statistics

import "bytes"

// namesKept is how many zones of each kind are named.
const namesKept = 5

// Difference is what one server lacks of the zones that Designate wants there, and has besides them.
type Difference struct {
	// Missing are zones that Designate wants and the server does not serve: it has none of that name, or has not loaded it.
	Missing Tally
	// Extra are zones that the server has, loaded or not, and Designate does not know in this pool.
	Extra Tally
	// Stale are zones of which the server serves an older serial than Designate's.
	Stale Tally
}

// Tally counts zones and names a few.
type Tally struct {
	Total int
	// Names are the first in alphabetical order, five at most.
	Names []string
}

func (t *Tally) add(name []byte) {
	t.Total++
	if len(t.Names) < namesKept {
		t.Names = append(t.Names, string(name))
	}
}

// Compare holds what one server has against what Designate wants on the servers of its pool.
//
// The two were not looked at in one moment. Ask servers after the listing of Designate's zones has begun: then what
// Designate had before the listing began and a server lacks is missing. What Designate has deleted meanwhile may be missing,
// what it has created meanwhile may be extra, and a change that is on its way is stale: these pass by themselves.
func Compare(served *Zones, wanted *Wanted) Difference {
	var d Difference
	s, w := &served.list, &wanted.list
	for i, j := 0, 0; i < len(s.entries) || j < len(w.entries); {
		switch order := s.compare(i, w, j); {
		case order < 0:
			d.Extra.add(s.name(i))
			i++
		case order > 0:
			if w.entries[j].marks&required != 0 {
				d.Missing.add(w.name(j))
			}
			j++
		default:
			d.both(s.entries[i], w.entries[j], w.name(j))
			i++
			j++
		}
	}
	return d
}

// both looks at a zone that the server has and Designate knows.
func (d *Difference) both(served, wanted entry, name []byte) {
	switch {
	case wanted.marks&required == 0:
	case served.marks&hasSerial == 0:
		d.Missing.add(name)
	case wanted.marks&hasSerial != 0 && Older(served.serial, wanted.serial):
		d.Stale.add(name)
	}
}

// compare says which of two names comes first. Behind the end of a list there is a name that comes after all others.
func (l *list) compare(i int, other *list, j int) int {
	switch {
	case i == len(l.entries):
		return 1
	case j == len(other.entries):
		return -1
	}
	return bytes.Compare(l.name(i), other.name(j))
}

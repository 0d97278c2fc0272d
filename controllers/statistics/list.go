package statistics

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/designate-pools/designate-pool-operator/controllers/answers"
)

// list is a list of zones in two blocks of memory, whatever their number: a server may have a hundred thousand, and so
// may Designate want there.
type list struct {
	// names are all names, one after the other.
	names   []byte
	entries []entry
}

// entry is one zone.
type entry struct {
	// offset and length are where its name is.
	offset int
	serial uint32
	length uint16
	marks  marks
}

type marks uint8

const (
	// hasSerial: the serial counts. On a server, that is a zone that has been loaded.
	hasSerial marks = 1 << iota
	// required: a server lacks the zone if it does not serve it.
	required
)

// maxName is how long a name can be, in bytes: 255 of which BIND may write each as \DDD.
const maxName = 4 * 255

// add appends a zone. Its name may lack the last dot, and have capital letters.
func (l *list) add(name string, serial uint32, marks marks) error {
	if name == "" || len(name) > maxName {
		return answers.MalformedError("a zone without a name, or with one that is longer than names can be")
	}
	offset := len(l.names)
	l.names = append(l.names, name...)
	if !strings.HasSuffix(name, ".") || strings.HasSuffix(name, `\.`) {
		l.names = append(l.names, '.')
	}
	added := l.names[offset:]
	for i, c := range added {
		// DNS knows no other letters: what is not ASCII has no case.
		if 'A' <= c && c <= 'Z' {
			added[i] += 'a' - 'A'
		}
	}
	length := uint16(len(added)) //nolint:gosec // maxName and a dot fit.
	l.entries = append(l.entries, entry{offset: offset, length: length, serial: serial, marks: marks})
	return nil
}

func (l *list) name(i int) []byte {
	e := &l.entries[i]
	return l.names[e.offset : e.offset+int(e.length)]
}

// sort sorts by name. Of several zones of a name the last one that was added stays; how many do not is returned.
func (l *list) sort() (dropped int) {
	name := func(e entry) []byte { return l.names[e.offset : e.offset+int(e.length)] }
	slices.SortFunc(l.entries, func(a, b entry) int {
		return cmp.Or(bytes.Compare(name(a), name(b)), cmp.Compare(b.offset, a.offset))
	})
	all := len(l.entries)
	l.entries = slices.CompactFunc(l.entries, func(a, b entry) bool { return bytes.Equal(name(a), name(b)) })
	dropped = all - len(l.entries)
	l.names, l.entries = exact(l.names), exact(l.entries)
	return dropped
}

// exact is a slice without memory to grow into.
func exact[E any](s []E) []E {
	return append(make([]E, 0, len(s)), s...)
}

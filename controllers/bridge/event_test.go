package bridge

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/designate-pools/designate-pool-operator/controllers/apply"
)

func TestALongEventIsCutBetweenCharacters(t *testing.T) {
	for _, shift := range []string{"", "x", "xx"} {
		note := apply.Bounded(shift+strings.Repeat("€", 1024), maxEventNote)
		if len(note) > 1024 || !utf8.ValidString(note) || !strings.HasSuffix(note, "€ ...") {
			t.Errorf("the note has %d bytes and ends with %q", len(note), note[len(note)-8:])
		}
	}
}

package pool

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestServerKeys(t *testing.T) {
	type keys = map[string][]byte
	first, second, other := []byte("first"), []byte("second"), []byte("other")
	for name, test := range map[string]struct {
		shared, copies, want keys
		missing              []string
	}{
		"those of its servers, and nobody else's": {
			shared: keys{"rndc-key-3": first, "rndc-key-4": second, "rndc-key-5": other},
			want:   keys{"rndc-key-3": first, "rndc-key-4": second},
		},
		"one that does not exist yet is missing": {
			shared: keys{"rndc-key-4": second}, want: keys{"rndc-key-4": second}, missing: []string{"rndc-key-3"},
		},
		"one that the shared Secret has lost stays": {
			shared: keys{"rndc-key-4": second}, copies: keys{"rndc-key-3": first, "rndc-key-4": second},
			want: keys{"rndc-key-3": first, "rndc-key-4": second},
		},
		"the loss of the whole shared Secret changes nothing": {
			copies: keys{"rndc-key-3": first, "rndc-key-4": second}, want: keys{"rndc-key-3": first, "rndc-key-4": second},
		},
		"a copy that was changed is put back": {
			shared: keys{"rndc-key-3": first, "rndc-key-4": second}, copies: keys{"rndc-key-3": other, "rndc-key-4": second},
			want: keys{"rndc-key-3": first, "rndc-key-4": second},
		},
		"the copy of a server that has gone goes": {
			shared: keys{"rndc-key-3": first, "rndc-key-4": second}, copies: keys{"rndc-key-9": other},
			want: keys{"rndc-key-3": first, "rndc-key-4": second},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy()
			s.keys, s.keyCopies = test.shared, test.copies
			got, missing := s.serverKeys()
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
			if !slices.Equal(test.missing, missing) {
				t.Errorf("missing are %q, want %q", missing, test.missing)
			}
		})
	}
}

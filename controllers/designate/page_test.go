package designate

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/designate-pools/designate-pool-operator/controllers/answers"
)

func FuzzDecodePage(f *testing.F) {
	for _, seed := range []string{
		`{"zones": [{"id": "a", "name": "n", "pool_id": "p", "status": "ACTIVE"}], "links": {"next": "http://h/v2/zones?marker=a"}, "metadata": {"total_count": 3}}`,
		`{"metadata": {}, "links": {"self": "x"}, "more": [{}], "zones": []}`, `{"zones": null, "links": {}}`, `{"zones": [`, ``, `[]`, "\x00",
		`{"zones": [], "links": {"next": ":"}}`, `{"zones": [], "zones": [], "links": {}}`, `{"zones": [], "links": {}}x`, `{"zones"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var ids []string
		got, err := decodePage(strings.NewReader(text), "zones", func(zone wireZone) error {
			ids = append(ids, zone.ID)
			return nil
		})
		if err != nil {
			if detail := answers.Malformation(err); detail == "" {
				t.Fatalf("%v is not told as malformed", err)
			}
			return
		}
		if got.records != len(ids) {
			t.Fatalf("%d records, %d were handed on", got.records, len(ids))
		}
		// What was taken for a page is one, with all the records that a plain decoder finds.
		var plain map[string]json.RawMessage
		var records []json.RawMessage
		if err := errors.Join(json.Unmarshal([]byte(text), &plain), json.Unmarshal(plain["zones"], &records)); err != nil {
			t.Fatalf("taken for a page: %q (%v)", text, err)
		}
		if len(records) != len(ids) || plain["links"] == nil {
			t.Fatalf("%d records of %d in %q", len(ids), len(records), text)
		}
	})
}

func TestAReadThatFailsIsNotTakenForTheEndOfAPage(t *testing.T) {
	broken := errors.New("broken")
	page := `{"zones": [], "links": {}, "metadata": {"total_count": 0}}`
	for length := range len(page) + 1 {
		_, err := decodePage(iotest.TimeoutReader(iotest.HalfReader(strings.NewReader(page))), "zones", func(wireZone) error { return nil })
		if !errors.Is(err, iotest.ErrTimeout) {
			t.Fatalf("got %v", err)
		}
		reader := iotest.DataErrReader(&failing{strings.NewReader(page[:length]), broken})
		if _, err := decodePage(reader, "zones", func(wireZone) error { return nil }); !errors.Is(err, broken) {
			t.Fatalf("after %d bytes: got %v", length, err)
		}
	}
}

// failing fails with an error where a reader ends.
type failing struct {
	*strings.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil {
		err = f.err
	}
	return n, err
}

package statistics

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega/gleak"

	"github.com/designate-pools/designate-pool-operator/controllers/answers"
)

// secret is in whatever must not get into an error.
const secret = "s3cr3t-and-body"

var (
	// patient waits as long as a busy machine may take.
	patient = Limits{Request: 10 * time.Second, Idle: 5 * time.Second}
	quick   = Limits{Request: 400 * time.Millisecond, Idle: 200 * time.Millisecond}
)

// serve answers as a server's statistics channel, and returns its port.
func serve(t *testing.T, handler http.HandlerFunc) (port int) {
	t.Helper()
	watchGoroutines(t)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.Listener.Addr().(*net.TCPAddr).Port
}

// text answers every request with a text.
func text(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// view is an answer whose default view has members.
func view(members string) string {
	return `{"json-stats-version":"1.7","views":{"_default":{` + members + `},"_bind":{"zones":[]}}}`
}

// zones is an answer with a list of zones.
func zones(records ...string) string {
	return view(`"zones":[` + strings.Join(records, ",") + `]`)
}

// record is a zone as BIND tells it.
func record(name, serial string) string {
	if serial != "" {
		serial = `"serial":` + serial + `,`
	}
	return fmt.Sprintf(`{"name":%q,"class":"IN",%s"type":"secondary","loaded":"2026-12-01T03:19:48Z"}`, name, serial)
}

// ask asks a server on this machine, and fails unless every body is closed.
func ask(t *testing.T, limits Limits, port int) (*Zones, error) {
	t.Helper()
	counted := &bodies{base: newTransport()}
	zones, err := newClient(limits, port, counted).Zones(t.Context(), "127.0.0.1")
	if open := counted.open.Load(); open != 0 {
		t.Errorf("%d bodies were never closed", open)
	}
	return zones, err
}

// bodies counts those that are open.
type bodies struct {
	base http.RoundTripper
	open atomic.Int64
}

func (b *bodies) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := b.base.RoundTrip(request)
	if err == nil {
		b.open.Add(1)
		response.Body = &body{ReadCloser: response.Body, open: &b.open}
	}
	return response, err
}

type body struct {
	io.ReadCloser
	open   *atomic.Int64
	closed bool
}

func (b *body) Close() error {
	if !b.closed {
		b.closed = true
		b.open.Add(-1)
	}
	return b.ReadCloser.Close()
}

// watchGoroutines fails a test that leaves goroutines behind.
func watchGoroutines(t *testing.T) {
	t.Helper()
	before := gleak.Goroutines()
	t.Cleanup(func() {
		matcher := gleak.HaveLeaked(before)
		for range 100 {
			if leaked, err := matcher.Match(gleak.Goroutines()); err == nil && !leaked {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Error(matcher.FailureMessage(gleak.Goroutines()))
	})
}

// wantError fails unless an error is of a kind and says nothing of what was received.
func wantError(t *testing.T, zones *Zones, err error, kind Kind) {
	t.Helper()
	_ = errorOf(t, zones, err, kind)
}

// errorOf is wantError for those who look closer.
func errorOf(t *testing.T, zones *Zones, err error, kind Kind) *Error {
	t.Helper()
	if zones != nil {
		t.Errorf("there are zones beside an error")
	}
	e, ok := errors.AsType[*Error](err)
	if !ok || KindOf(err) != kind {
		t.Fatalf("got %#v (%v), want kind %s", err, err, kind)
	}
	if strings.Contains(err.Error(), secret) {
		t.Errorf("the error tells what came: %v", err)
	}
	if e.Detail == "" || !strings.HasSuffix(err.Error(), e.Detail) {
		t.Errorf("the error does not say what it is about: %q", err.Error())
	}
	return e
}

func wantZones(t *testing.T, zones *Zones, err error, want ...Zone) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, slices.Collect(zones.All())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if zones.Total() != len(want) {
		t.Errorf("%d in all, want %d", zones.Total(), len(want))
	}
}

// served are zones of a server.
func served(t *testing.T, records ...string) *Zones {
	t.Helper()
	zones, err := Decode(strings.NewReader(zones(records...)))
	if err != nil {
		t.Fatalf("%v (%s)", err, answers.Malformation(err))
	}
	return zones
}

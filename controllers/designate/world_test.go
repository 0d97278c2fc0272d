package designate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// quick are limits under which a test of a timeout is over soon.
var quick = Limits{Request: 300 * time.Millisecond, Idle: 100 * time.Millisecond, PageSize: 2}

// patient are those of tests of something else.
var patient = Limits{Request: 20 * time.Second, Idle: 20 * time.Second, PageSize: 2}

// bodies counts the bodies that have not been closed.
type bodies struct {
	base http.RoundTripper
	open atomic.Int64
}

func (b *bodies) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := b.base.RoundTrip(request)
	if err == nil {
		b.open.Add(1)
		response.Body = &countedBody{ReadCloser: response.Body, closed: sync.OnceFunc(func() { b.open.Add(-1) })}
	}
	return response, err
}

type countedBody struct {
	io.ReadCloser
	closed func()
}

func (c *countedBody) Close() error {
	c.closed()
	return c.ReadCloser.Close()
}

// serve runs a server for one test, which fails if goroutines are left in the end.
func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	before := runtime.NumGoroutine()
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		deadline := time.Now().Add(5 * time.Second)
		for runtime.NumGoroutine() > before {
			if time.Now().After(deadline) {
				stacks := make([]byte, 1<<20)
				t.Fatalf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	return server
}

// connected is a client of an endpoint; the test fails if a body is left open.
func connected(t *testing.T, access Access, limits Limits) *Client {
	t.Helper()
	c, err := connectCounted(t, access, limits)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func connectCounted(t *testing.T, access Access, limits Limits) (*Client, error) {
	t.Helper()
	transport := newTransport(nil)
	counted := &bodies{base: transport}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if open := counted.open.Load(); open != 0 {
			t.Errorf("%d bodies were never closed", open)
		}
	})
	return connect(t.Context(), access, limits.withDefaults(), counted)
}

// wantKind fails unless an error is of a kind, none when "".
func wantKind(t *testing.T, err error, kind Kind) {
	t.Helper()
	_ = errorOf(t, err, kind)
}

// errorOf is wantKind for those who look closer. What an error says must hold nothing of what was received or sent.
func errorOf(t *testing.T, err error, kind Kind) *Error {
	t.Helper()
	if kind == "" {
		if err != nil {
			t.Fatalf("got %v, want no error", err)
		}
		return nil
	}
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != kind {
		t.Fatalf("got %#v (%v), want kind %s", err, err, kind)
	}
	if strings.Contains(fmt.Sprintf("%v %+v", err, e.Detail), secret) {
		t.Fatalf("the error tells a secret: %v", err)
	}
	return e
}

// secret is in whatever must not get into an error.
const secret = "s3cr3t-and-body"

// zone is a zone as Designate writes it, made as many seconds after the beginning as its number says.
func zone(number int) map[string]any {
	return map[string]any{
		"id": fmt.Sprintf("%08d-0000-4000-8000-000000000000", number), "name": fmt.Sprintf("z%d.example.org.", number),
		"pool_id": "pool", "project_id": "project", "type": "PRIMARY", "status": "ACTIVE", "action": "NONE", "serial": 1796085260,
		"attributes": map[string]string{"tier": "gold"}, "description": secret, "transferred_at": nil,
		"created_at": time.Date(2026, 12, 1, 0, 0, number, 0, time.UTC).Format("2006-01-02T15:04:05.000000"),
	}
}

// designate answers listings of zones as Designate does: sorted, in pages, with a link whenever a page is full.
type designate struct {
	zones []map[string]any
	// requests are the paths and queries that were asked for.
	mu       sync.Mutex
	requests []string
	// alter changes a page before it is written.
	alter func(number int, page map[string]any)
}

func (d *designate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	d.requests = append(d.requests, r.Method+" "+r.URL.RequestURI())
	number := len(d.requests)
	d.mu.Unlock()
	query := r.URL.Query()
	limit, _ := strconv.Atoi(query.Get("limit"))
	rest := d.zones
	for i, zone := range d.zones {
		if zone["id"] == query.Get("marker") {
			rest = d.zones[i+1:]
		}
	}
	records := rest[:min(limit, len(rest))]
	// The host is one that nobody can reach, as behind a proxy.
	links := map[string]any{"self": "http://designate.invalid:9001/v2/zones"}
	if len(records) == limit {
		links["next"] = fmt.Sprintf("http://designate.invalid:9001/v2/zones?limit=%d&marker=%s", limit, records[limit-1]["id"])
	}
	page := map[string]any{"zones": records, "links": links, "metadata": map[string]any{"total_count": len(d.zones)}}
	if d.alter != nil {
		d.alter(number, page)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(page)
}

func zonesUpTo(count int) []map[string]any {
	zones := make([]map[string]any, 0, count)
	for i := range count {
		zones = append(zones, zone(i))
	}
	return zones
}

// names are those of all zones that a client lists.
func names(t *testing.T, c *Client) ([]string, error) {
	t.Helper()
	// A listing without end ends here, too.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var names []string
	err := c.EachZone(ctx, func(zone Zone) error {
		names = append(names, zone.Name)
		return nil
	})
	return names, err
}

func diff(t *testing.T, want, got any, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// normalised is what a body is once it has been sent.
func normalised(t *testing.T, body any) map[string]any {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

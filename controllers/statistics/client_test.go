package statistics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/designate-pools/designate-pool-operator/controllers/answers"
)

func TestAServerIsAskedAtItsAddress(t *testing.T) {
	for address, want := range map[string]string{
		"10.96.0.7":        "http://10.96.0.7:8053/json/v1/zones",
		"fd00::7":          "http://[fd00::7]:8053/json/v1/zones",
		"::ffff:10.96.0.7": "http://[::ffff:10.96.0.7]:8053/json/v1/zones",
		"fe80::1%eth0":     "http://[fe80::1%25eth0]:8053/json/v1/zones",
	} {
		t.Run(address, func(t *testing.T) {
			asked := ""
			c := NewClient(Limits{})
			c.http.Transport = roundTrip(func(request *http.Request) (*http.Response, error) {
				asked = request.Method + " " + request.URL.String()
				return nil, errors.New("not sent")
			})
			zones, err := c.Zones(t.Context(), address)
			wantError(t, zones, err, Unreachable)
			if asked != "GET "+want {
				t.Errorf("got %q, want GET %q", asked, want)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func TestWhatIsNoAddressIsNotAsked(t *testing.T) {
	for name, address := range map[string]string{
		"nothing": "", "a name": "localhost", "a port": "127.0.0.1:8053", "a path": "127.0.0.1/x", "brackets": "[::1]", "control characters": "127.0.0.1\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := NewClient(Limits{})
			c.http.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
				t.Error("something was asked")
				return nil, errors.New("not sent")
			})
			zones, err := c.Zones(t.Context(), address)
			e := errorOf(t, zones, err, Unreachable)
			if e.Detail != "not an IP address" || strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("got %q", err)
			}
		})
	}
}

func TestAServerThatDoesNotAnswerIsUnreachable(t *testing.T) {
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		limits  Limits
		says    string
	}{
		"no answer":                {stall(""), quick, answers.ErrTooSlow.Error()},
		"an answer that pauses":    {stall(`{"views":{"_default":{"zones":[`), quick, answers.ErrPaused.Error()},
		"a list that is over, but": {stall(strings.TrimSuffix(zones(record("a.example.org", "1")), "}")), quick, answers.ErrPaused.Error()},
		"an answer that dribbles": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				fmt.Fprint(w, " ")
				w.(http.Flusher).Flush()
				time.Sleep(5 * time.Millisecond)
			}
		}, quick, answers.ErrTooSlow.Error()},
		"a connection that ends at once": {hijack(""), patient, "the connection ended without an answer"},
		"a connection that breaks":       {hijack("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"views\":{\"_default\":{}}}"), patient, "connection reset"},
		"what is not HTTP":               {hijack(secret + "\r\n\r\n"), patient, "not HTTP"},
		"a header without end":           {hijack("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2*maxHeader) + "\r\n\r\n"), patient, "not HTTP"},
	} {
		t.Run(name, func(t *testing.T) {
			port := serve(t, test.handler)
			began := time.Now()
			zones, err := ask(t, test.limits, port)
			if e := errorOf(t, zones, err, Unreachable); !strings.Contains(e.Detail, test.says) {
				t.Errorf("got %q, want %q", e.Detail, test.says)
			}
			if took := time.Since(began); took > 10*test.limits.Request {
				t.Errorf("it took %s", took)
			}
		})
	}
	t.Run("nothing listens", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listener.Close()
		zones, err := ask(t, patient, listener.Addr().(*net.TCPAddr).Port)
		if e := errorOf(t, zones, err, Unreachable); !strings.Contains(e.Detail, "connection refused") {
			t.Errorf("got %q", e.Detail)
		}
	})
}

// stall answers with something and then nothing more, until the client has gone.
func stall(before string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if before != "" {
			fmt.Fprint(w, before)
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}
}

// hijack sends bytes and breaks the connection; without any it ends the connection as it should be.
func hijack(bytes string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer connection.Close()
		if bytes == "" {
			return
		}
		fmt.Fprint(connection, bytes)
		// What was sent arrives before the end does.
		time.Sleep(50 * time.Millisecond)
		_ = connection.(*net.TCPConn).SetLinger(0)
	}
}

func TestAPauseWithinTheLimitsIsNoError(t *testing.T) {
	port := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for part := range strings.SplitAfterSeq(zones(record("a.example.org", "1")), ",") {
			fmt.Fprint(w, part)
			w.(http.Flusher).Flush()
			time.Sleep(quick.Idle / 10)
		}
	})
	got, err := ask(t, Limits{Request: patient.Request, Idle: quick.Idle}, port)
	wantZones(t, got, err, Zone{Name: "a.example.org.", Loaded: true, Serial: 1})
}

func TestAStatusSaysWhetherItCanBeKnown(t *testing.T) {
	for status, want := range map[int]Kind{
		404: NotSupported,
		204: Unreachable, 206: Unreachable, 400: Unreachable, 403: Unreachable, 500: Unreachable, 502: Unreachable, 503: Unreachable,
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			port := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				if status != http.StatusNoContent {
					// Nor does a body that would be right count.
					fmt.Fprint(w, zones(record(secret, "1")))
				}
			})
			got, err := ask(t, patient, port)
			if e := errorOf(t, got, err, want); e.Status != status {
				t.Errorf("got status %d", e.Status)
			}
		})
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		reached := atomic.Bool{}
		port := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				reached.Store(true)
				fmt.Fprint(w, zones())
				return
			}
			http.Redirect(w, r, "/elsewhere", status)
		})
		got, err := ask(t, patient, port)
		if e := errorOf(t, got, err, Unreachable); e.Status != status || reached.Load() {
			t.Errorf("got %v, followed: %v", e, reached.Load())
		}
	}
}

func TestAnAnswerThatIsCutOffAnywhereIsMalformed(t *testing.T) {
	whole := zones(record("a.example.org", "1"), record("b.example.org", ""))
	for length := range len(whole) {
		port := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000000")
			fmt.Fprint(w, whole[:length])
		})
		got, err := ask(t, patient, port)
		wantError(t, got, err, Malformed)
	}
}

func TestAnAnswerIsNotWholeBeforeTheServerSaysSo(t *testing.T) {
	port := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, zones(record("a.example.org", "1")))
	})
	got, err := ask(t, patient, port)
	if e := errorOf(t, got, err, Malformed); e.Detail != "the answer is cut off" {
		t.Errorf("got %q", e.Detail)
	}
}

func TestAnAnswerWithoutEndIsMalformed(t *testing.T) {
	for name, piece := range map[string]string{
		"of nothing":       strings.Repeat(" ", 1<<16),
		"of one long text": strings.Repeat("x", 1<<16),
	} {
		t.Run(name, func(t *testing.T) {
			var sent atomic.Int64
			port := serve(t, func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprint(w, `{"views":{"_default":{"zones":[{"name":`)
				if strings.HasPrefix(piece, "x") {
					fmt.Fprint(w, `"`)
				}
				for ; r.Context().Err() == nil && sent.Load() < defaultBody; sent.Add(int64(len(piece))) {
					fmt.Fprint(w, piece)
				}
			})
			got, err := ask(t, patient, port)
			if e := errorOf(t, got, err, Malformed); e.Detail != answers.ErrTooLarge.Error() {
				t.Errorf("got %q", e.Detail)
			}
			if sent.Load() > defaultBody/4 {
				t.Errorf("%d bytes were read", sent.Load())
			}
		})
	}
}

func TestAnAnswerOfMoreThanMakesSenseIsMalformed(t *testing.T) {
	const limit = 8 << 20
	var last atomic.Int64
	port := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"views":{"other":{"zones":[0`)
		junk := `,"` + strings.Repeat("x", 1<<18) + `"`
		for sent := int64(0); r.Context().Err() == nil && sent < 2*limit; sent += int64(len(junk)) {
			fmt.Fprint(w, junk)
			last.Store(sent)
		}
	})
	got, err := ask(t, Limits{Request: 2 * time.Minute, Idle: time.Minute, Body: limit}, port)
	if e := errorOf(t, got, err, Malformed); e.Detail != answers.ErrTooLarge.Error() {
		t.Errorf("got %q", e.Detail)
	}
	if last.Load() < limit/2 {
		t.Errorf("it was given up after %d bytes", last.Load())
	}
}

func TestWhoeverAsksMayGiveUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	port := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"views":`)
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	})
	got, err := newClient(patient, port, newTransport()).Zones(ctx, "127.0.0.1")
	wantError(t, got, err, Unreachable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not tell who gave up", err)
	}
}

func TestNoConnectionIsKept(t *testing.T) {
	var connections atomic.Int64
	port := serve(t, func(w http.ResponseWriter, r *http.Request) {
		connections.Add(1)
		if !r.Close {
			t.Error("the connection is to be kept")
		}
		fmt.Fprint(w, zones())
	})
	c := newClient(patient, port, newTransport())
	for range 3 {
		got, err := c.Zones(t.Context(), "127.0.0.1")
		wantZones(t, got, err)
	}
	if connections.Load() != 3 {
		t.Errorf("%d requests", connections.Load())
	}
}

func TestProxiesOfTheEnvironmentHaveNoSay(t *testing.T) {
	if newTransport().Proxy != nil {
		t.Error("there is a proxy")
	}
}

func TestErrorsOfOthersSayThatNothingIsKnown(t *testing.T) {
	if kind := KindOf(errors.New("another")); kind != Unreachable {
		t.Errorf("got %s", kind)
	}
}

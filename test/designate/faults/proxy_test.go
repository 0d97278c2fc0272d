package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// page is what the server behind the proxy answers: as many records as asked for, after a marker, with a link.
func page(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, `{"records":["after %s, %s of them"],"links":{"self":"http://%s/","next":"http://%s/next"}}`,
		r.URL.Query().Get("marker"), r.URL.Query().Get("limit"), r.Host, r.Host)
}

func start(t *testing.T) *Proxy {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(page))
	t.Cleanup(server.Close)
	proxy, err := Start("127.0.0.1:0", server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proxy.Refuse(); err != nil {
			t.Error(err)
		}
	})
	return proxy
}

// ask asks the proxy for a page, and gives up after a while.
func ask(t *testing.T, proxy *Proxy, path string) (status int, body string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, proxy.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

func whole(proxy *Proxy, after, limit string) string {
	return fmt.Sprintf(`{"records":["after %s, %s of them"],"links":{"self":"%s/","next":"%s/next"}}`, after, limit, proxy.URL, proxy.URL)
}

func TestFaults(t *testing.T) {
	const path = "/v2/zones?limit=5&marker=m"
	for name, test := range map[string]struct {
		fault  Fault
		status int
		body   func(*Proxy) string
		// broken is what err is, if there is to be one.
		broken error
		failed bool
	}{
		"a status of the proxy's own": {
			fault: Status(http.StatusTeapot, "short", "Retry-After", "5"), status: http.StatusTeapot,
			body: func(*Proxy) string { return "short" },
		},
		"a delay that ends":                         {fault: Delay(time.Millisecond), status: http.StatusOK, body: func(p *Proxy) string { return whole(p, "m", "5") }},
		"a delay that is longer than anybody waits": {fault: Delay(time.Hour), broken: context.DeadlineExceeded},
		"no answer at all":                          {fault: Freeze(), broken: context.DeadlineExceeded},
		"an answer that stops": {
			fault: FreezeHalfWay(), status: http.StatusOK, broken: context.DeadlineExceeded,
			body: func(p *Proxy) string { w := whole(p, "m", "5"); return w[:len(w)/2] },
		},
		"an answer that is cut off": {
			fault: CutOff(), status: http.StatusOK, broken: io.ErrUnexpectedEOF,
			body: func(p *Proxy) string { w := whole(p, "m", "5"); return w[:len(w)/2] },
		},
		"half an answer": {
			fault: Half(), status: http.StatusOK, body: func(p *Proxy) string { w := whole(p, "m", "5"); return w[:len(w)/2] },
		},
		"a connection that ends": {fault: Reset(), failed: true},
		"the first page over and over again": {
			fault: Loop(), status: http.StatusOK, body: func(p *Proxy) string { return whole(p, "", "1") },
		},
		"a page without its link": {
			fault: Short(), status: http.StatusOK,
			body: func(p *Proxy) string {
				return fmt.Sprintf(`{"links":{"self":"%s/"},"records":["after m, 1 of them"]}`, p.URL)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := start(t)
			proxy.Break("/v2/zones", test.fault)
			status, body, err := ask(t, proxy, path)
			if (err != nil) != (test.failed || test.broken != nil) || (test.broken != nil && !errors.Is(err, test.broken)) {
				t.Errorf("the error is %v, want %v", err, test.broken)
			}
			if want := test.body; status != test.status || (want != nil && body != want(proxy)) {
				t.Errorf("got %d %q, want %d", status, body, test.status)
			}
			if _, body, err := ask(t, proxy, "/v2/pools?limit=9"); err != nil || body != whole(proxy, "", "9") {
				t.Errorf("another path meets the fault as well: %q, %v", body, err)
			}
			proxy.Mend()
			if _, body, err := ask(t, proxy, path); err != nil || body != whole(proxy, "m", "5") {
				t.Errorf("mended, it answers %q, %v", body, err)
			}
			if got := proxy.Requests("/v2/"); got != 3 {
				t.Errorf("%d requests were counted, want 3", got)
			}
		})
	}
}

func TestConnectionsAreRefusedAndTakenAgainAtTheSameAddress(t *testing.T) {
	proxy := start(t)
	if _, _, err := ask(t, proxy, "/"); err != nil {
		t.Fatal(err)
	}
	if err := proxy.Refuse(); err != nil {
		t.Fatal(err)
	}
	if status, _, err := ask(t, proxy, "/"); err == nil {
		t.Errorf("a connection was taken: %d", status)
	}
	if err := proxy.Accept(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ask(t, proxy, "/"); err != nil {
		t.Errorf("no connection is taken again: %v", err)
	}
}

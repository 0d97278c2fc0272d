package designate

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/designate-pools/designate-pool-operator/controllers/answers"
)

// stall answers with something and then nothing more, until the client has gone.
func stall(before string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// Until the request has been read, a server does not notice that the client has gone.
		_, _ = io.Copy(io.Discard, r.Body)
		if before != "" {
			fmt.Fprint(w, before)
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}
}

func TestNoServerIsWaitedForWithoutEnd(t *testing.T) {
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		limits  Limits
		says    error
	}{
		"no answer":             {stall(""), quick, answers.ErrTooSlow},
		"an answer that pauses": {stall(`{"zones": [`), quick, answers.ErrPaused},
		"an answer that dribbles": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				fmt.Fprint(w, " ")
				w.(http.Flusher).Flush()
				time.Sleep(5 * time.Millisecond)
			}
		}, quick, answers.ErrTooSlow},
		"an error whose body pauses": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			stall("{")(w, r)
		}, quick, nil},
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, test.handler)
			began := time.Now()
			_, err := names(t, connected(t, Access{Endpoint: server.URL}, test.limits))
			e := errorOf(t, err, Unreachable)
			if test.says != nil && e.Detail != test.says.Error() {
				t.Errorf("got %q, want %q", e.Detail, test.says)
			}
			if took := time.Since(began); took > 10*quick.Request {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestAPauseWithinTheLimitsIsNoError(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for _, part := range []string{`{"zones": [], `, `"links": {}, `, `"metadata": {"total_count": 0}}`} {
			fmt.Fprint(w, part)
			w.(http.Flusher).Flush()
			time.Sleep(quick.Idle / 5)
		}
	})
	_, err := names(t, connected(t, Access{Endpoint: server.URL}, quick))
	wantKind(t, err, "")
}

func TestAnAnswerWithoutEndIsMalformed(t *testing.T) {
	blank := strings.Repeat(" ", 1<<20)
	for name, status := range map[string]int{"as a page": 200, "as an error": 500} {
		t.Run(name, func(t *testing.T) {
			var sent atomic.Int64
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(status)
				for ; r.Context().Err() == nil && sent.Load() < 4*maxBody; sent.Add(int64(len(blank))) {
					fmt.Fprint(w, blank)
				}
			})
			_, err := names(t, connected(t, Access{Endpoint: server.URL}, patient))
			want := Malformed
			if status != 200 {
				want = Unreachable
			}
			wantKind(t, err, want)
			if sent.Load() >= 4*maxBody {
				t.Errorf("all of it was read")
			}
		})
	}
}

func TestAnAnswerThatIsCutOffIsMalformed(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, `{"zones": [], "links": {}, "metadata": {"total_count": 0}}`)
	})
	_, err := names(t, connected(t, Access{Endpoint: server.URL}, patient))
	wantKind(t, err, Malformed)
}

func TestARedirectIsNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		reached := false
		elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { reached = true })
		server := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) })
		_, err := names(t, connected(t, Access{Endpoint: server.URL}, patient))
		if e := errorOf(t, err, Unreachable); e.Status != status || reached {
			t.Errorf("got %v, followed: %v", e, reached)
		}
	}
}

func TestProxiesOfTheEnvironmentHaveNoSay(t *testing.T) {
	if newTransport(nil).Proxy != nil {
		t.Error("there is a proxy")
	}
}

func TestAServerIsCheckedAgainstTheCertificatesOfTheSecret(t *testing.T) {
	server := httptest.NewUnstartedServer(&designate{zones: zonesUpTo(1)})
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for name, test := range map[string]struct {
		ca   []byte
		want Kind
	}{
		"the right ones":      {certificate, ""},
		"those of the system": {nil, Unreachable},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Connect(t.Context(), Access{Endpoint: server.URL, CACert: test.ca}, patient)
			wantKind(t, err, "")
			t.Cleanup(c.Close)
			got, err := names(t, c)
			if e := errorOf(t, err, test.want); e != nil && !strings.Contains(e.Detail, "certificate") {
				t.Errorf("%q does not tell of a certificate", e.Detail)
			} else if e == nil && len(got) != 1 {
				t.Errorf("got %q", got)
			}
		})
	}
	_, err := Connect(t.Context(), Access{Endpoint: server.URL, CACert: []byte(secret)}, patient)
	wantKind(t, err, Unusable)
}

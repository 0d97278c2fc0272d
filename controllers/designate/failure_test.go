package designate

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"
)

// ours is an error as Designate writes it.
func ours(status int, kind, message string) string {
	return fmt.Sprintf(`{"code": %d, "type": %q, "message": %q, "request_id": "req-%s"}`, status, kind, message, secret)
}

const html = "<!doctype html><title>" + secret + "</title>"

func TestAnAnswerMeansWhatDesignateHasSaid(t *testing.T) {
	for name, test := range map[string]struct {
		status     int
		header     map[string]string
		body       string
		want       Kind
		retryAfter time.Duration
	}{
		"no such pool":                            {404, nil, ours(404, "pool_not_found", "Could not find Pool"), NotFound, 0},
		"an URL that Designate does not know":     {404, nil, ours(404, "not_found", "resource not found"), Unreachable, 0},
		"an ingress without a backend":            {404, nil, "default backend - 404", Unreachable, 0},
		"404 in HTML":                             {404, nil, html, Unreachable, 0},
		"404 and nothing else":                    {404, nil, "", Unreachable, 0},
		"404 as Keystone says it":                 {404, nil, `{"error": {"code": 404, "title": "Not Found"}}`, Unreachable, 0},
		"404 whose body says another code":        {404, nil, ours(200, "pool_not_found", ""), Unreachable, 0},
		"404 in JSON of somebody else":            {404, nil, `{"kind": "Status", "code": 404}`, Unreachable, 0},
		"zones remain":                            {400, nil, ours(400, "invalid_operation", "pool must not contain zones"), PoolNotEmpty, 0},
		"another invalid operation":               {400, nil, ours(400, "invalid_operation", secret), Refused, 0},
		"an id that is none":                      {400, nil, ours(400, "invalid_uuid", secret), Refused, 0},
		"the marker is gone":                      {400, nil, ours(400, "marker_not_found", secret), Malformed, 0},
		"400 of a proxy":                          {400, nil, html, Unreachable, 0},
		"400 of Keystone":                         {400, nil, `{"error": {"code": 400, "title": "Bad Request"}}`, Refused, 0},
		"a name that is taken":                    {409, nil, ours(409, "duplicate_tsigkey", ""), AlreadyExists, 0},
		"409 of a proxy":                          {409, nil, html, Unreachable, 0},
		"over quota":                              {413, nil, ours(413, "over_quota", ""), Refused, 0},
		"413 of a proxy":                          {413, nil, html, Unreachable, 0},
		"no token":                                {401, nil, `{"error": {"code": 401}}`, Unauthorised, 0},
		"not an administrator":                    {403, nil, ours(403, "forbidden", ""), Unauthorised, 0},
		"403 with nothing in it":                  {403, nil, "", Unauthorised, 0},
		"too many requests":                       {429, nil, "", Overloaded, 0},
		"too many requests, for some seconds":     {429, map[string]string{"Retry-After": "7"}, "", Overloaded, 7 * time.Second},
		"maintenance":                             {503, map[string]string{"Retry-After": "60"}, "", Overloaded, time.Minute},
		"Keystone is dead":                        {503, nil, html, Unreachable, 0},
		"central is dead":                         {504, nil, ours(504, "timeout", ""), Unreachable, 0},
		"a bug":                                   {500, nil, ours(500, "unknown", secret), Unreachable, 0},
		"502":                                     {502, nil, html, Unreachable, 0},
		"a redirect":                              {302, map[string]string{"Location": "http://elsewhere.invalid/"}, html, Unreachable, 0},
		"a success of another kind":               {200, nil, "{}", Malformed, 0},
		"JSON that is not an object":              {404, nil, `["pool_not_found"]`, Unreachable, 0},
		"a type that is a text":                   {400, nil, ours(400, secret+" <b>", ""), Refused, 0},
		"a pool that must not, in another answer": {500, nil, ours(500, "unknown", "pool must not contain zones"), Unreachable, 0},
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				for key, value := range test.header {
					w.Header().Set(key, value)
				}
				w.WriteHeader(test.status)
				fmt.Fprint(w, test.body)
			})
			err := connected(t, Access{Endpoint: server.URL}, patient).DeletePool(t.Context(), "an-id")
			e := errorOf(t, err, test.want)
			if e.Status != test.status || e.RetryAfter != test.retryAfter || e.Operation != "delete pool" {
				t.Errorf("got status %d, retry after %s, operation %q", e.Status, e.RetryAfter, e.Operation)
			}
			if IsNotFound(err) != (test.want == NotFound) {
				t.Errorf("IsNotFound: %v", IsNotFound(err))
			}
		})
	}
}

func TestRetryAfterIsReadAndBounded(t *testing.T) {
	const now = "Tue, 01 Dec 2026 00:00:00 GMT"
	for name, test := range map[string]struct {
		value, date string
		want        time.Duration
	}{
		"absent":                   {"", now, 0},
		"seconds":                  {"12", now, 12 * time.Second},
		"negative":                 {"-12", now, 0},
		"days":                     {"999999", now, time.Hour},
		"a number like no other":   {"99999999999999999999", now, 0},
		"more seconds than a time": {"9223372036854775807", now, time.Hour},
		"a date":                   {"Tue, 01 Dec 2026 00:00:30 GMT", now, 30 * time.Second},
		"a date that is over":      {"Mon, 30 Nov 2026 00:00:30 GMT", now, 0},
		"a date far ahead":         {"Tue, 01 Dec 2027 00:00:30 GMT", now, time.Hour},
		"a date, and no own one":   {"Tue, 01 Dec 2026 00:00:30 GMT", "", 0},
		"neither":                  {"soon", now, 0},
	} {
		t.Run(name, func(t *testing.T) {
			header := http.Header{"Retry-After": {test.value}, "Date": {test.date}}
			if got := retryAfter(header); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestAnAnswerOfAnotherKindIsMalformed(t *testing.T) {
	for name, body := range map[string]string{
		"HTML": html, "nothing": "", "a text": `"` + secret + `"`, "a list": "[]", "null": "null",
		"cut off after a name": `{"zones": [], "links"`, "cut off between members": `{"zones": [], "links": {}`, "cut off in a zone": `{"zones": [{"id": "` + secret,
		"followed by another":  `{"zones": [], "links": {}, "metadata": {"total_count": 0}} {"zones": []}`,
		"with its zones twice": `{"zones": [], "links": {}, "metadata": {"total_count": 0}, "zones": []}`,
		"an error under 200":   ours(404, "pool_not_found", ""),
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
			_, err := names(t, connected(t, Access{Endpoint: server.URL}, patient))
			wantKind(t, err, Malformed)
		})
	}
}

func TestAServerThatCannotBeReachedIsUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	hangUp := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		connection, _, _ := w.(http.Hijacker).Hijack()
		_ = connection.Close()
	})
	garbage := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		connection, _, _ := w.(http.Hijacker).Hijack()
		_, _ = connection.Write([]byte(secret + "\r\n\r\n"))
		_ = connection.Close()
	})
	for name, endpoint := range map[string]string{
		"refused": "http://" + refused, "no such name": "http://designate.invalid:9001",
		"no TLS there": "https://" + plain.Listener.Addr().String(), "hangs up": hangUp.URL, "not HTTP": garbage.URL,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := names(t, connected(t, Access{Endpoint: endpoint}, patient))
			if e := errorOf(t, err, Unreachable); e.Detail == "" || e.Status != 0 || errors.Unwrap(e) != nil {
				t.Errorf("got %#v", e)
			}
		})
	}
}

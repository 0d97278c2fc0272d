package designate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// keystone gives out tokens for a password, and answers as a Designate that takes the newest of them.
type keystone struct {
	mu       sync.Mutex
	password string
	// issued is how many tokens were given out; only the last one counts, and none when revoked is set.
	issued, refused int
	revoked         bool
	// powerless is how many of the first tokens are of a user who has no role yet.
	powerless int
	// fault answers instead of Keystone, when set.
	fault     http.HandlerFunc
	catalogue string
	designate designate
}

func (k *keystone) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.URL.Path != "/v3/auth/tokens" {
		if k.revoked || r.Header.Get("X-Auth-Token") != fmt.Sprintf("token-%d", k.issued) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if k.issued <= k.powerless {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		k.designate.ServeHTTP(w, r)
		return
	}
	if k.fault != nil {
		k.fault(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	if !strings.Contains(string(body), `"password":"`+k.password+`"`) {
		k.refused++
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error": {"code": 401, "message": %q}}`, secret)
		return
	}
	k.issued++
	w.Header().Set("X-Subject-Token", fmt.Sprintf("token-%d", k.issued))
	w.WriteHeader(http.StatusCreated)
	endpoint := func(region, url string) map[string]any {
		return map[string]any{"interface": "public", "region": region, "region_id": region, "url": url}
	}
	catalogue := []map[string]any{
		{"type": "identity", "endpoints": []any{endpoint("west", "http://identity.invalid")}},
		{"type": "dns", "endpoints": []any{endpoint("west", "http://"+r.Host), endpoint("east", k.catalogue)}},
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"token": map[string]any{"catalog": catalogue, "expires_at": "2030-01-01T00:00:00.000000Z"}})
}

func (k *keystone) set(change func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change()
}

// west is the access to its region west.
func west(url string) Access {
	return Access{Cloud: "dns", CloudsYAML: []byte(password(url, "    region_name: west\n"))}
}

func TestATokenThatIsNotTakenAnyMoreIsRenewedOnce(t *testing.T) {
	k := &keystone{password: secret, designate: designate{zones: zonesUpTo(1)}}
	c := connected(t, west(serve(t, k.ServeHTTP).URL), patient)
	_, err := names(t, c)
	wantKind(t, err, "")
	k.set(func() { k.issued++ })
	_, err = names(t, c)
	wantKind(t, err, "")
	if k.issued != 3 {
		t.Errorf("%d tokens, want one more than that which was lost", k.issued)
	}
	k.set(func() { k.revoked = true })
	_, err = names(t, c)
	wantKind(t, err, Unauthorised)
	if k.issued != 4 {
		t.Errorf("%d tokens: it did not ask for one, once", k.issued)
	}
}

func TestAPasswordThatHasChangedIsUnauthorisedAfterOneAttempt(t *testing.T) {
	k := &keystone{password: secret, designate: designate{zones: zonesUpTo(1)}}
	c := connected(t, west(serve(t, k.ServeHTTP).URL), patient)
	k.set(func() { k.password, k.issued = "another", 9 })
	_, err := names(t, c)
	wantKind(t, err, Unauthorised)
	if k.refused != 1 {
		t.Errorf("it tried %d times", k.refused)
	}
}

func TestAKeystoneThatFailsWhileATokenIsRenewedIsNoRefusal(t *testing.T) {
	k := &keystone{password: secret, designate: designate{zones: zonesUpTo(1)}}
	c := connected(t, west(serve(t, k.ServeHTTP).URL), patient)
	for name, test := range map[string]struct {
		fault http.HandlerFunc
		want  Kind
	}{
		"503":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, Unreachable},
		"429":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, Overloaded},
		"HTML": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated); fmt.Fprint(w, html) }, Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			k.set(func() { k.fault, k.issued = test.fault, k.issued+1 })
			_, err := names(t, c)
			wantKind(t, err, test.want)
			if c.refused.Load() {
				t.Error("the credentials count as refused")
			}
		})
	}
}

func TestConnectingFailsAsKeystoneDoes(t *testing.T) {
	for name, test := range map[string]struct {
		fault http.HandlerFunc
		want  Kind
	}{
		"a wrong password": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, Unauthorised},
		"Keystone is dead": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, html)
		}, Unreachable},
		"Keystone is elsewhere":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound); fmt.Fprint(w, html) }, Unreachable},
		"Keystone is overloaded":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, Overloaded},
		"Keystone does not speak": {stall(""), Unreachable},
		"what is there is HTML":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated); fmt.Fprint(w, html) }, Malformed},
		"there is no catalogue": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Subject-Token", "t")
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"token": {}}`)
		}, Unusable},
	} {
		t.Run(name, func(t *testing.T) {
			k := &keystone{fault: test.fault}
			_, err := connectCounted(t, west(serve(t, func(w http.ResponseWriter, r *http.Request) { k.fault(w, r) }).URL), quick)
			wantKind(t, err, test.want)
		})
	}
}

func TestOfSeveralEndpointsNoneIsGuessed(t *testing.T) {
	k := &keystone{password: secret, catalogue: "http://east.invalid", designate: designate{zones: zonesUpTo(1)}}
	url := serve(t, k.ServeHTTP).URL
	for name, test := range map[string]struct {
		more string
		want Kind
		says string
	}{
		"without a region":        {"", Unusable, "region_name"},
		"with one that is there":  {"    region_name: west\n", "", ""},
		"with one that is not":    {"    region_name: north\n", Unusable, "north"},
		"with another interface":  {"    region_name: west\n    interface: internal\n", Unusable, "internal"},
		"with an endpoint itself": {"    dns_endpoint_override: " + url + "\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := connectCounted(t, Access{Cloud: "dns", CloudsYAML: []byte(password(url, test.more))}, patient)
			if e := errorOf(t, err, test.want); e != nil {
				if !strings.Contains(e.Error(), test.says) {
					t.Errorf("%q does not say %q", e.Error(), test.says)
				}
				return
			}
			_, err = names(t, c)
			wantKind(t, err, "")
		})
	}
}

func TestWithoutKeystoneTheHeadersSayWhoAsks(t *testing.T) {
	var got http.Header
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { got = r.Header; w.WriteHeader(http.StatusNoContent) })
	wantKind(t, connected(t, Access{Endpoint: server.URL}, patient).DeletePool(t.Context(), "a"), "")
	for key, want := range map[string]string{"X-Roles": "admin", "X-Auth-User-Id": userAgent, "X-Auth-Project-Id": userAgent, "X-Auth-Token": "",
		"X-Auth-All-Projects": "true"} {
		if got.Get(key) != want {
			t.Errorf("%s is %q, want %q", key, got.Get(key), want)
		}
	}
	if !strings.HasPrefix(got.Get("User-Agent"), userAgent) {
		t.Errorf("the user agent is %q", got.Get("User-Agent"))
	}
}

func TestARecordIsDeletedByItsIDAlone(t *testing.T) {
	var asked []string
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.RequestURI())
		w.WriteHeader(http.StatusNoContent)
	})
	c := connected(t, Access{Endpoint: server.URL}, patient)
	wantKind(t, c.DeletePool(t.Context(), "../zones/a?b"), "")
	wantKind(t, c.DeleteTSIGKey(t.Context(), "k"), "")
	wantKind(t, c.DeletePool(t.Context(), ""), Refused)
	diff(t, []string{"DELETE /v2/pools/..%2Fzones%2Fa%3Fb?all_projects=true", "DELETE /v2/tsigkeys/k?all_projects=true"}, asked)
}

func TestTSIGKeysAreMadeForAPoolAndListed(t *testing.T) {
	var sent map[string]any
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_ = json.NewDecoder(r.Body).Decode(&sent)
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"id": "i", "name": "n", "algorithm": "hmac-sha256", "secret": "c2E=", "scope": "POOL", "resource_id": "p"}`)
			return
		}
		fmt.Fprint(w, `{"tsigkeys": [{"id": "a", "name": "of-a-zone", "scope": "ZONE", "resource_id": "z"},
			{"id": "i", "name": "n", "algorithm": "hmac-sha256", "secret": "c2E=", "scope": "POOL", "resource_id": "p"}], "links": {}}`)
	})
	limits := patient
	limits.PageSize = 10
	c := connected(t, Access{Endpoint: server.URL}, limits)
	key := TSIGKey{Name: "n", Algorithm: "hmac-sha256", Secret: "c2E=", PoolID: "p"}
	created, err := c.CreateTSIGKey(t.Context(), key)
	wantKind(t, err, "")
	diff(t, map[string]any{"name": "n", "algorithm": "hmac-sha256", "secret": "c2E=", "scope": "POOL", "resource_id": "p"}, sent)
	key.ID = "i"
	diff(t, key, created)
	listed, err := c.TSIGKeys(t.Context())
	wantKind(t, err, "")
	diff(t, []TSIGKey{{ID: "a", Name: "of-a-zone"}, key}, listed)
}

func TestATSIGKeyWhoseAnswerIsLostIsNotCreated(t *testing.T) {
	for name, body := range map[string]string{"HTML": html, "nothing": "", "no id": `{"name": "n"}`} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated); fmt.Fprint(w, body) })
			_, err := connected(t, Access{Endpoint: server.URL}, patient).CreateTSIGKey(t.Context(), TSIGKey{Name: "n"})
			wantKind(t, err, Malformed)
		})
	}
}

func TestEveryRequestIsCountedByWhatItCameTo(t *testing.T) {
	server := &designate{zones: zonesUpTo(3)}
	url := serve(t, server.ServeHTTP).URL
	count := func(outcome string) float64 {
		return counted(t, opListZones, outcome)
	}
	success, malformed, abandoned := count(outcomeSuccess), count(string(Malformed)), count(outcomeAbandoned)
	c := connected(t, Access{Endpoint: url}, patient)
	_, err := names(t, c)
	wantKind(t, err, "")
	server.alter = func(_ int, page map[string]any) { delete(page, "zones") }
	_, err = names(t, c)
	wantKind(t, err, Malformed)
	server.alter = nil
	_ = c.EachZone(t.Context(), func(Zone) error { return errors.New("enough") })
	diff(t, []float64{2, 1, 1}, []float64{count(outcomeSuccess) - success, count(string(Malformed)) - malformed, count(outcomeAbandoned) - abandoned})
}

// counted is what the registry that the operator serves says of an operation and an outcome.
func counted(t *testing.T, operation, outcome string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if family.GetName() == "designate_pool_operator_designate_requests_total" &&
				labels["operation"] == operation && labels["outcome"] == outcome {
				return metric.GetCounter().GetValue()
			}
		}
	}
	return 0
}

package client

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	"sigs.k8s.io/yaml"

	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

type object = map[string]any

// noAuth is the access to the API that believes its headers.
func noAuth() designate.Access { return designate.Access{Endpoint: stack.NoAuthURL} }

// cloud is the access with what goes into `auth` of clouds.yaml, and with more beside it.
func cloud(auth, more object) designate.Access {
	auth["auth_url"] = stack.KeystoneURL
	entry := object{"auth": auth, "region_name": running.Region}
	maps.Copy(entry, more)
	text, err := yaml.Marshal(object{"clouds": object{"dns": entry}})
	Expect(err).NotTo(HaveOccurred())
	return designate.Access{Cloud: "dns", CloudsYAML: text}
}

// user are the credentials of a user without a scope.
func user(c running.Credentials) object {
	return object{"username": c.User, "password": c.Password, "user_domain_id": "default"}
}

// inProject are those of a user in their project.
func inProject(c running.Credentials) object {
	auth := user(c)
	auth["project_name"], auth["project_domain_id"] = c.Project, "default"
	return auth
}

// connect connects, and lets go in the end.
func connect(ctx context.Context, access designate.Access, pageSize int) *designate.Client {
	GinkgoHelper()
	client, err := designate.Connect(ctx, access, designate.Limits{PageSize: pageSize})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(client.Close)
	return client
}

// zones are the ids of all zones that a client lists.
func zones(ctx context.Context, client *designate.Client) ([]string, error) {
	ids := []string{}
	err := client.EachZone(ctx, func(zone designate.Zone) error {
		ids = append(ids, zone.ID)
		return nil
	})
	return ids, err
}

// beOfKind matches errors of a kind.
func beOfKind(kind designate.Kind) types.GomegaMatcher {
	return WithTransform(func(err error) designate.Kind {
		if err == nil {
			return "no error"
		}
		return designate.KindOf(err)
	}, Equal(kind))
}

// onlooker sees what requests go to an API, and changes nothing of them.
type onlooker struct {
	*httptest.Server

	mu       sync.Mutex
	requests []string
	token    string
}

func onlookAt(target string) *onlooker {
	GinkgoHelper()
	to, err := url.Parse(target)
	Expect(err).NotTo(HaveOccurred())
	o := &onlooker{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.requests = append(o.requests, fmt.Sprintf("%s %s", r.Method, r.URL.Path))
		o.token = r.Header.Get("X-Auth-Token")
		o.mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	DeferCleanup(o.Close)
	return o
}

// seen are the requests so far, and the token of the last one.
func (o *onlooker) seen() (requests []string, token string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.requests, o.token
}

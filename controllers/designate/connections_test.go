package designate

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// cloudsIn is the Secret of a namespace for a Keystone.
func cloudsIn(namespace, keystone, comment string) client.Object {
	s := credentials(map[string]string{"clouds.yaml": password(keystone, "    region_name: west\n"+comment)})
	s.Namespace = namespace
	return s
}

func backendIn(namespace string) *v1alpha1.DesignateBackend {
	backend := byCredentials()
	backend.Namespace = namespace
	return backend
}

func TestAClientIsKeptWhileItsCredentialsAreTheSame(t *testing.T) {
	k := &keystone{password: secret, designate: designate{zones: zonesUpTo(1)}}
	url := serve(t, k.ServeHTTP).URL
	cluster := fake.NewClientBuilder().WithObjects(cloudsIn("a", url, ""), cloudsIn("b", url, "")).Build()
	connections := NewConnections(cluster, patient)
	get := func(namespace string) *Client {
		t.Helper()
		c, err := connections.Client(t.Context(), backendIn(namespace))
		wantKind(t, err, "")
		t.Cleanup(c.Close)
		return c
	}
	first := get("a")
	if get("a") != first || k.issued != 1 {
		t.Error("asked again, it connects again")
	}
	if get("b") == first {
		t.Error("two namespaces share a client")
	}
	if err := cluster.Update(t.Context(), cloudsIn("a", url, "# changed")); err != nil {
		t.Fatal(err)
	}
	changed := get("a")
	if changed == first {
		t.Error("credentials that have changed are not taken up")
	}
	connections.Forget("a")
	if get("a") == changed {
		t.Error("what was forgotten is kept")
	}
	if err := cluster.Delete(t.Context(), cloudsIn("a", url, "")); err != nil {
		t.Fatal(err)
	}
	_, err := connections.Client(t.Context(), backendIn("a"))
	wantKind(t, err, Unusable)
	connections.Forget("nobody")
}

func TestARotatedPasswordHealsByItself(t *testing.T) {
	k := &keystone{password: secret, designate: designate{zones: zonesUpTo(1)}}
	cluster := fake.NewClientBuilder().WithObjects(cloudsIn("a", serve(t, k.ServeHTTP).URL, "")).Build()
	connections := NewConnections(cluster, patient)
	list := func() error {
		c, err := connections.Client(t.Context(), backendIn("a"))
		if err != nil {
			return err
		}
		t.Cleanup(c.Close)
		_, err = names(t, c)
		return err
	}
	wantKind(t, list(), "")
	k.set(func() { k.password, k.revoked = "another", true })
	wantKind(t, list(), Unauthorised)
	wantKind(t, list(), Unauthorised)
	k.set(func() { k.password, k.revoked = secret, false })
	wantKind(t, list(), "")
}

func TestARoleThatIsGrantedLaterIsTakenUpWithANewToken(t *testing.T) {
	k := &keystone{password: secret, powerless: 1, designate: designate{zones: zonesUpTo(1)}}
	cluster := fake.NewClientBuilder().WithObjects(cloudsIn("a", serve(t, k.ServeHTTP).URL, "")).Build()
	connections := NewConnections(cluster, patient)
	for _, want := range []Kind{Unauthorised, ""} {
		c, err := connections.Client(t.Context(), backendIn("a"))
		wantKind(t, err, "")
		t.Cleanup(c.Close)
		_, err = names(t, c)
		wantKind(t, err, want)
	}
}

func TestAnAPIServerThatDoesNotAnswerTakesNoClientAway(t *testing.T) {
	k := &keystone{password: secret}
	fails := false
	cluster := interceptor.NewClient(fake.NewClientBuilder().WithObjects(cloudsIn("a", serve(t, k.ServeHTTP).URL, "")).Build(), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if fails {
				return errors.New("connection refused")
			}
			return c.Get(ctx, key, object, options...)
		},
	})
	connections := NewConnections(cluster, patient)
	before, err := connections.Client(t.Context(), backendIn("a"))
	wantKind(t, err, "")
	t.Cleanup(before.Close)
	fails = true
	_, err = connections.Client(t.Context(), backendIn("a"))
	wantKind(t, err, Unreachable)
	fails = false
	if after, err := connections.Client(t.Context(), backendIn("a")); after != before {
		t.Errorf("it connected again (%v)", err)
	}
}

func TestASlowNamespaceKeepsNobodyElseWaiting(t *testing.T) {
	arrived := make(chan struct{}, 1)
	slow := serve(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		stall("")(w, r)
	})
	k := &keystone{password: secret}
	cluster := fake.NewClientBuilder().WithObjects(cloudsIn("slow", slow.URL, ""), cloudsIn("a", serve(t, k.ServeHTTP).URL, "")).Build()
	connections := NewConnections(cluster, patient)
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for range 3 {
		waiting.Go(func() {
			if _, err := connections.Client(ctx, backendIn("slow")); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
	<-arrived
	began := time.Now()
	c, err := connections.Client(t.Context(), backendIn("a"))
	wantKind(t, err, "")
	c.Close()
	connections.Forget("slow")
	if took := time.Since(began); took > patient.Request/2 {
		t.Errorf("it took %s", took)
	}
	cancel()
	waiting.Wait()
}

func TestManyAtOnceShareOneConnection(t *testing.T) {
	k := &keystone{password: secret, designate: designate{zones: zonesUpTo(3)}}
	cluster := fake.NewClientBuilder().WithObjects(cloudsIn("a", serve(t, k.ServeHTTP).URL, "")).Build()
	connections := NewConnections(cluster, patient)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			c, err := connections.Client(t.Context(), backendIn("a"))
			if err != nil {
				t.Error(err)
				return
			}
			if err := c.EachZone(t.Context(), func(Zone) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if k.issued != 1 {
		t.Errorf("%d tokens for one namespace", k.issued)
	}
	connections.Forget("a")
}

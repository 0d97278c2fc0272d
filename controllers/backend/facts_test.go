package backend

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

func TestGone(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "x", Labels: map[string]string{v1alpha1.LabelPoolUID: "uid-edge"}}
	living, anew := pool("edge", 0), pool("edge", 0)
	anew.UID = "uid-of-another-edge"
	for name, test := range map[string]struct {
		// exists is what the API server has, cached what the cache has of DesignatePools.
		exists []client.Object
		cached []v1alpha1.DesignatePool
		want   []types.UID
		// vanished says that something is left of it.
		vanished bool
	}{
		"nothing of it exists":                           {nil, nil, []types.UID{"uid-edge"}, false},
		"the pool exists":                                {[]client.Object{&living}, []v1alpha1.DesignatePool{living}, nil, false},
		"the pool exists, and the cache is behind":       {[]client.Object{&living}, nil, nil, false},
		"only another object of its name exists":         {[]client.Object{&anew}, []v1alpha1.DesignatePool{anew}, []types.UID{"uid-edge"}, false},
		"a pod is left":                                  {[]client.Object{&corev1.Pod{ObjectMeta: meta}}, nil, nil, true},
		"a claim is left":                                {[]client.Object{&corev1.PersistentVolumeClaim{ObjectMeta: meta}}, nil, nil, true},
		"a Secret is left":                               {[]client.Object{&corev1.Secret{ObjectMeta: meta}}, nil, nil, true},
		"a Service is left, and another of its name too": {[]client.Object{&anew, &corev1.Service{ObjectMeta: meta}}, nil, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := inForce(entry("edge", 1, 1, 5))
			s.pools = test.cached
			if err := (&Reconciler{APIReader: serverWith(t, test.exists...)}).gatherVanished(context.Background(), s); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, s.gone, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("gone (-want +got):\n%s", diff)
			}
			if got := len(s.vanished) > 0; got != test.vanished {
				t.Errorf("vanished: %v, want %v", got, test.vanished)
			}
		})
	}
}

// TestNothingIsGoneOnAnError lets each of the questions fail in turn, on a server that has nothing of the pool.
func TestNothingIsGoneOnAnError(t *testing.T) {
	down := errors.New("the API server is down")
	questions := 0
	for failing := 1; ; failing++ {
		asked := 0
		fails := func() bool { asked++; return asked == failing }
		c := interceptor.NewClient(serverWith(t), interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
				if fails() {
					return down
				}
				return c.Get(ctx, key, obj, opts...)
			},
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				if fails() {
					return down
				}
				return c.List(ctx, list, opts...)
			},
		})
		s := inForce(entry("edge", 1, 1, 5))
		err := (&Reconciler{APIReader: c}).gatherVanished(context.Background(), s)
		if asked < failing {
			break // Every question has failed once.
		}
		questions = failing
		if !errors.Is(err, down) || s.gone != nil || s.vanished != nil {
			t.Errorf("question %d failed: gone %v, error %v; want the error", failing, s.gone, err)
		}
	}
	// The DesignatePool and seven kinds of objects.
	if questions != 8 {
		t.Errorf("%d questions were asked, want 8", questions)
	}
}

func TestPoolsAreGivenIndexesInOrder(t *testing.T) {
	s := inForce()
	s.pools = []v1alpha1.DesignatePool{
		pool("by-hand-young", 9), pool("second", 1), pool("by-hand-old", 2), pool("first", 8), pool("default", 7), pool("deployed", 6),
	}
	s.configured = &conversion.MultipoolConfig{Pools: []conversion.ConfiguredPool{{Name: "first"}, {Name: "default"}, {Name: "second"}}}
	s.objects = deployed(entry("deployed", 4, 1, 1))
	var order []string
	for _, pool := range s.factsOfAll().Pools {
		order = append(order, pool.Name)
	}
	want := []string{"default", "deployed", "first", "second", "by-hand-old", "by-hand-young"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// TestALostLedgerIsPlannedAnewFromWhatExists: nothing of it changes.
func TestALostLedgerIsPlannedAnewFromWhatExists(t *testing.T) {
	first, edge, far := entry("default", 0, 2, 4), entry("edge", 7, 1, 1), entry("far", 2, 1, 9)
	first.ID, edge.ID = backend().Spec.Designate.DefaultPoolID, "an-id-that-designate-had"
	s := inForce()
	s.stored.Mode = ""
	s.pools = []v1alpha1.DesignatePool{pool("far", 0), pool("edge", 1), pool("default", 2)}
	s.pools[2].Spec = first.Accepted
	s.objects = together(deployed(first), deployed(edge), deployed(far))
	s.current = []conversion.PoolEntry{{Name: "default", Nameservers: []conversion.Address{{Host: "10.96.0.0"}, {Host: "10.96.0.1"}}}}
	want := ledger.Ledger{Version: 1, Mode: v1alpha1.MultiPool, Pools: []ledger.Pool{first, far, edge}}
	if diff := cmp.Diff(want, *ledger.Plan(&s.stored.Ledger, s.factsOfAll()), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("ledger (-before +anew):\n%s", diff)
	}
}

func TestAVanishedPoolThatTheLedgerDoesNotKnowKeepsItsPlace(t *testing.T) {
	ghost := entry("ghost", 3, 1, 2)
	s := inForce(entry("default", 0, 1, 1))
	s.pools = []v1alpha1.DesignatePool{pool("default", 0), pool("new", 9)}
	s.objects = together(deployed(entry("default", 0, 1, 1)), deployed(ghost))
	s.current = []conversion.PoolEntry{{
		Name: "ghost", NSRecords: spec(1).NSRecords, Nameservers: []conversion.Address{{Host: "10.96.3.0"}},
	}}
	planned := ledger.Plan(&s.stored.Ledger, s.factsOfAll())
	ghost.Accepted.PoolName = "ghost"
	if diff := cmp.Diff(&ghost, planned.Pool("uid-ghost"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("its entry (-before +anew):\n%s", diff)
	}
	if added := planned.Pool("uid-new"); added.Index == ghost.Index || added.Servers[0].RNDCKey == 2 {
		t.Errorf("the new pool has index %d and key %d", added.Index, added.Servers[0].RNDCKey)
	}
}

func TestServerFacts(t *testing.T) {
	edge := entry("edge", 1, 1, 5)
	const sts, control, open = "designate-backendbind9-pool1", "designate-backendbind9-pool1-0-control", "designate-backendbind9-pool1-0"
	whole := ledger.ServerFacts{Address: "10.96.1.0", RNDCKey: 5, InPoolsYAML: true, Ready: true, MayJoin: true, ClientOpen: true, PodExists: true}
	for name, test := range map[string]struct {
		change func(*scope)
		want   map[int32]ledger.ServerFacts
	}{
		"a server in use": {func(*scope) {}, map[int32]ledger.ServerFacts{0: whole}},
		"its pod is not ready": {
			func(s *scope) { s.objects.pods[open].Status.Conditions = nil },
			map[int32]ledger.ServerFacts{0: {Address: "10.96.1.0", RNDCKey: 5, InPoolsYAML: true, ClientOpen: true, PodExists: true}},
		},
		"its pod is that of the pool before": {
			func(s *scope) { s.objects.pods[open].Labels = map[string]string{v1alpha1.LabelPoolUID: "uid-before"} },
			map[int32]ledger.ServerFacts{0: {Address: "10.96.1.0", RNDCKey: 5, InPoolsYAML: true, ClientOpen: true}},
		},
		"its client Service is that of the pool before": {
			func(s *scope) { s.objects.services[open].Labels[v1alpha1.LabelPoolUID] = "uid-before" },
			map[int32]ledger.ServerFacts{0: {Address: "10.96.1.0", RNDCKey: 5, InPoolsYAML: true, Ready: true, MayJoin: true, PodExists: true}},
		},
		"its client Service leads nowhere": {
			func(s *scope) { s.objects.services[open].Spec.Selector = nil },
			map[int32]ledger.ServerFacts{0: {Address: "10.96.1.0", RNDCKey: 5, InPoolsYAML: true, Ready: true, MayJoin: true, PodExists: true}},
		},
		"its control Service has no address yet": {
			func(s *scope) { s.objects.services[control].Spec.ClusterIP = "" },
			map[int32]ledger.ServerFacts{0: {RNDCKey: 5, Ready: true, MayJoin: true, ClientOpen: true, PodExists: true}},
		},
		"its control Service bears no number": {
			func(s *scope) { s.objects.services[control].Annotations = nil },
			map[int32]ledger.ServerFacts{0: {Address: "10.96.1.0", InPoolsYAML: true, Ready: true, MayJoin: true, ClientOpen: true, PodExists: true}},
		},
		"its control Service is missing": {func(s *scope) { delete(s.objects.services, control) }, map[int32]ledger.ServerFacts{}},
		"its control Service is that of the pool before": {
			func(s *scope) { s.objects.services[control].Labels[v1alpha1.LabelPoolUID] = "uid-before" }, map[int32]ledger.ServerFacts{},
		},
		"its ordinal label is wrong": {
			func(s *scope) { s.objects.services[control].Labels[v1alpha1.LabelOrdinal] = "7" }, map[int32]ledger.ServerFacts{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := inForce(edge)
			s.pools = []v1alpha1.DesignatePool{pool("edge", 0)}
			s.objects = deployed(edge)
			s.current = []conversion.PoolEntry{{Name: "edge", Nameservers: []conversion.Address{{Host: "10.96.1.0"}}}}
			test.change(s)
			facts := s.factsOfAll().Pools[0]
			if diff := cmp.Diff(test.want, facts.Servers); diff != "" {
				t.Errorf("servers of %s (-want +got):\n%s", sts, diff)
			}
			if facts.Replicas != 1 {
				t.Errorf("the StatefulSet runs %d, want 1", facts.Replicas)
			}
		})
	}
}

func TestWhoGetsAnEntry(t *testing.T) {
	leaving := pool("edge", 0)
	leaving.DeletionTimestamp = ptr.To(metav1.Unix(1_700_000_000, 0))
	invalid := pool("edge", 0)
	invalid.Spec.NSRecords = nil
	for name, test := range map[string]struct {
		pool     v1alpha1.DesignatePool
		deployed bool
		backend  bool
		want     bool
	}{
		"a new pool": {pool("edge", 0), false, true, true},
		"a new pool whose backend is missing does not": {pool("edge", 0), false, false, false},
		"a pool with servers whose backend is missing": {pool("edge", 0), true, false, true},
		"a new pool that is being deleted does not":    {leaving, false, true, false},
		"a pool with servers that is being deleted":    {leaving, true, true, true},
		"an invalid pool does not":                     {invalid, false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := inForce()
			s.pools = []v1alpha1.DesignatePool{test.pool}
			if !test.backend {
				s.backend = nil
			}
			if test.deployed {
				s.objects = deployed(entry("edge", 1, 1, 5))
			}
			if got := s.factsOfAll().Pools[0].Accepted != nil; got != test.want {
				t.Errorf("it gets an entry: %v, want %v", got, test.want)
			}
		})
	}
}

// Of the default pool there may be servers in both modes, with one client Service for each ordinal.
func TestFormerServersAreFound(t *testing.T) {
	present := entry("default", 0, 1, 1)
	const single = "designate-backendbind9"
	s := inForce(present)
	s.pools = []v1alpha1.DesignatePool{pool("default", 0)}
	s.objects = deployed(present)
	former := s.objects.statefulSets[0].DeepCopy()
	former.Name, former.Spec.Replicas = single, ptr.To(int32(3))
	s.objects.statefulSets = append(s.objects.statefulSets, *former)
	control := s.objects.services[builders.ControlServiceName("designate-backendbind9-pool0", 0)].DeepCopy()
	control.Name, control.Spec.ClusterIP = builders.ControlServiceName(single, 0), "10.96.9.9"
	s.objects.services[control.Name] = control
	open := s.objects.services[builders.ClientServiceName(0, 0)]
	open.Spec.Selector = map[string]string{"statefulset.kubernetes.io/pod-name": single + "-0"}
	s.current = []conversion.PoolEntry{{Name: "default", Nameservers: []conversion.Address{{Host: "10.96.9.9"}}}}

	facts := s.factsOfAll().Pools[0]
	if got := facts.Former[0]; !got.ClientOpen || got.Address != "10.96.9.9" || !got.InPoolsYAML || got.RNDCKey != 1 || facts.FormerReplicas != 3 {
		t.Errorf("the former server is %+v of %d", got, facts.FormerReplicas)
	}
	if got := facts.Servers[0]; got.ClientOpen || got.Address != "10.96.0.0" || got.InPoolsYAML || facts.Replicas != 1 {
		t.Errorf("the present server is %+v of %d", got, facts.Replicas)
	}
	s.pools = []v1alpha1.DesignatePool{pool("edge", 0)}
	s.objects = deployed(entry("edge", 1, 1, 1))
	if facts := s.factsOfAll().Pools[0]; len(facts.Former) > 0 || facts.FormerReplicas > 0 {
		t.Errorf("another pool has former servers: %+v", facts.Former)
	}
}

func TestDeployedMode(t *testing.T) {
	single, multi := builders.StatefulSetName(v1alpha1.SinglePool, 0), builders.StatefulSetName(v1alpha1.MultiPool, 0)
	for name, test := range map[string]struct {
		statefulSets []string
		named        string
		want         v1alpha1.Mode
	}{
		"none without a StatefulSet":                     {nil, "", ""},
		"the one whose StatefulSet exists":               {[]string{single}, "", v1alpha1.SinglePool},
		"the other whose StatefulSet exists":             {[]string{multi}, "", v1alpha1.MultiPool},
		"of both, the one whose server pools.yaml names": {[]string{multi, single}, single, v1alpha1.SinglePool},
		"of both, the other whose server it names":       {[]string{single, multi}, multi, v1alpha1.MultiPool},
	} {
		t.Run(name, func(t *testing.T) {
			s := inForce()
			s.objects.services = map[string]*corev1.Service{}
			for _, name := range test.statefulSets {
				all := deployed(entry("default", 0, 1, 1))
				all.statefulSets[0].Name = name
				s.objects.statefulSets = append(s.objects.statefulSets, all.statefulSets...)
				address := "10.96.8.8"
				if name == test.named {
					address = "10.96.9.9"
				}
				s.objects.services[builders.ControlServiceName(name, 0)] = &corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: address}}
			}
			s.current = []conversion.PoolEntry{{Name: "default", Nameservers: []conversion.Address{{Host: "10.96.9.9"}}}}
			if got := s.deployedMode(); got != test.want {
				t.Errorf("mode %q, want %q", got, test.want)
			}
		})
	}
}

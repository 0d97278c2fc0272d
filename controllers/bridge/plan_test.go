package bridge

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

func settings(description string) v1alpha1.PoolSettings {
	return v1alpha1.PoolSettings{
		Description: description, BINDReplicas: 2, NSRecords: []v1alpha1.NSRecord{{Hostname: "ns1.example.org", Priority: 1}},
	}
}

func backend() *v1alpha1.DesignateBackend {
	return &v1alpha1.DesignateBackend{Spec: v1alpha1.DesignateBackendSpec{DefaultPool: settings("of the backend")}}
}

// config lists pools as a ConfigMap would.
func config(names ...string) *conversion.MultipoolConfig {
	config := &conversion.MultipoolConfig{}
	for _, name := range names {
		config.Pools = append(config.Pools, conversion.ConfiguredPool{Name: name, PoolSettings: settings("of the ConfigMap")})
	}
	return config
}

// made is a DesignatePool that the bridge has made.
func made(poolName string) v1alpha1.DesignatePool {
	pool := byHand(poolName)
	pool.Labels = map[string]string{v1alpha1.LabelSource: v1alpha1.SourceBridge}
	return pool
}

// byHand is a DesignatePool that somebody has made.
func byHand(poolName string) v1alpha1.DesignatePool {
	object := conversion.ObjectName(poolName)
	return v1alpha1.DesignatePool{
		ObjectMeta: metav1.ObjectMeta{Name: object, UID: types.UID("uid-" + object)},
		Spec:       v1alpha1.DesignatePoolSpec{PoolName: poolName},
	}
}

func deleting(pool v1alpha1.DesignatePool) v1alpha1.DesignatePool {
	pool.DeletionTimestamp = &metav1.Time{Time: time.Unix(1_700_000_000, 0)}
	return pool
}

// inUse is a ledger of a mode with a server in use, and entries past the point of no return.
func inUse(mode v1alpha1.Mode, leaving ...string) ledger.Ledger {
	l := ledger.Ledger{Mode: mode, Pools: []ledger.Pool{{
		UID: "uid-default", Name: v1alpha1.DefaultPoolName, Servers: []ledger.Server{{RNDCKey: 1, Address: "10.0.0.1", Joined: true}},
	}}}
	for _, name := range leaving {
		l.Pools = append(l.Pools, ledger.Pool{UID: types.UID("uid-" + name), Name: name, Removal: ledger.Deleting})
	}
	return l
}

func idle(mode v1alpha1.Mode) ledger.Ledger { return ledger.Ledger{Mode: mode} }

func TestMakePlan(t *testing.T) {
	type want struct {
		// Apply are the names of pools to make, with the source of each; Remove those to ask the removal of.
		Apply, Remove []string
		// Applied and Valid are the reasons of the conditions.
		Applied, Valid string
	}
	pools := func(pools ...v1alpha1.DesignatePool) []v1alpha1.DesignatePool { return pools }
	leaving := backend()
	leaving.DeletionTimestamp = &metav1.Time{Time: time.Unix(1_700_000_000, 0)}
	const fromConfig, fromBackend = ": of the ConfigMap", ": of the backend"
	for name, test := range map[string]struct {
		facts facts
		want  want
	}{
		"without a ConfigMap there is the default pool of the backend": {
			facts{ledger: idle(v1alpha1.SinglePool)},
			want{Apply: []string{"default" + fromBackend}, Applied: v1alpha1.ReasonApplied},
		},
		"a ConfigMap makes its pools, in its order": {
			facts{present: true, config: config("zeta", "default", "alpha"), ledger: inUse(v1alpha1.MultiPool)},
			want{Apply: []string{"zeta" + fromConfig, "default" + fromConfig, "alpha" + fromConfig},
				Applied: v1alpha1.ReasonApplied, Valid: v1alpha1.ReasonValid},
		},
		"a pool that left the ConfigMap is to be removed": {
			facts{present: true, config: config("default"), ledger: inUse(v1alpha1.MultiPool), pools: pools(made("default"), made("edge"))},
			want{Apply: []string{"default" + fromConfig}, Remove: []string{"edge"}, Applied: v1alpha1.ReasonApplied, Valid: v1alpha1.ReasonValid},
		},
		"an invalid ConfigMap changes nothing": {
			facts{present: true, configErr: errors.New("line 3: wrong"), ledger: inUse(v1alpha1.MultiPool), pools: pools(made("default"), made("edge"))},
			want{Applied: v1alpha1.ReasonInvalidConfig, Valid: v1alpha1.ReasonInvalidConfig},
		},
		"nor does one in SinglePool mode": {
			facts{present: true, configErr: errors.New("line 3: wrong"), ledger: inUse(v1alpha1.SinglePool), pools: pools(made("default"))},
			want{Applied: v1alpha1.ReasonInvalidConfig, Valid: v1alpha1.ReasonInvalidConfig},
		},
		"without a mode nothing is done": {
			facts{present: true, config: config("default")}, want{Applied: v1alpha1.ReasonWaitingForMode, Valid: v1alpha1.ReasonValid},
		},
		"without a mode nothing is done in SinglePool mode either": {facts{}, want{Applied: v1alpha1.ReasonWaitingForMode}},
		"a ConfigMap in SinglePool mode waits for the other mode": {
			facts{present: true, config: config("default", "edge"), ledger: inUse(v1alpha1.SinglePool), pools: pools(made("default"))},
			want{Applied: v1alpha1.ReasonWaitingForMode, Valid: v1alpha1.ReasonValid},
		},
		"a ConfigMap before any server is in use waits for the mode": {
			facts{present: true, config: config("default"), ledger: idle(v1alpha1.SinglePool), pools: pools(made("default"))},
			want{Applied: v1alpha1.ReasonWaitingForMode, Valid: v1alpha1.ReasonValid},
		},
		"on the way back the pools of the ConfigMap go first, and default keeps its spec": {
			facts{ledger: inUse(v1alpha1.MultiPool), pools: pools(made("default"), made("edge"), made("far"))},
			want{Remove: []string{"edge", "far"}, Applied: v1alpha1.ReasonApplied},
		},
		"on the way back one that is leaving already is not asked again": {
			facts{ledger: inUse(v1alpha1.MultiPool, "far"), pools: pools(made("default"), deleting(made("edge")), made("far"))},
			want{Applied: v1alpha1.ReasonApplied},
		},
		"on the way back, without other pools, default waits for the mode": {
			facts{ledger: inUse(v1alpha1.MultiPool), pools: pools(made("default"))}, want{Applied: v1alpha1.ReasonWaitingForMode},
		},
		"pools that people made beside stay, and default is as the backend says": {
			facts{ledger: inUse(v1alpha1.MultiPool), pools: pools(made("default"), byHand("edge"))},
			want{Apply: []string{"default" + fromBackend}, Applied: v1alpha1.ReasonApplied},
		},
		"a ConfigMap leaves alone what people made beside it": {
			facts{present: true, config: config("default"), ledger: inUse(v1alpha1.MultiPool), pools: pools(made("default"), byHand("edge"))},
			want{Apply: []string{"default" + fromConfig}, Applied: v1alpha1.ReasonApplied, Valid: v1alpha1.ReasonValid},
		},
		"a pool of the ConfigMap that somebody made is not touched, and its siblings do not wait": {
			facts{present: true, config: config("default", "edge", "far"), ledger: inUse(v1alpha1.MultiPool), pools: pools(byHand("edge"))},
			want{Apply: []string{"default" + fromConfig, "far" + fromConfig}, Applied: v1alpha1.ReasonPoolNotOwned, Valid: v1alpha1.ReasonValid},
		},
		"one that is being deleted works on, and is as it should be": {
			facts{present: true, config: config("default", "edge"), ledger: inUse(v1alpha1.MultiPool), pools: pools(deleting(made("edge")))},
			want{Apply: []string{"default" + fromConfig, "edge" + fromConfig}, Applied: v1alpha1.ReasonApplied, Valid: v1alpha1.ReasonValid},
		},
		"one past the point of no return is made anew once it is gone": {
			facts{present: true, config: config("default", "edge"), ledger: inUse(v1alpha1.MultiPool, "edge"), pools: pools(made("edge"))},
			want{Apply: []string{"default" + fromConfig}, Applied: v1alpha1.ReasonPoolBeingRemoved, Valid: v1alpha1.ReasonValid},
		},
		"a backend that is being deleted makes nothing": {
			facts{backend: leaving, present: true, config: config("default"), ledger: inUse(v1alpha1.MultiPool), pools: pools(made("edge"))},
			want{Applied: v1alpha1.ReasonRemovalInProgress, Valid: v1alpha1.ReasonValid},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.facts.backend == nil {
				test.facts.backend = backend()
			}
			plan := makePlan(test.facts)
			var got want
			for _, pool := range plan.apply {
				got.Apply = append(got.Apply, pool.name+": "+pool.settings.Description)
			}
			for _, pool := range plan.remove {
				got.Remove = append(got.Remove, pool.PoolName())
			}
			applied := meta.FindStatusCondition(plan.conditions, v1alpha1.ConditionPoolsApplied)
			got.Applied = applied.Reason
			if done := applied.Status == metav1.ConditionTrue; done != (applied.Reason == v1alpha1.ReasonApplied) {
				t.Errorf("applied is %s for the reason %s", applied.Status, applied.Reason)
			}
			if valid := meta.FindStatusCondition(plan.conditions, v1alpha1.ConditionMultipoolConfigValid); valid != nil {
				got.Valid = valid.Reason
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConditionsNameWhatIsInTheWay(t *testing.T) {
	for name, test := range map[string]struct {
		facts facts
		of    string
		want  string
	}{
		"the fault of the ConfigMap": {
			facts{present: true, configErr: errors.New(`line 3: pool "edge" is wrong`)}, v1alpha1.ConditionMultipoolConfigValid, `line 3: pool "edge" is wrong`,
		},
		"the pool that is not the bridge's": {
			facts{present: true, config: config("edge"), ledger: inUse(v1alpha1.MultiPool), pools: []v1alpha1.DesignatePool{byHand("edge")}},
			v1alpha1.ConditionPoolsApplied, "edge",
		},
		"the mode that is to come": {
			facts{present: true, config: config("default"), ledger: inUse(v1alpha1.SinglePool)}, v1alpha1.ConditionPoolsApplied, "MultiPool",
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.facts.backend = backend()
			condition := meta.FindStatusCondition(makePlan(test.facts).conditions, test.of)
			if condition.Status != metav1.ConditionFalse || !strings.Contains(condition.Message, test.want) {
				t.Errorf("%s is %s and says %q, want it to say %q", test.of, condition.Status, condition.Message, test.want)
			}
		})
	}
}

func TestDesiredPool(t *testing.T) {
	everything := v1alpha1.PoolSettings{
		Description: "d", Attributes: map[string]string{"zone": "1"}, BINDReplicas: 3,
		NSRecords: []v1alpha1.NSRecord{{Hostname: "ns2.example.org", Priority: 2}, {Hostname: "ns1.example.org.", Priority: 1}},
	}
	for name, test := range map[string]struct {
		pool wantedPool
		want string
	}{
		"everything that can be said": {wantedPool{"edge", everything}, `
apiVersion: designate.openstack.org/v1alpha1
kind: DesignatePool
metadata:
  labels: {designate.openstack.org/source: bridge}
  name: edge
  namespace: dns
spec:
  attributes: {zone: "1"}
  bindReplicas: 3
  description: d
  nsRecords:
  - {hostname: ns2.example.org., priority: 2}
  - {hostname: ns1.example.org., priority: 1}
`},
		"no server, and a name that Kubernetes does not take": {wantedPool{"Edge #1", v1alpha1.PoolSettings{
			Attributes: map[string]string{}, NSRecords: []v1alpha1.NSRecord{{Hostname: "ns1.example.org.", Priority: 1}},
		}}, `
apiVersion: designate.openstack.org/v1alpha1
kind: DesignatePool
metadata:
  labels: {designate.openstack.org/source: bridge}
  name: ` + conversion.ObjectName("Edge #1") + `
  namespace: dns
spec:
  bindReplicas: 0
  nsRecords:
  - {hostname: ns1.example.org., priority: 1}
  poolName: 'Edge #1'
`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := yaml.Marshal(desiredPool("dns", test.pool))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(parsed(t, test.want), parsed(t, string(got))); diff != "" {
				t.Errorf("DesignatePool (-want +got):\n%s", diff)
			}
		})
	}
}

func parsed(t *testing.T, text string) (object map[string]any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

package webhooks

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

func manyPools(count int) []client.Object {
	pools := make([]client.Object, 0, count)
	for i := range count {
		pools = append(pools, makePool(fmt.Sprintf("pool-%02d", i)).Obj())
	}
	return pools
}

func TestDesignateBackend(t *testing.T) {
	tests := map[string]struct {
		change change
		stored []client.Object
		want   verdict
	}{
		"a valid one may be created": {
			change: change{after: makeBackend().Obj()},
		},
		"an invalid one is refused with the form that would be right": {
			change: change{after: makeBackend().ControlCIDRs("10.1.2.3/8").Obj()},
			want:   verdict{mentions: []string{"controlCIDRs", "10.0.0.0/8"}},
		},
		"what is likely wrong is warned of": {
			change: change{after: makeBackend().ControlCIDRs("0.0.0.0/0").Obj()},
			want:   verdict{warns: []string{"0.0.0.0/0"}},
		},
		"an invalid change is refused": {
			change: change{before: makeBackend().Obj(), after: makeBackend().ControlCIDRs("10.1.2.3/8").Obj()},
			want:   verdict{mentions: []string{"controlCIDRs"}},
		},
		"a finalizer can be taken off one that was stored with faults": {
			change: change{
				before: makeBackend().ControlCIDRs("10.1.2.3/8").Finalizers("example.org/hold").Obj(),
				after:  makeBackend().ControlCIDRs("10.1.2.3/8").Obj(),
			},
		},
		"deleting it says which pools go with it": {
			change: change{before: makeBackend().Obj()},
			stored: []client.Object{makePool("default").Obj(), makePool("a1").PoolName("Edge").Obj()},
			want: verdict{warns: []string{"the removal of every pool of the namespace, which cannot be taken back: " +
				`"Edge", "default";`}},
		},
		"of many pools the first ten are named": {
			change: change{before: makeBackend().Obj()},
			stored: manyPools(12),
			want:   verdict{warns: []string{`"pool-08", "pool-09" and 2 more;`}},
		},
		"deleting it where there are no pools needs no warning": {
			change: change{before: makeBackend().Obj()},
		},
		"asking again for what is under way needs no warning": {
			change: change{before: makeBackend().Deleting().Obj()},
			stored: []client.Object{makePool(v1alpha1.DefaultPoolName).Obj()},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.want.check(t, ask(t, backendPath, test.change, test.stored...))
		})
	}
}

package webhooks

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

const (
	editConfigMap = `pool "edge" follows its source: edit the ConfigMap designate-multipool-config`
	labelDenied   = "the label designate.openstack.org/source=bridge marks pools that the operator makes from a list, " +
		"and is not for hands to put on or take off: edit the ConfigMap designate-multipool-config to have such a pool, " +
		"or leave the label out"
	defaultDenied = `the pool "default" stays as long as the DesignateBackend designate does: Designate puts zones there ` +
		"that match no other pool; set bindReplicas to 0 to stop its servers, or delete the DesignateBackend to remove " +
		"every pool"
	requestDenied = "the annotation designate.openstack.org/removal-requested is the operator's own: edit the ConfigMap " +
		`designate-multipool-config, or delete the DesignatePool, to ask for the removal of pool "edge"`
	deletionWarning = `the deletion of pool "edge" cannot be taken back`
	forcedWarning   = `lets pool "edge" go without asking Designate`
)

func TestCreatingADesignatePool(t *testing.T) {
	tests := map[string]struct {
		pool   *v1alpha1.DesignatePool
		by     string
		stored []client.Object
		want   verdict
	}{
		"a valid one passes": {
			pool: makePool("edge").Obj(),
		},
		"an invalid one is refused with every fault": {
			pool: makePool("edge").PoolName("   ").Replicas(-1).Obj(),
			want: verdict{mentions: []string{"bindReplicas", "poolName"}},
		},
		"a name held by an older pool is refused, naming the holder": {
			pool:   makePool("edge-2").PoolName("Édge ").Obj(),
			stored: []client.Object{makePool("edge").Obj()},
			want:   verdict{mentions: []string{"DesignatePool edge, UID uid-edge", `holds the pool name "edge"`}},
		},
		"a name held by a pool that was stored within the same second is refused": {
			pool:   makePool("a-copy").PoolName("edge").Created(100).Obj(),
			stored: []client.Object{makePool("edge").Created(100).Obj()},
			want:   verdict{mentions: []string{"DesignatePool edge"}},
		},
		"a name held by a pool that is still being removed is refused": {
			pool:   makePool("edge-2").PoolName("edge").Obj(),
			stored: []client.Object{makePool("edge").Deleting().Obj()},
			want:   verdict{mentions: []string{"DesignatePool edge"}},
		},
		"the bridge's label cannot be put on by hand": {
			pool: makePool("edge").FromBridge().Obj(),
			want: verdict{denied: labelDenied},
		},
		"the operator itself makes pools with that label": {
			by: operator, pool: makePool("edge").FromBridge().Obj(),
		},
		"a force annotation for another pool is refused from the start": {
			pool: makePool("edge").Annotated(v1alpha1.AnnotationForceRemoval, "gold").Obj(),
			want: verdict{mentions: []string{`own name, "edge"`, `it holds "gold"`}},
		},
		"a removal request cannot be made by hand": {
			pool: makePool("edge").Annotated(v1alpha1.AnnotationRemovalRequested, "2026-01-01T00:00:00Z").Obj(),
			want: verdict{denied: requestDenied},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.want.check(t, ask(t, poolPath, change{by: test.by, after: test.pool}, test.stored...))
		})
	}
}

func TestChangingADesignatePool(t *testing.T) {
	const force = v1alpha1.AnnotationForceRemoval
	const requested, then = v1alpha1.AnnotationRemovalRequested, "2026-01-01T00:00:00Z"
	tests := map[string]struct {
		before, after *v1alpha1.DesignatePool
		by            string
		stored        []client.Object
		want          verdict
	}{
		"a valid change passes": {
			before: makePool("edge").Obj(), after: makePool("edge").Replicas(3).Obj(),
		},
		"an invalid change is refused": {
			before: makePool("edge").Obj(), after: makePool("edge").Replicas(-1).Obj(),
			want: verdict{mentions: []string{"bindReplicas"}},
		},
		"a finalizer can be taken off a pool that was stored with faults": {
			before: makePool("edge").Replicas(-1).Finalizers("example.org/hold").Obj(),
			after:  makePool("edge").Replicas(-1).Obj(),
		},
		"the spec of a pool from the ConfigMap is changed there": {
			before: makePool("edge").FromBridge().Obj(), after: makePool("edge").FromBridge().Replicas(3).Obj(),
			want: verdict{denied: editConfigMap},
		},
		"the default pool too, while there is a list": {
			before: makePool("default").FromBridge().Obj(), after: makePool("default").FromBridge().Replicas(3).Obj(),
			stored: []client.Object{makeBackend().Running(v1alpha1.MultiPool, 1).Obj(), poolsListed("default")},
			want: verdict{
				denied: `pool "default" follows its source: edit the ConfigMap designate-multipool-config`,
			},
		},
		"the default pool without a list is changed in the DesignateBackend": {
			before: makePool("default").FromBridge().Obj(), after: makePool("default").FromBridge().Replicas(3).Obj(),
			stored: []client.Object{makeBackend().Running(v1alpha1.SinglePool, 1).Obj()},
			want: verdict{
				denied: `pool "default" follows its source: edit spec.defaultPool of the DesignateBackend designate`,
			},
		},
		"the operator itself changes the spec": {
			by:     operator,
			before: makePool("edge").FromBridge().Obj(), after: makePool("edge").FromBridge().Replicas(3).Obj(),
		},
		"labels of a pool from the ConfigMap are free": {
			before: makePool("edge").FromBridge().Obj(),
			after: func() *v1alpha1.DesignatePool {
				pool := makePool("edge").FromBridge().Obj()
				pool.Labels["team"] = "dns"
				return pool
			}(),
		},
		"the bridge's label cannot be put on": {
			before: makePool("edge").Obj(), after: makePool("edge").FromBridge().Obj(),
			want: verdict{denied: labelDenied},
		},
		"the bridge's label cannot be taken off": {
			before: makePool("edge").FromBridge().Obj(), after: makePool("edge").Obj(),
			want: verdict{denied: labelDenied},
		},
		"a removal request cannot be made by hand": {
			before: makePool("edge").Obj(), after: makePool("edge").Annotated(requested, then).Obj(),
			want: verdict{denied: requestDenied},
		},
		"a removal request cannot be dated by hand": {
			before: makePool("edge").Annotated(requested, then).Obj(),
			after:  makePool("edge").Annotated(requested, "1970-01-01T00:00:00Z").Obj(),
			want:   verdict{denied: requestDenied},
		},
		"a removal request cannot be taken back by hand": {
			before: makePool("edge").Annotated(requested, then).Obj(), after: makePool("edge").Obj(),
			want: verdict{denied: requestDenied},
		},
		"the operator itself asks for removal": {
			by: operator, before: makePool("edge").Obj(), after: makePool("edge").Annotated(requested, then).Obj(),
		},
		"a force annotation must name its own pool": {
			before: makePool("edge").Obj(), after: makePool("edge").Annotated(force, "true").Obj(),
			want: verdict{denied: "the annotation designate.openstack.org/force-removal must hold the pool's own name, " +
				`"edge", so that no other pool is meant by mistake; it holds "true"`},
		},
		"the name meant is the one in Designate": {
			before: makePool("edge-1f2e").PoolName("edge").Obj(),
			after:  makePool("edge-1f2e").PoolName("edge").Annotated(force, "edge").Obj(),
			want:   verdict{warns: []string{forcedWarning}},
		},
		"an empty force annotation is refused as well": {
			before: makePool("edge").Obj(), after: makePool("edge").Annotated(force, "").Obj(),
			want: verdict{mentions: []string{`"edge"`}},
		},
		"a force annotation may be put on a pool from the ConfigMap": {
			before: makePool("edge").FromBridge().Obj(), after: makePool("edge").FromBridge().Annotated(force, "edge").Obj(),
			want: verdict{warns: []string{forcedWarning}},
		},
		"a wrong force annotation that is stored holds up no other change": {
			before: makePool("edge").Annotated(force, "true").Obj(),
			after:  makePool("edge").Annotated(force, "true").Replicas(2).Obj(),
		},
		"a wrong force annotation can be taken off": {
			before: makePool("edge").Annotated(force, "true").Obj(), after: makePool("edge").Obj(),
		},
		"in a namespace that is being deleted everything passes": {
			before: makePool("edge").FromBridge().Obj(), after: makePool("edge").FromBridge().Replicas(0).Obj(),
			stored: []client.Object{terminatingNamespace()},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			change := change{by: test.by, before: test.before, after: test.after}
			test.want.check(t, ask(t, poolPath, change, test.stored...))
		})
	}
}

func TestDeletingADesignatePool(t *testing.T) {
	const force = v1alpha1.AnnotationForceRemoval
	edge := makePool("edge").FromBridge().Obj()
	tests := map[string]struct {
		pool   *v1alpha1.DesignatePool // stored as well
		by     string
		stored []client.Object
		want   verdict
	}{
		"a pool made by hand may be deleted, which cannot be taken back": {
			pool: makePool("edge").Obj(), stored: []client.Object{makeBackend().Obj()},
			want: verdict{warns: []string{deletionWarning}},
		},
		"a pool with zones stays": {
			pool: makePool("edge").Zones(time.Minute, "a.example.").Obj(), stored: []client.Object{makeBackend().Obj()},
			want: verdict{mentions: []string{`pool "edge" cannot be removed`, "1 zones", "1m0s ago", "a.example."}},
		},
		"unless it is forced": {
			pool: makePool("edge").Annotated(force, "edge").Zones(time.Minute, "a.example.").Obj(), stored: []client.Object{makeBackend().Obj()},
			want: verdict{warns: []string{"without asking Designate"}},
		},
		"a pool without zones may be deleted": {
			pool: makePool("edge").Zones(time.Minute).Obj(), stored: []client.Object{makeBackend().Obj()},
			want: verdict{warns: []string{deletionWarning}},
		},
		"a pool that its ConfigMap lists would come back": {
			pool: edge, stored: []client.Object{makeBackend().Obj(), poolsListed("default", "edge")},
			want: verdict{denied: `pool "edge" is still listed and would be made again: ` +
				"edit the ConfigMap designate-multipool-config and take it off"},
		},
		"a pool that has left its ConfigMap may be deleted": {
			pool: edge, stored: []client.Object{makeBackend().Obj(), poolsListed("default")},
			want: verdict{warns: []string{deletionWarning}},
		},
		"a pool whose ConfigMap is gone may be deleted": {
			pool: edge, stored: []client.Object{makeBackend().Obj()},
			want: verdict{warns: []string{deletionWarning}},
		},
		"a list with faults may list the pool": {
			pool: edge, stored: []client.Object{makeBackend().Obj(), poolsText("- nam: edge\n")},
			want: verdict{mentions: []string{`whether pool "edge" is still listed cannot be told`,
				"edit the ConfigMap designate-multipool-config"}},
		},
		"without a DesignateBackend nobody makes pools from a list": {
			pool: edge, stored: []client.Object{poolsListed("default", "edge")},
			want: verdict{warns: []string{deletionWarning}},
		},
		"the default pool stays as long as its DesignateBackend": {
			pool: makePool("default").Obj(), stored: []client.Object{makeBackend().Obj()},
			want: verdict{denied: defaultDenied},
		},
		"the default pool under another object name stays too": {
			pool: makePool("main").PoolName("default").Obj(), stored: []client.Object{makeBackend().Obj()},
			want: verdict{denied: defaultDenied},
		},
		"the default pool may go once its DesignateBackend is being deleted": {
			pool: makePool("default").Obj(), stored: []client.Object{makeBackend().Deleting().Obj()},
			want: verdict{warns: []string{`the deletion of pool "default" cannot be taken back`}},
		},
		"the default pool may go when there is no DesignateBackend": {
			pool: makePool("default").Obj(),
			want: verdict{warns: []string{`the deletion of pool "default" cannot be taken back`}},
		},
		"a younger claim to the name default has nothing to lose": {
			pool:   makePool("second").PoolName("default").Created(200).Obj(),
			stored: []client.Object{makeBackend().Obj(), makePool("default").Created(100).Obj()},
		},
		"the force annotation shows what is lost": {
			pool: makePool("edge").Annotated(force, "edge").Obj(), stored: []client.Object{makeBackend().Obj()},
			want: verdict{warns: []string{forcedWarning}},
		},
		"a force annotation for another pool forces nothing": {
			pool: makePool("edge").Annotated(force, "gold").Obj(), stored: []client.Object{makeBackend().Obj()},
			want: verdict{warns: []string{deletionWarning}},
		},
		"asking again for what is under way passes": {
			pool: makePool("default").Deleting().Obj(), stored: []client.Object{makeBackend().Obj()},
		},
		"the operator itself deletes pools": {
			by: operator, pool: edge, stored: []client.Object{makeBackend().Obj(), poolsListed("default", "edge")},
		},
		"in a namespace that is being deleted everything passes": {
			pool: makePool("default").Obj(), stored: []client.Object{makeBackend().Obj(), terminatingNamespace()},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			response := ask(t, poolPath, change{by: test.by, before: test.pool}, append(test.stored, test.pool)...)
			test.want.check(t, response)
		})
	}
}

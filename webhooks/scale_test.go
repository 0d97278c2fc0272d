package webhooks

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

func scale(replicas int32) *autoscalingv1.Scale {
	return &autoscalingv1.Scale{
		TypeMeta:   metav1.TypeMeta{APIVersion: "autoscaling/v1", Kind: "Scale"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "edge"},
		Spec:       autoscalingv1.ScaleSpec{Replicas: replicas},
	}
}

func TestScalingADesignatePool(t *testing.T) {
	tests := map[string]struct {
		pool   *v1alpha1.DesignatePool
		by     string
		from   int32
		to     int32
		stored []client.Object
		want   verdict
	}{
		"a pool made by hand is scaled": {
			pool: makePool("edge").Obj(), from: 1, to: 3,
		},
		"a pool made by hand is scaled to nothing": {
			pool: makePool("edge").Obj(), from: 1, to: 0,
		},
		"a pool from the ConfigMap is scaled there": {
			pool: makePool("edge").FromBridge().Obj(), from: 1, to: 3,
			want: verdict{denied: editConfigMap},
		},
		"asking for what is so already passes": {
			pool: makePool("edge").FromBridge().Obj(), from: 3, to: 3,
		},
		"the operator itself scales": {
			by: operator, pool: makePool("edge").FromBridge().Obj(), from: 1, to: 3,
		},
		"a slip of the keyboard is caught": {
			pool: makePool("edge").Obj(), from: 1, to: 101,
			want: verdict{denied: `pool "edge" can have 0 to 100 servers, and 101 are asked for`},
		},
		"fewer than no servers are refused": {
			pool: makePool("edge").Obj(), from: 1, to: -1,
			want: verdict{denied: `pool "edge" can have 0 to 100 servers, and -1 are asked for`},
		},
		"as many as are allowed pass": {
			pool: makePool("edge").Obj(), from: 1, to: v1alpha1.MaxReplicas,
		},
		"a pool that is not there cannot be judged": {
			pool: makePool("another").Obj(), from: 1, to: 2,
			want: verdict{mentions: []string{"reading DesignatePool edge", "not found"}},
		},
		"in a namespace that is being deleted everything passes": {
			pool: makePool("edge").FromBridge().Obj(), from: 1, to: 3, stored: []client.Object{terminatingNamespace()},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			change := change{by: test.by, before: scale(test.from), after: scale(test.to)}
			test.want.check(t, ask(t, scalePath, change, append(test.stored, test.pool)...))
		})
	}
}

func TestAScaleIsOnlyEverUpdated(t *testing.T) {
	verdict{mentions: []string{"the operation is CREATE"}}.check(t, ask(t, scalePath, change{after: scale(1)}))
}

package webhooks

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

func named(configMap *corev1.ConfigMap, name string) *corev1.ConfigMap {
	configMap.Name = name
	return configMap
}

func labelled(configMap *corev1.ConfigMap) *corev1.ConfigMap {
	configMap.Labels = map[string]string{"team": "dns"}
	return configMap
}

func TestConfigMap(t *testing.T) {
	const broken = "- name: default\n  bindReplicas: many\n"
	const removal = "this asks for the removal of "
	tests := map[string]struct {
		change change
		stored []client.Object
		want   verdict
	}{
		"a usable list may be created": {
			change: change{after: poolsListed("default", "edge")},
		},
		"every fault of a list is told": {
			change: change{after: poolsText(broken)},
			want:   verdict{mentions: []string{"line 2", `pool "default"`, "bindReplicas", "nsRecords"}},
		},
		"a list under the wrong key is refused": {
			change: change{after: &corev1.ConfigMap{
				ObjectMeta: poolsListed("default").ObjectMeta, Data: map[string]string{"pools.yaml": "[]"},
			}},
			want: verdict{mentions: []string{"pools.yaml", "pools"}},
		},
		"what is likely wrong is warned of": {
			change: change{after: poolsText("- name: default\n  bindReplicas: 1\n" +
				"  nsRecords: [{hostname: ns1.example.org, priority: 1}]\n")},
			want: verdict{warns: []string{"ns1.example.org"}},
		},
		"a ConfigMap of another name is nobody's business here": {
			change: change{after: named(poolsText(broken), "pools-of-somebody-else")},
		},
		"nor is its change": {
			change: change{
				before: named(poolsListed("default"), "another"), after: named(poolsText(broken), "another"),
			},
		},
		"nor its deletion": {
			change: change{before: named(poolsListed("default", "edge"), "another")},
		},
		"an edit that breaks the list is refused": {
			change: change{before: poolsListed("default"), after: poolsText(broken)},
			want:   verdict{mentions: []string{"bindReplicas"}},
		},
		"an edit of its labels passes even though the list has been stored with faults": {
			change: change{before: poolsText(broken), after: labelled(poolsText(broken))},
		},
		"an edit that adds a pool asks for no removal": {
			change: change{before: poolsListed("default"), after: poolsListed("default", "edge")},
		},
		"an edit that drops pools says what becomes of them": {
			change: change{before: poolsListed("default", "gold", "edge"), after: poolsListed("default")},
			want:   verdict{warns: []string{removal + `"edge", "gold": whether zones are left there cannot be known`}},
		},
		"a pool renamed in letter case alone is another pool": {
			change: change{before: poolsListed("default", "Edge"), after: poolsListed("default", "edge")},
			want:   verdict{warns: []string{removal + `"Edge":`}},
		},
		"an edit that mends a list drops those of the pools made before that it leaves out": {
			change: change{before: poolsText(broken), after: poolsListed("default", "edge")},
			stored: []client.Object{
				makePool("default").FromBridge().Obj(), makePool("gold").FromBridge().Obj(),
				makePool("edge").FromBridge().Obj(), makePool("by-hand").Obj(),
			},
			want: verdict{warns: []string{removal + `"gold":`}},
		},
		"deleting the list says which pools that would remove": {
			change: change{before: poolsListed("default", "gold", "edge")},
			want:   verdict{warns: []string{removal + `"edge", "gold":`}},
		},
		"deleting a list of the default pool alone removes no pool": {
			change: change{before: poolsListed("default")},
		},
		"a list created while a single pool serves waits, and says so": {
			change: change{after: poolsListed("default", "edge")},
			stored: []client.Object{makeBackend().Running(v1alpha1.SinglePool, 2).Obj()},
			want:   verdict{warns: []string{"runs a single pool with 2 ready servers"}},
		},
		"a list created before the single pool has servers takes effect": {
			change: change{after: poolsListed("default", "edge")},
			stored: []client.Object{makeBackend().Running(v1alpha1.SinglePool, 0).Obj()},
		},
		"a list created anew where several pools are served takes effect": {
			change: change{after: poolsListed("default", "edge")},
			stored: []client.Object{makeBackend().Running(v1alpha1.MultiPool, 2).Obj()},
		},
		"in a namespace that is being deleted everything passes": {
			change: change{before: poolsListed("default"), after: poolsText(broken)},
			stored: []client.Object{terminatingNamespace()},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.want.check(t, ask(t, configMapPath, test.change, test.stored...))
		})
	}
}

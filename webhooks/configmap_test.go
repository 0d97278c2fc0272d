package webhooks

import (
	"testing"
	"time"

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
		"an edit that drops a pool with zones is refused": {
			change: change{before: poolsListed("default", "gold", "edge"), after: poolsListed("default")},
			stored: []client.Object{
				makeBackend().Obj(), makePool("gold").FromBridge().Zones(40*time.Second, "a.example.", "b.example.").Obj(),
				makePool("edge").FromBridge().Zones(time.Minute).Obj(),
			},
			want: verdict{mentions: []string{`pool "gold"`, "2 zones", "40s ago", "a.example., b.example."}},
		},
		"so is the deletion of the list": {
			change: change{before: poolsListed("default", "gold")},
			stored: []client.Object{makeBackend().Obj(), makePool("gold").FromBridge().Zones(time.Minute, "a.example.").Obj()},
			want:   verdict{mentions: []string{`pool "gold"`, "1 zones"}},
		},
		"an edit that drops pools without zones says that they had none": {
			change: change{before: poolsListed("default", "gold", "edge"), after: poolsListed("default")},
			stored: []client.Object{
				makeBackend().Obj(), makePool("gold").FromBridge().Zones(time.Minute).Obj(), makePool("edge").FromBridge().Obj(),
			},
			want: verdict{warns: []string{
				removal + `"edge": whether zones are left there cannot be known`, removal + `"gold": Designate listed no zones there`,
			}},
		},
		"what was seen long ago decides nothing": {
			change: change{before: poolsListed("default", "gold"), after: poolsListed("default")},
			stored: []client.Object{makeBackend().Obj(), makePool("gold").FromBridge().Zones(16*time.Minute, "a.example.").Obj()},
			want:   verdict{warns: []string{removal + `"gold": whether zones are left there cannot be known`}},
		},
		"unless zones are listed as rarely as that": {
			change: change{before: poolsListed("default", "gold"), after: poolsListed("default")},
			stored: []client.Object{
				makeBackend().PollInterval(time.Hour).Obj(), makePool("gold").FromBridge().Zones(3*time.Hour, "a.example.").Obj(),
			},
			want: verdict{mentions: []string{`pool "gold"`}},
		},
		"a pool with zones that somebody forces may be dropped": {
			change: change{before: poolsListed("default", "gold"), after: poolsListed("default")},
			stored: []client.Object{makeBackend().Obj(),
				makePool("gold").FromBridge().Annotated(v1alpha1.AnnotationForceRemoval, "gold").Zones(time.Minute, "a.example.").Obj()},
			want: verdict{warns: []string{removal + `"gold"`}},
		},
		"zones of a pool that stays are in nobody's way": {
			change: change{before: poolsListed("default", "gold", "edge"), after: poolsListed("default", "gold")},
			stored: []client.Object{
				makeBackend().Obj(), makePool("gold").FromBridge().Zones(time.Minute, "a.example.").Obj(), makePool("edge").FromBridge().Zones(0).Obj(),
			},
			want: verdict{warns: []string{removal + `"edge": Designate listed no zones`}},
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
		"a list created while a single pool serves has its servers move, and says so": {
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

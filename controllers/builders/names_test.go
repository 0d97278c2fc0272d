package builders

import (
	"fmt"
	"testing"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// TestNoTwoObjectsShareAName goes over everything that is made of one kind for any pool in either mode. What has one
// name in both modes is the same object.
func TestNoTwoObjectsShareAName(t *testing.T) {
	const numbers = 121
	owners := map[string]string{}
	claim := func(kind, name, owner string) {
		t.Helper()
		key := kind + " " + name
		if other, taken := owners[key]; taken && other != owner {
			t.Errorf("%s is made for %s and for %s", key, other, owner)
		}
		owners[key] = owner
	}
	for _, mode := range []v1alpha1.Mode{v1alpha1.SinglePool, v1alpha1.MultiPool} {
		for index := range int32(numbers) {
			statefulSet := StatefulSetName(mode, index)
			// Only the default pool has another StatefulSet in the other mode.
			run := fmt.Sprintf("pool %d", index)
			if index == 0 {
				run += " in mode " + string(mode)
			}
			claim("StatefulSet", statefulSet, run)
			claim("Secret", KeySecretName(index), fmt.Sprintf("pool %d", index))
			claim("ConfigMap", ConfigMapName(index), fmt.Sprintf("pool %d", index))
			claim("PodDisruptionBudget", DisruptionBudgetName(index), fmt.Sprintf("pool %d", index))
			for ordinal := range int32(numbers) {
				claim("Pod", PodName(statefulSet, ordinal), fmt.Sprintf("server %d of %s", ordinal, run))
				claim("Service", ControlServiceName(statefulSet, ordinal), fmt.Sprintf("the control of server %d of %s", ordinal, run))
				claim("Service", ClientServiceName(index, ordinal), fmt.Sprintf("the clients of server %d of pool %d", ordinal, index))
			}
		}
	}
	for _, shared := range []string{
		"Secret " + v1alpha1.RNDCSecretName, "ConfigMap " + v1alpha1.LedgerName,
		"ConfigMap " + v1alpha1.PoolsYAMLName, "ConfigMap " + v1alpha1.MultipoolConfigMapName,
	} {
		if owner, taken := owners[shared]; taken {
			t.Errorf("%s is made for %s and is the namespace's", shared, owner)
		}
	}
}

func TestNamesThatPeopleKnow(t *testing.T) {
	for want, got := range map[string]string{
		"designate-backendbind9":                 StatefulSetName(v1alpha1.SinglePool, 0),
		"designate-backendbind9-pool0":           StatefulSetName(v1alpha1.MultiPool, 0),
		"designate-backendbind9-pool12":          StatefulSetName(v1alpha1.MultiPool, 12),
		"designate-backendbind9-1":               ClientServiceName(0, 1),
		"designate-backendbind9-pool2-1":         ClientServiceName(2, 1),
		"designate-backendbind9-0-control":       ControlServiceName(StatefulSetName(v1alpha1.SinglePool, 0), 0),
		"designate-backendbind9-pool0-3-control": ControlServiceName(StatefulSetName(v1alpha1.MultiPool, 0), 3),
	} {
		if got != want {
			t.Errorf("got the name %s, want %s", got, want)
		}
	}
}

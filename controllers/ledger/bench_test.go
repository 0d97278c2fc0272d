package ledger

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// Times are of use only beside each other. Every pool is looked up by its UID in a list, so ten times the pools take more
// than ten times as long; with 100 pools a pass in steady state should still be far cheaper than one API call.
func BenchmarkPlan(b *testing.B) {
	for _, count := range []int{10, 100} {
		facts := Facts{Mode: v1alpha1.MultiPool}
		for i := range count {
			name := fmt.Sprintf("pool-%d", i)
			if i == 0 {
				name = v1alpha1.DefaultPoolName
			}
			facts.Pools = append(facts.Pools, PoolFacts{
				UID: types.UID(name), Object: name, Name: name, ID: name,
				Accepted: &v1alpha1.DesignatePoolSpec{PoolSettings: v1alpha1.PoolSettings{BINDReplicas: 3}},
			})
		}
		steady := Plan(&Ledger{}, facts)
		b.Run(fmt.Sprintf("steady/pools=%d", count), func(b *testing.B) {
			for b.Loop() {
				Plan(steady, facts)
			}
		})
		b.Run(fmt.Sprintf("anew/pools=%d", count), func(b *testing.B) {
			for b.Loop() {
				Plan(&Ledger{}, facts)
			}
		})
	}
}

package conversion

import (
	"fmt"
	"strings"
	"testing"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// Times are of use only beside each other: from 10 to 100 pools they should grow about tenfold, not hundredfold.

func manyPools(count int) string {
	var text strings.Builder
	text.WriteString("- name: default\n  bindReplicas: 2\n  nsRecords: [{hostname: ns1.example.org., priority: 1}]\n")
	for i := 1; i < count; i++ {
		fmt.Fprintf(&text, "- name: pool-%d\n  description: Pool number %d\n  attributes: {tier: t%d}\n  bindReplicas: 3\n"+
			"  nsRecords: [{hostname: ns1.p%d.example.org., priority: 1}]\n", i, i, i, i)
	}
	return text.String()
}

func BenchmarkParseMultipool(b *testing.B) {
	for _, count := range []int{10, 100} {
		text := manyPools(count)
		b.Run(fmt.Sprintf("pools=%d", count), func(b *testing.B) {
			for b.Loop() {
				if _, err := ParseMultipool(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRenderPoolsYAML(b *testing.B) {
	for _, count := range []int{10, 100} {
		config, err := ParseMultipool(manyPools(count))
		if err != nil {
			b.Fatal(err)
		}
		shared := Shared{Primaries: []v1alpha1.Primary{{Address: "192.0.2.1", Port: 5354}}, RNDCKeyDirectory: "/keys"}
		var entries []PoolEntry
		for i, pool := range config.Pools {
			servers := []Server{{Ordinal: 0, Address: fmt.Sprintf("10.0.%d.1", i), RNDCKey: int32(i + 1)}}
			entries = append(entries, NewPoolEntry(pool.Name, PoolID("dns", pool.Name), pool.PoolSettings, servers, shared))
		}
		b.Run(fmt.Sprintf("pools=%d", count), func(b *testing.B) {
			for b.Loop() {
				if _, err := RenderPoolsYAML(entries); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package zones

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
)

// gathered are the metrics of a world, by name and labels without the prefix that all have.
func (w *world) gathered() map[string]float64 {
	w.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(w.observer)
	families, err := registry.Gather()
	if err != nil {
		w.Fatal(err)
	}
	const prefix = "designate_pool_operator_"
	result := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			name := []string{family.GetName()[len(prefix):]}
			for _, label := range metric.GetLabel() {
				if label.GetName() != "namespace" {
					name = append(name, label.GetValue())
				} else if label.GetValue() != namespace {
					w.Errorf("a metric of namespace %q", label.GetValue())
				}
			}
			result[strings.Join(name, " ")] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
		}
	}
	return result
}

func TestMetrics(t *testing.T) {
	w := worldWith(t, backendAt("http://one"), designatePool("gold"), designatePool("iron"))
	deleted := zoneOf("foreign", "b.")
	deleted.Status, deleted.Action = "PENDING", "DELETE"
	w.designate.zones = []designate.Zone{zoneOf("gold", "a."), deleted}
	expect := func(what string, want map[string]float64) {
		t.Helper()
		if diff := cmp.Diff(want, w.gathered()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	expect("before the first listing", map[string]float64{})

	w.settle()
	listed := float64(noon.Unix())
	expect("after a listing", map[string]float64{
		"zones gold": 1, "zones iron": 0, "zones_by_state NONE ACTIVE": 1, "zones_by_state DELETE PENDING": 1,
		"zone_listing_timestamp_seconds": listed, "zone_listing_duration_seconds": 1, "zone_listing_fresh": 1,
	})

	w.designate.set(func() { w.designate.failure, w.designate.failsAfter = errDown, 1 })
	w.elapse(time.Minute + 10*time.Second)
	expect("while it fails", map[string]float64{
		"zones gold": 1, "zones iron": 0, "zones_by_state NONE ACTIVE": 1, "zones_by_state DELETE PENDING": 1,
		"zone_listing_timestamp_seconds": listed, "zone_listing_duration_seconds": 1, "zone_listing_fresh": 1,
		"zone_listing_failures_total Unreachable": 2, "zone_listing_failing Unreachable": 1,
	})

	// No pass is made: the age counts all the same.
	w.clock.Step(10 * time.Minute)
	expect("when it is too old", map[string]float64{
		"zone_listing_timestamp_seconds": listed, "zone_listing_duration_seconds": 1, "zone_listing_fresh": 0,
		"zone_listing_failures_total Unreachable": 2, "zone_listing_failing Unreachable": 1,
	})

	w.designate.set(func() { w.designate.failure = nil })
	if err := w.client.Delete(context.Background(), designatePool("iron")); err != nil {
		t.Fatal(err)
	}
	w.settle()
	listed = float64(w.view().Listing.Began.Unix())
	expect("after it has recovered, and a pool is gone", map[string]float64{
		"zones gold": 1, "zones_by_state NONE ACTIVE": 1, "zones_by_state DELETE PENDING": 1,
		"zone_listing_timestamp_seconds": listed, "zone_listing_duration_seconds": 1, "zone_listing_fresh": 1,
		"zone_listing_failures_total Unreachable": 2,
	})

	w.updateBackend(func(b *v1alpha1.DesignateBackend) { b.Spec.Designate.Access = nil })
	w.settle()
	expect("without access", map[string]float64{})
}

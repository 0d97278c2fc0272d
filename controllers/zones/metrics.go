package zones

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/designate-pools/designate-pool-operator/controllers/designate"
)

// The metrics, which docs/metrics.md explains. They are computed whenever somebody asks for them, so a listing that has
// become too old is missing from them at once, and so is what belongs to a pool or a namespace that is gone.
var (
	zonesDesc = prometheus.NewDesc("designate_pool_operator_zones",
		"Zones of a DesignatePool in Designate, in every state. Absent while nobody knows.", []string{"namespace", "pool"}, nil)
	zonesByStateDesc = prometheus.NewDesc("designate_pool_operator_zones_by_state",
		"Zones of all pools in Designate by their state. Absent while nobody knows.", []string{"namespace", "status", "action"}, nil)
	listingTimeDesc = prometheus.NewDesc("designate_pool_operator_zone_listing_timestamp_seconds",
		"When the last complete listing of zones began, in Unix time.", []string{"namespace"}, nil)
	listingDurationDesc = prometheus.NewDesc("designate_pool_operator_zone_listing_duration_seconds",
		"How long the last complete listing of zones took.", []string{"namespace"}, nil)
	listingFreshDesc = prometheus.NewDesc("designate_pool_operator_zone_listing_fresh",
		"1 while the last complete listing of zones counts; 0 when it is too old, or there is none.", []string{"namespace"}, nil)
	listingFailuresDesc = prometheus.NewDesc("designate_pool_operator_zone_listing_failures_total",
		"Attempts to list the zones that failed, by the kind of error.", []string{"namespace", "kind"}, nil)
	listingFailingDesc = prometheus.NewDesc("designate_pool_operator_zone_listing_failing",
		"1 while the newest attempt to list the zones has failed, with the kind of its error.", []string{"namespace", "kind"}, nil)
)

// Describe implements prometheus.Collector.
func (o *Observer) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		zonesDesc, zonesByStateDesc, listingTimeDesc, listingDurationDesc, listingFreshDesc, listingFailuresDesc, listingFailingDesc,
	} {
		descs <- desc
	}
}

// Collect implements prometheus.Collector.
func (o *Observer) Collect(collected chan<- prometheus.Metric) {
	for _, metric := range o.collect() {
		collected <- metric
	}
}

// collect computes all metrics, so that the observer waits for nobody who reads them slowly.
func (o *Observer) collect() []prometheus.Metric {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	var result []prometheus.Metric
	add := func(desc *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		result = append(result, prometheus.MustNewConstMetric(desc, kind, value, labels...))
	}
	now := o.Clock.Now()
	for namespace, m := range o.memories {
		listing := m.view.Fresh(now)
		fresh := 0.0
		if listing != nil {
			fresh = 1
			for id, pool := range m.pools {
				add(zonesDesc, prometheus.GaugeValue, float64(listing.In(id).Total), namespace, pool)
			}
			for state, count := range listing.states() {
				add(zonesByStateDesc, prometheus.GaugeValue, float64(count), namespace, state.Status, state.Action)
			}
		}
		add(listingFreshDesc, prometheus.GaugeValue, fresh, namespace)
		if last := m.view.Listing; last != nil {
			add(listingTimeDesc, prometheus.GaugeValue, float64(last.Began.UnixMilli())/1000, namespace)
			add(listingDurationDesc, prometheus.GaugeValue, last.Ended.Sub(last.Began).Seconds(), namespace)
		}
		for kind, count := range m.failed {
			add(listingFailuresDesc, prometheus.CounterValue, float64(count), namespace, string(kind))
		}
		if m.view.Failure != nil {
			kind := designate.KindOf(m.view.Failure)
			add(listingFailingDesc, prometheus.GaugeValue, 1, namespace, string(kind))
		}
	}
	return result
}

// states counts the zones of all pools in each state.
func (l *Listing) states() map[State]int {
	all := map[State]int{}
	for _, pool := range l.Pools {
		for state, count := range pool.States {
			all[state] += count
		}
	}
	return all
}

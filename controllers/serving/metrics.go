package serving

import (
	"github.com/prometheus/client_golang/prometheus"
)

// The metrics, which docs/metrics.md explains. They are computed whenever somebody asks for them, so what belongs to a pool that is
// gone is missing from them at once.
var (
	differenceDesc = prometheus.NewDesc("designate_pool_operator_server_zones_different",
		"Zones of a DesignatePool that its servers do not answer for (missing), have besides them (extra), or have with an older "+
			"serial (stale), summed over the servers that could be asked.", []string{"namespace", "pool", "kind"}, nil)
	unaskedDesc = prometheus.NewDesc("designate_pool_operator_servers_unasked",
		"Servers of a DesignatePool that could not be asked which zones they have.", []string{"namespace", "pool"}, nil)
)

// Describe implements prometheus.Collector.
func (o *Observer) Describe(descs chan<- *prometheus.Desc) {
	descs <- differenceDesc
	descs <- unaskedDesc
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
	add := func(desc *prometheus.Desc, value int, labels ...string) {
		result = append(result, prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), labels...))
	}
	for _, k := range o.known {
		unasked, asked, missing, extra, stale := 0, 0, 0, 0, 0
		for ordinal := range k.view.servers {
			if k.view.Failure(ordinal) != nil {
				unasked++
			}
			difference, known := k.view.Confirmed(ordinal)
			if known {
				asked++
			}
			missing += difference.Missing.Total
			extra += difference.Extra.Total
			stale += difference.Stale.Total
		}
		add(unaskedDesc, unasked, k.pool.Namespace, k.pool.Name)
		if asked == 0 {
			continue // A 0 would say that all is well.
		}
		add(differenceDesc, missing, k.pool.Namespace, k.pool.Name, "missing")
		add(differenceDesc, extra, k.pool.Namespace, k.pool.Name, "extra")
		add(differenceDesc, stale, k.pool.Namespace, k.pool.Name, "stale")
	}
	return result
}

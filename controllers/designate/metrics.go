package designate

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// What a request came to, besides the kinds of errors.
const (
	outcomeSuccess = "Success"
	// outcomeAbandoned: whoever asked did not wait for the end.
	outcomeAbandoned = "Abandoned"
)

var (
	requests = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "designate_pool_operator_designate_requests_total",
		Help: "Requests to Designate and its Keystone, by operation and by outcome: Success, Abandoned or the kind of the error.",
	}, []string{"operation", "outcome"})
	durations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "designate_pool_operator_designate_request_duration_seconds",
		Help:    "How long requests to Designate and its Keystone take, to the last byte of the answer.",
		Buckets: []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60},
	}, []string{"operation"})
)

func init() { metrics.Registry.MustRegister(requests, durations) }

// measured runs one request and counts what it came to.
func measured(operation string, run func() error) error {
	timer := prometheus.NewTimer(durations.WithLabelValues(operation))
	err := run()
	timer.ObserveDuration()
	requests.WithLabelValues(operation, outcome(err)).Inc()
	return err
}

func outcome(err error) string {
	e, ok := errors.AsType[*Error](err)
	switch {
	case err == nil:
		return outcomeSuccess
	case !ok || e.Err != nil:
		return outcomeAbandoned
	}
	return string(e.Kind)
}

package main

import "github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"

// statistics are what the proxy counts for Idem, each under idem.<name>. One is defined when it is first told of.
type statistics struct {
	counters   map[string]proxywasm.MetricCounter
	histograms map[string]proxywasm.MetricHistogram
	gauges     map[string]proxywasm.MetricGauge
}

func newStatistics() statistics {
	return statistics{
		counters:   map[string]proxywasm.MetricCounter{},
		histograms: map[string]proxywasm.MetricHistogram{},
		gauges:     map[string]proxywasm.MetricGauge{},
	}
}

// Count adds to a counter.
func (s *statistics) Count(metric string, n uint64) {
	defined(s.counters, metric, proxywasm.DefineCounterMetric).Increment(n)
}

// Observe records a value in a histogram.
func (s *statistics) Observe(metric string, value uint64) {
	defined(s.histograms, metric, proxywasm.DefineHistogramMetric).Record(value)
}

// Gauge adds to a gauge, which all workers share.
func (s *statistics) Gauge(metric string, change int64) {
	defined(s.gauges, metric, proxywasm.DefineGaugeMetric).Add(change)
}

func defined[M any](known map[string]M, metric string, define func(name string) M) M {
	m, is := known[metric]
	if !is {
		m = define("idem." + metric)
		known[metric] = m
	}
	return m
}

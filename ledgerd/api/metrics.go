package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"idem/ledgerd/wire"
)

// metrics counts what passes through the two faces. What the ledger did it counts itself; a scrape reads that from it.
type metrics struct {
	requests *prometheus.CounterVec
	took     *prometheus.HistogramVec
	ops      *prometheus.CounterVec
	batch    prometheus.Histogram
}

func newMetrics(a *API) (*metrics, *prometheus.Registry) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "idem_http_requests_total", Help: "HTTP requests answered, by listener, route and status.",
		}, []string{"listener", "route", "status"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "idem_http_request_seconds", Help: "How long HTTP requests took until their reply's end; awaits and event streams are long by nature.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"listener", "route"}),
		ops: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "idem_operations_total", Help: "Operations of the data API, by kind and answer.",
		}, []string{"op", "answer"}),
		batch: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "idem_batch_operations", Help: "Operations in one batch.",
			Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096},
		}),
	}
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	r := prometheus.NewRegistry()
	r.MustRegister(m.requests, m.took, m.ops, m.batch, ledgerCollector{a},
		gauge("idem_operations_under_way", "Operations under way, waits apart.", func() float64 { return float64(a.queued.Load()) }),
		gauge("idem_waits_under_way", "Awaits under way.", func() float64 { return float64(a.waiting.Load()) }),
		gauge("idem_event_streams", "Open streams of GET /api/events.", func() float64 { return float64(a.streams.Load()) }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m, r
}

// answered counts one operation. A line that could not be read has no kind that may be believed: a label must not grow
// with what clients invent.
func (m *metrics) answered(l line, answer wire.AnswerKind) {
	kind := string(l.op.Kind)
	if l.wrong != nil {
		kind = "unreadable"
	}
	m.ops.WithLabelValues(kind, string(answer)).Inc()
}

// measured counts the requests of a listener and writes a line for each that failed or that the log's level asks for.
func (a *API) measured(listener string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(seen, r)
		took := time.Since(start)
		route := r.Pattern
		if _, path, found := strings.Cut(route, " "); found {
			route = path
		}
		a.metrics.requests.WithLabelValues(listener, route, strconv.Itoa(seen.status)).Inc()
		a.metrics.took.WithLabelValues(listener, route).Observe(took.Seconds())
		a.log.Debug("request", "listener", listener, "method", r.Method, "route", route, "status", seen.status, "took", took)
	})
}

// statusWriter remembers the status. Unwrap lets http.ResponseController reach the connection.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// ledgerCollector reads the ledger's own counters when they are asked for.
type ledgerCollector struct{ a *API }

const scrapeTime = 2 * time.Second

// Describe gives nothing: which counters there are is the ledger's to say, so they are checked when they are collected.
func (ledgerCollector) Describe(chan<- *prometheus.Desc) {}

func (c ledgerCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	up := prometheus.NewDesc("idem_store_up", "Whether the ledger's store answers and takes writes, as /readyz says.", nil, nil)
	state, err := c.a.Ledger.State(ctx, 1)
	if err != nil {
		to <- prometheus.MustNewConstMetric(up, prometheus.GaugeValue, 0)
		return
	}
	works := 1.0
	if c.a.ready.now(ctx) != nil {
		works = 0 // it can be read, and takes no writes
	}
	to <- prometheus.MustNewConstMetric(up, prometheus.GaugeValue, works)
	to <- prometheus.MustNewConstMetric(prometheus.NewDesc("idem_clock_ahead_seconds",
		"How far the ledger's clock is ahead of this machine's (negative: behind). It never steps back: while it stands still no lease, hold or retention ends.", nil, nil),
		prometheus.GaugeValue, time.Until(state.Now).Seconds())
	if c.a.Writing != nil {
		c.collectWriting(to, c.a.Writing())
	}
	events := prometheus.NewDesc("idem_ledger_total", "What the ledger did since this ledgerd started, by what.", []string{"what"}, nil)
	for name, n := range state.Counters {
		to <- prometheus.MustNewConstMetric(events, prometheus.CounterValue, float64(n), name)
	}
}

// collectWriting tells how the store's writing is doing: writes by groups is how many share one sync.
func (ledgerCollector) collectWriting(to chan<- prometheus.Metric, w Writing) {
	for _, m := range []struct {
		name, help string
		kind       prometheus.ValueType
		value      float64
	}{
		{"idem_store_groups_total", "Groups of writes that were made durable at once.", prometheus.CounterValue, float64(w.Groups)},
		{"idem_store_writes_total", "Writes that are durable.", prometheus.CounterValue, float64(w.Writes)},
		{"idem_store_conflicts_total", "Writes that found another version of their record.", prometheus.CounterValue, float64(w.Conflicts)},
		{"idem_store_failures_total", "Groups of writes that failed.", prometheus.CounterValue, float64(w.Failures)},
		{"idem_store_writes_waiting", "Writes that wait for the store now.", prometheus.GaugeValue, float64(w.Waiting)},
	} {
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc(m.name, m.help, nil, nil), m.kind, m.value)
	}
}

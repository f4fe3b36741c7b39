package exchange

import "time"

// What the proxy's statistics show of a worker's life, beside counters; envoy/README.md explains each. Histograms:
const (
	statLedgerMS    = "ledger_ms"    // one batch of operations, there and back
	statLedgerOps   = "ledger_ops"   // operations in a batch
	statExecutionMS = "execution_ms" // from the grant to the execution's end
	statWaitMS      = "wait_ms"      // of a caller that waited for an execution or a hold
	statBodyBytes   = "body_bytes"   // of a guarded call
	statResultBytes = "result_bytes" // of a tool's reply
	statReadUS      = "read_us"      // reading a call, which a stream does before the worker has it
)

// gauges are levels that the statistics show, summed over all workers: what is told is how each changed.
var gauges = [...]string{"parked", "executing", "unacknowledged", "kept_bytes"}

func (w *Worker) levels() [len(gauges)]int {
	return [...]int{len(w.parked), len(w.executions), len(w.settling), int(w.kept)}
}

// TellGauges tells the statistics what has changed since it was last called.
func (w *Worker) TellGauges() {
	levels := w.levels()
	for i, now := range levels {
		if now != w.told[i] {
			w.host.Gauge(gauges[i], int64(now-w.told[i]))
		}
	}
	w.told = levels
}

// took records how long something took since began.
func (w *Worker) took(histogram string, began time.Duration) {
	w.host.Observe(histogram, uint64(max(w.host.Now()-began, 0).Milliseconds()))
}

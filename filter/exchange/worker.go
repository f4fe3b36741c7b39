package exchange

import (
	"time"

	"idem/filter/policy"
	"idem/ledgerd/wire"
)

// Worker owns all that one Envoy worker does for guarded calls: its ledger link, its executions, its waits.
type Worker struct {
	host       Host
	config     *policy.Config
	link       *link
	executions map[string]*execution // by attempt
	watches    map[string]*watch     // by attempt or hold
	parked     map[*Call]struct{}    // callers without a reply
	stalls     stalls
	lookedAt   time.Duration    // when the parked callers' last bound was looked at
	kept       int64            // bytes of the bodies that calls keep
	replies    int64            // bytes of the tools' replies that are kept until the ledger has them
	settling   []*settlement    // commits and fails that the ledger has not acknowledged
	told       [len(gauges)]int // what the statistics were last told
	forgotten  uint64           // settlements given up for want of room, since there was some
	retried    bool             // that a route retries has been warned of
}

// NewWorker makes a worker that has not spoken to its ledger yet.
func NewWorker(host Host, config *policy.Config) *Worker {
	return &Worker{
		host: host, config: config,
		link:       newLink(host, config.Ledger),
		executions: map[string]*execution{},
		watches:    map[string]*watch{},
		parked:     map[*Call]struct{}{},
	}
}

// Arrive takes a call in. It only queues, so a stream's callback may call it.
func (w *Worker) Arrive(c *Call) {
	c.worker, c.arrived = w, w.host.Now()
	if c.shadows() {
		c.standInShadow()
	} else {
		w.parked[c] = struct{}{}
	}
	c.keep()
	w.host.Observe(statBodyBytes, uint64(len(c.Request.Body)))
	w.reserve(c)
	w.host.Wake()
}

// Flush sends what is queued, if no batch is under way. Root context only.
func (w *Worker) Flush() { w.link.flush() }

// TickPeriod is how often Tick wants to be called: the resolution of every bound that a caller is promised.
const TickPeriod = 100 * time.Millisecond

// Tick lets time pass: leases are extended, waits end, unacknowledged operations are sent again. Root context only.
func (w *Worker) Tick() {
	now := w.host.Now()
	w.link.forgive(w.stalls.tick(now), now)
	for _, e := range w.executions {
		e.tick(now)
	}
	for _, v := range w.watches {
		v.tick(now)
	}
	w.link.tick(now)
	w.tickSettling(now)
	w.tickParked(now)
	w.link.flush()
	w.TellGauges()
}

// tickParked answers callers that everything else has forgotten, which only a fault of this program can bring about. A
// caller that hangs would hang until the proxy's idle timeout.
func (w *Worker) tickParked(now time.Duration) {
	if now < w.lookedAt+time.Second {
		return
	}
	w.lookedAt = now
	for c := range w.parked {
		if now < c.lastBound() {
			continue
		}
		w.host.Warn("a caller was forgotten by a fault of this filter; it is told that its call is in doubt")
		c.refuse(problem{code: codeInDoubt, status: 504, detail: detailInDoubt})
	}
}

// Idle says whether nothing is under way: no caller, no execution, no wait, nothing unacknowledged, nothing queued.
func (w *Worker) Idle() bool {
	return len(w.parked) == 0 && len(w.executions) == 0 && len(w.watches) == 0 && len(w.settling) == 0 && w.link.idle()
}

// ask sends one operation by a call of its own, outside the batches: a wait that blocks, a result that is large.
func (w *Worker) ask(op wire.Op, timeout time.Duration, done func(wire.Answer, bool)) {
	call := w.link.request(wire.AppendOp(nil, &op), timeout)
	sent := w.host.Dispatch(call, func(r HTTPReply) {
		answers, ok := w.link.answers(r, 1)
		if !ok {
			done(wire.Answer{}, false)
			return
		}
		done(answers[0], true)
	})
	if !sent {
		done(wire.Answer{}, false)
	}
}

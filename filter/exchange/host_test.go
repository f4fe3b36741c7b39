package exchange

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"idem/canon"
	"idem/filter/policy"
	"idem/ledgerd/wire"
)

// fakeHost is a proxy whose clock and HTTP calls the test drives.
type fakeHost struct {
	now      time.Duration
	ids      int
	calls    []*fakeCall // that have no reply yet
	refuse   func(HTTPCall) bool
	counters map[string]uint64
	observed map[string][]uint64
	gauges   map[string]int64
	warnings []string
}

type fakeCall struct {
	HTTPCall
	host *fakeHost
	done func(HTTPReply)
}

func (h *fakeHost) Now() time.Duration { return h.now }
func (h *fakeHost) NewID() string      { h.ids++; return "attempt-" + strconv.Itoa(h.ids) }
func (h *fakeHost) Wake()              {}
func (h *fakeHost) Warn(line string)   { h.warnings = append(h.warnings, line) }

func (h *fakeHost) Fault(where string, recovered any) {
	h.warnings = append(h.warnings, fmt.Sprint(where, ": ", recovered))
}

func (h *fakeHost) Count(metric string, n uint64) {
	if h.counters == nil {
		h.counters = map[string]uint64{}
	}
	h.counters[metric] += n
}

func (h *fakeHost) Observe(metric string, value uint64) {
	if h.observed == nil {
		h.observed = map[string][]uint64{}
	}
	h.observed[metric] = append(h.observed[metric], value)
}

func (h *fakeHost) Gauge(metric string, change int64) {
	if h.gauges == nil {
		h.gauges = map[string]int64{}
	}
	h.gauges[metric] += change
}

func (h *fakeHost) Dispatch(call HTTPCall, done func(HTTPReply)) bool {
	if h.refuse != nil && h.refuse(call) {
		return false
	}
	h.calls = append(h.calls, &fakeCall{call, h, done})
	return true
}

// reply ends a call.
func (c *fakeCall) reply(r HTTPReply) {
	for i, other := range c.host.calls {
		if other == c {
			c.host.calls = append(c.host.calls[:i:i], c.host.calls[i+1:]...)
			c.done(r)
			return
		}
	}
	panic("this call has ended")
}

// ops reads the operations of a call to the ledger.
func (c *fakeCall) ops(t *testing.T) []wire.Op {
	t.Helper()
	var ops []wire.Op
	for line := range wire.Lines(c.Body) {
		op, err := wire.ReadOp(line)
		if err != nil {
			t.Fatalf("the worker sent an operation that ledgerd would not read: %v: %s", err, line)
		}
		ops = append(ops, op)
	}
	return ops
}

// answer ends a call to the ledger.
func (c *fakeCall) answer(answers ...wire.Answer) {
	var body []byte
	for i := range answers {
		if answers[i].Now == 0 {
			answers[i].Now = 1_000_000 + c.host.now.Milliseconds()
		}
		body = wire.AppendAnswer(body, &answers[i])
	}
	c.reply(HTTPReply{Status: 200, Body: body})
}

// bench is a worker with its host, its rule and the callers that it has answered.
type bench struct {
	*testing.T
	host   *fakeHost
	worker *Worker
	rule   *policy.Rule
}

func newBench(t *testing.T) *bench {
	host := &fakeHost{}
	rule := wire.DefaultRule()
	b := &bench{T: t, host: host, rule: &policy.Rule{
		Name: "refunds", Ledger: rule, RunHeaders: []string{"x-idem-run"},
		Wait: 30 * time.Second, ExecutionTimeout: time.Minute, Lease: 15 * time.Second, MaxResultBytes: 1 << 20,
	}}
	b.worker = NewWorker(host, &policy.Config{
		Ledger:  policy.Ledger{Cluster: "ledgerd", Timeout: 5 * time.Second, CommitTimeout: 5 * time.Second},
		Execute: policy.Execute{Cluster: "idem-execute"},
	})
	return b
}

// caller is a parked stream.
type caller struct {
	call    *Call
	replies []Reply
	passed  [][][2]string // the headers that the stream went on with

	concluded []Reply
}

func (c *caller) GoOn(headers [][2]string) { c.passed = append(c.passed, headers) }

func (c *caller) Conclude(r Reply) { c.concluded = append(c.concluded, r) }

func (c *caller) Reply(r Reply) { c.replies = append(c.replies, r) }

const (
	intent1      = "1111111111111111111111111111111111111111111111111111111111111111"
	fingerprint1 = "2222222222222222222222222222222222222222222222222222222222222222"
)

// arrive lets a caller come with the one call of these tests.
func (b *bench) arrive(run string) *caller {
	c := &caller{}
	c.call = &Call{
		Rule:   b.rule,
		Action: canon.Action{Tool: "refund", Run: run, Args: []byte(`{"amount":"$12.00"}`), Fingerprint: fingerprint1, Intent: intent1},
		Request: Request{
			Method: "POST", Authority: "tools.example", Path: "/api/invoke?x=1",
			Headers: [][2]string{
				{":method", "POST"}, {":authority", "tools.example"}, {":path", "/api/invoke?x=1"},
				{"content-type", "application/json"}, {"content-length", "19"}, {"x-idem-run", run}, {"x-idem-flags", "forged"},
				{"accept-encoding", "gzip"}, {"x-envoy-original-path", "/x"}, {"authorization", "Bearer a"},
				{"connection", "keep-alive, x-hop"}, {"x-hop", "1"}, {"traceparent", "00-1"},
			},
			Body: []byte(`{"amount":"$12.00"}`),
		},
		Caller: c,
	}
	b.worker.Arrive(c.call)
	b.worker.Flush()
	b.tellTime()
	return c
}

// tellTime answers the worker's first question, for the ledger's clock.
func (b *bench) tellTime() {
	for _, c := range b.host.calls {
		if c.Cluster != "ledgerd" {
			continue
		}
		if op := c.ops(b.T)[0]; op.Kind == wire.OpFetch && op.Attempt == "clock" {
			c.answer(wire.Answer{Kind: wire.AnswerGone})
			return
		}
	}
}

// ledger gives the call to the ledger that holds an operation of a kind. It must be the only one.
func (b *bench) ledger(kind wire.OpKind) *fakeCall {
	b.Helper()
	var found *fakeCall
	for _, c := range b.host.calls {
		if c.Cluster == "ledgerd" && c.ops(b.T)[0].Kind == kind {
			if found != nil {
				b.Fatalf("two calls hold a %s", kind)
			}
			found = c
		}
	}
	if found == nil {
		b.Fatalf("the worker asks the ledger for no %s; under way: %s", kind, b.underWay())
	}
	return found
}

// tool gives the call to the tool.
func (b *bench) tool() *fakeCall {
	b.Helper()
	for _, c := range b.host.calls {
		if c.Cluster == "idem-execute" {
			return c
		}
	}
	b.Fatalf("the tool is not called; under way: %s", b.underWay())
	return nil
}

func (b *bench) toolCalls() (n int) {
	for _, c := range b.host.calls {
		if c.Cluster == "idem-execute" {
			n++
		}
	}
	return n
}

func (b *bench) underWay() (list string) {
	for _, c := range b.host.calls {
		list += c.Cluster + " " + string(c.Body) + "; "
	}
	return list
}

// execute brings one caller as far as the tool.
func (b *bench) execute(run string) *caller {
	b.Helper()
	c := b.arrive(run)
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	b.tool()
	return c
}

// pass lets time pass, tick by tick.
func (b *bench) pass(d time.Duration) {
	for end := b.host.now + d; b.host.now < end; {
		b.host.now += TickPeriod
		b.worker.Tick()
	}
}

// one gives the reply that the caller has had.
func (b *bench) one(c *caller) Reply {
	b.Helper()
	if len(c.replies) != 1 {
		b.Fatalf("the caller has had %d replies, want 1; under way: %s", len(c.replies), b.underWay())
	}
	return c.replies[0]
}

// told asserts the reply that the caller has had.
func (b *bench) told(c *caller, status int, outcome, code string) Reply {
	b.Helper()
	r := b.one(c)
	if r.Status != status || r.Outcome != outcome || r.Code != code {
		b.Fatalf("the caller was told %d %s %s, want %d %s %s: %s", r.Status, r.Outcome, r.Code, status, outcome, code, r.Body)
	}
	if header(r.Headers, headerOutcome) != outcome {
		b.Errorf("x-idem-outcome is %q, want %q", header(r.Headers, headerOutcome), outcome)
	}
	return r
}

func (b *bench) waits(c *caller) {
	b.Helper()
	if len(c.replies) != 0 {
		b.Fatalf("the caller has a reply already: %+v", c.replies[0])
	}
}

// byTool is a reply that the tool gave.
func byTool(status int, body string, headers ...[2]string) HTTPReply {
	return HTTPReply{Status: status, Body: []byte(body), Headers: append([][2]string{
		{":status", strconv.Itoa(status)}, {headerDetails, viaUpstream}, {headerFlags, "-"}, {headerAttempts, "1"},
	}, headers...)}
}

// byProxy is a reply that the proxy made itself.
func byProxy(status int, flags, details, attempts string) HTTPReply {
	return HTTPReply{Status: status, Headers: [][2]string{
		{":status", strconv.Itoa(status)}, {headerDetails, details}, {headerFlags, flags}, {headerAttempts, attempts},
	}}
}

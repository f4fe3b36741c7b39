package exchange

import (
	"strconv"
	"time"

	"idem/filter/policy"
	"idem/ledgerd/wire"
)

// Bounds of one batch. An operation that is larger than maxBatchBytes goes in a batch of its own.
const (
	maxBatchOps   = 512
	maxBatchBytes = 4 << 20
)

// link is the worker's one way to the ledger. At most one batch is under way; what comes meanwhile goes with the next,
// so a busy worker pays for one HTTP call and one durable write per batch, and an idle one waits for nothing.
type link struct {
	host    Host
	ledger  policy.Ledger
	headers [][2]string
	queue   []queued
	body    []byte // of the last batch: the next is written over it, for the host has taken its own copy
	busy    bool
	down    bool          // the last batch was lost
	heard   int64         // the ledger's clock when it last answered, Unix ms; 0: never
	heardAt time.Duration // the worker's clock at that moment
}

// queued is one operation and who waits for its answer. done gets false where nothing is known of its effect.
type queued struct {
	op   wire.Op
	at   time.Duration       // when it was queued
	sent func(time.Duration) // told when it is first sent; nil: nobody asks
	done func(wire.Answer, bool)
}

func newLink(host Host, ledger policy.Ledger) *link {
	l := &link{host: host, ledger: ledger}
	l.headers = [][2]string{
		{":method", "POST"}, {":path", "/v1/ops"}, {":authority", ledger.Cluster},
		{"content-type", "application/x-ndjson"},
	}
	if ledger.Token != "" {
		l.headers = append(l.headers, [2]string{"authorization", "Bearer " + ledger.Token})
	}
	return l
}

func (l *link) send(q queued) {
	q.at = l.host.Now()
	l.queue = append(l.queue, q)
}

// tick gives up the reserves that have waited for their batch as long as a batch may take: their callers are to hear
// within the ledger's timeout that there is no ledger, also where the batch before theirs is what it keeps waiting.
func (l *link) tick(now time.Duration) {
	if !l.busy {
		return
	}
	kept, given := l.queue[:0], []queued(nil)
	for _, q := range l.queue {
		if q.op.Kind == wire.OpReserve && now >= q.at+l.ledger.Timeout {
			given = append(given, q)
		} else {
			kept = append(kept, q)
		}
	}
	clear(l.queue[len(kept):])
	l.queue = kept
	for _, q := range given {
		l.deliver(q, wire.Answer{}, false)
	}
}

func (l *link) idle() bool { return !l.busy && len(l.queue) == 0 }

func (l *link) request(body []byte, timeout time.Duration) HTTPCall {
	return HTTPCall{Cluster: l.ledger.Cluster, Headers: l.headers, Body: body, Timeout: timeout}
}

// flush sends the next batch. A link that has never heard the ledger's clock asks for it first, because a reserve
// carries a bound on that clock.
func (l *link) flush() {
	if l.busy || len(l.queue) == 0 {
		return
	}
	if l.heard == 0 {
		l.askTime()
		return
	}
	batch := l.take()
	now, body := l.host.Now(), l.body[:0]
	for i := range batch {
		q := &batch[i]
		if q.op.Kind == wire.OpReserve {
			q.op.NotAfter = l.now() + l.ledger.Timeout.Milliseconds()
		}
		if q.sent != nil {
			q.sent(now)
		}
		body = wire.AppendOp(body, &q.op)
	}
	l.body = body
	l.dispatch(body, batch)
}

// take removes the next batch from the queue: its head, within the bounds.
func (l *link) take() []queued {
	n, size := 0, 0
	for n < len(l.queue) && n < maxBatchOps {
		size += opSize(&l.queue[n].op)
		if n > 0 && size > maxBatchBytes {
			break
		}
		n++
	}
	batch := l.queue[:n:n]
	l.queue = l.queue[n:]
	if len(l.queue) == 0 {
		l.queue = nil
	}
	return batch
}

// opSize is about how many bytes an operation takes on the wire.
func opSize(op *wire.Op) int {
	size := 1024 + len(op.Action)
	if op.Result != nil {
		size += len(op.Result.Body) * 4 / 3
	}
	return size
}

// askTime asks for a result that cannot be there, for the sake of the clock that every answer carries.
func (l *link) askTime() {
	const nobody = "0000000000000000000000000000000000000000000000000000000000000000"
	op := wire.Op{Kind: wire.OpFetch, Attempt: "clock", Intent: nobody}
	l.dispatch(wire.AppendOp(nil, &op), nil)
}

// dispatch sends a batch's body and hands each answer to who waits for it. A batch without operations asks for the
// time; if that is not told, all that waits is lost with it.
func (l *link) dispatch(body []byte, batch []queued) {
	l.busy = true
	began := l.host.Now()
	finish := func(r HTTPReply) {
		l.busy = false
		if len(batch) > 0 {
			l.host.Observe(statLedgerMS, uint64((l.host.Now() - began).Milliseconds()))
			l.host.Observe(statLedgerOps, uint64(len(batch)))
		}
		want := max(len(batch), 1)
		answers, ok := l.answers(r, want)
		l.down = !ok
		if !ok && len(batch) == 0 {
			batch, l.queue = l.queue, nil
		}
		for i, q := range batch {
			a := wire.Answer{}
			if ok {
				a = answers[i]
			}
			l.deliver(q, a, ok)
		}
		l.flush()
	}
	if !l.host.Dispatch(l.request(body, l.ledger.Timeout), finish) {
		finish(HTTPReply{})
	}
}

// deliver hands an answer to who waits for it. A fault in one must not cost the others of its batch their answers.
func (l *link) deliver(q queued, a wire.Answer, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			l.host.Fault("the answer to a "+string(q.op.Kind), r)
		}
	}()
	q.done(a, ok)
}

// answers reads a reply of the ledger that must hold exactly so many answers. false: nothing is known of what was
// asked.
func (l *link) answers(r HTTPReply, want int) ([]wire.Answer, bool) {
	if r.Status != 200 {
		l.host.Count("ledger.lost", uint64(want))
		if r.Status == 401 || r.Status == 403 {
			l.host.Warn("the ledger refuses this filter's token (" + strconv.Itoa(r.Status) + "): compare ledger.token_env with ledgerd's --token")
		}
		return nil, false
	}
	out := make([]wire.Answer, 0, want)
	for line := range wire.Lines(r.Body) {
		a, err := wire.ReadAnswer(line)
		if err != nil {
			l.host.Warn("the ledger's answer cannot be read: " + err.Error())
			return nil, false
		}
		out = append(out, a)
	}
	if len(out) != want {
		l.host.Warn("the ledger gave " + strconv.Itoa(len(out)) + " answers to " + strconv.Itoa(want) + " operations")
		return nil, false
	}
	l.heard, l.heardAt = out[len(out)-1].Now, l.host.Now()
	return out, true
}

// now is the ledger's clock as far as this worker knows: what it last heard and the time since.
func (l *link) now() int64 {
	return l.heard + (l.host.Now() - l.heardAt).Milliseconds()
}

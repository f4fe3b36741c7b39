package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"idem/ledgerd/wire"
)

// load is one measurement: callers that ask and wait for the answer, one operation each at a time.
type load struct {
	address string
	callers int
	links   int
	limit   time.Duration // 0: until calls are made
	calls   int           // 0: until the limit
	first   int           // the number of the first new call
	kept    int           // replays: of calls below this number; 0: new calls
	over    time.Time     // when the retention of new calls ends; zero: as usual
}

// figures are what a measurement gave.
type figures struct {
	calls, ops int
	elapsed    time.Duration
	p50, p99   time.Duration // of an operation
}

func (f figures) opsPerSecond() float64   { return float64(f.ops) / f.elapsed.Seconds() }
func (f figures) callsPerSecond() float64 { return float64(f.calls) / f.elapsed.Seconds() }

// measure runs a load.
func (l load) measure(ctx context.Context) (figures, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	links := make([]*link, min(l.links, l.callers))
	for i := range links {
		links[i] = newLink(ctx, l.address, cancel)
	}
	var next atomic.Int64
	var all sync.WaitGroup
	took := make([][]time.Duration, l.callers)
	began := time.Now()
	for i := range l.callers {
		c := &caller{load: l, link: links[i%len(links)], answer: make(chan wire.Answer, 1), random: rand.New(rand.NewPCG(uint64(i), uint64(began.UnixNano())))}
		all.Go(func() {
			for ctx.Err() == nil && (l.limit == 0 || time.Since(began) < l.limit) {
				n := int(next.Add(1) - 1)
				if l.calls > 0 && n >= l.calls {
					break
				}
				if err := c.call(ctx, n); err != nil {
					cancel(err)
				}
			}
			took[i] = c.took
		})
	}
	all.Wait()
	f := figures{elapsed: time.Since(began)}
	if err := context.Cause(ctx); err != nil {
		return f, err
	}
	ops := slices.Concat(took...)
	if len(ops) == 0 {
		return f, fmt.Errorf("nothing was answered within %v", l.limit)
	}
	slices.Sort(ops)
	f.ops, f.calls, f.p50, f.p99 = len(ops), len(ops), ops[len(ops)/2], ops[len(ops)*99/100]
	if l.kept == 0 {
		f.calls /= 2
	}
	return f, nil
}

// caller is one caller.
type caller struct {
	load   load
	link   *link
	answer chan wire.Answer
	random *rand.Rand
	took   []time.Duration
}

// call makes the n-th call of a load.
func (c *caller) call(ctx context.Context, n int) error {
	if c.load.kept > 0 {
		n = c.random.IntN(c.load.kept)
		a, err := c.ask(ctx, reserve(n, "again-"+strconv.FormatInt(c.random.Int64(), 36)))
		if err == nil && (a.Kind != wire.AnswerReplay || a.Result == nil || string(a.Result.Body) != string(result(n).Body)) {
			err = fmt.Errorf("call %d: want its replay, got %s", n, wire.AppendAnswer(nil, &a))
		}
		return err
	}
	n += c.load.first
	attempt := "attempt-" + strconv.Itoa(n)
	op := reserve(n, attempt)
	if over := c.load.over; !over.IsZero() {
		rule := wire.DefaultRule()
		rule.RetentionMS = max(time.Until(over).Milliseconds(), 1)
		op.Rule, op.NotAfter = &rule, time.Now().Add(5*time.Second).UnixMilli() // so that nothing stays of it then
	}
	a, err := c.ask(ctx, op)
	if err == nil && a.Kind != wire.AnswerExecute {
		err = fmt.Errorf("call %d: want execute, got %s", n, wire.AppendAnswer(nil, &a))
	}
	if err != nil {
		return err
	}
	a, err = c.ask(ctx, wire.Op{Kind: wire.OpCommit, Attempt: attempt, Intent: digest(n, 'i'), Result: result(n)})
	if err == nil && a.Kind != wire.AnswerOK {
		err = fmt.Errorf("call %d: want ok to its commit, got %s", n, wire.AppendAnswer(nil, &a))
	}
	return err
}

func (c *caller) ask(ctx context.Context, op wire.Op) (wire.Answer, error) {
	q := &asked{op, c.answer}
	sent := time.Now()
	select {
	case c.link.queue <- q:
	case <-ctx.Done():
		return wire.Answer{}, context.Cause(ctx)
	}
	select {
	case a := <-c.answer:
		c.took = append(c.took, time.Since(sent))
		return a, nil
	case <-ctx.Done():
		return wire.Answer{}, context.Cause(ctx)
	}
}

// reserve is a call as a filter sends it: a refund, written in 190 bytes.
func reserve(n int, attempt string) wire.Op {
	number := strconv.Itoa(n)
	return wire.Op{
		Kind: wire.OpReserve, Attempt: attempt, Intent: digest(n, 'i'), Fingerprint: digest(n, 'f'), Run: "worker-" + number, Tool: "refund",
		Action: []byte(`{"tool":"refund","args":{"customer":"customer-` + number + `@example.com","amount":"$12.00","currency":"usd","reason":"the parcel came late, and the box was open","order":"o-` + number + `"}}`),
	}
}

// result is what the tool answered: 120 bytes of JSON.
func result(n int) *wire.Result {
	return &wire.Result{Status: 201, Headers: [][2]string{{"content-type", "application/json"}},
		Body: []byte(`{"refund_id":"rf-` + strconv.Itoa(n) + `","status":"succeeded","amount":1200,"currency":"usd","created":"2026-01-01T00:00:00Z"}`)}
}

// digest is 64 hex digits that look like any others.
func digest(n int, of byte) string {
	var b [9]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	b[8] = of
	sum := sha256.Sum256(b[:])
	return hex.EncodeToString(sum[:])
}

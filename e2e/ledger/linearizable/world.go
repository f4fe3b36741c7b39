package linearizable

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"idem/ledgerd/ledger"
	"idem/ledgerd/store"
	"idem/ledgerd/wire"
)

// world is one history under way: nodes over one store, intents that nobody has called before, and what was called.
type world struct {
	t       testing.TB
	o       Options
	clock   *Clock
	began   time.Time
	nodes   []*node
	intents []*intentBoard
	rules   rules
	queued  int // operations that a ledger may have under way; 0: its default
	ids     atomic.Int64
	name    string // makes ids differ from those of other histories

	mu       sync.Mutex
	calls    []*call
	underWay map[int]int64 // calls, and when they began, Unix ms
	passed   time.Duration
}

// node is a ledger and its way to the store. Both are replaced when it is started anew. Of a process elsewhere the way is
// not known.
type node struct {
	inner store.Store
	mu    sync.Mutex
	link  *link
	book  desk

	crashing sync.Mutex
}

func (n *node) now() (*link, desk) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.link, n.book
}

// intentBoard is what clients know of an intent: what they tell each other, and what they were told.
type intentBoard struct {
	key          string
	fingerprints []string
	mu           sync.Mutex
	attempts     []string
	holds        []wire.Hold
	unknown      atomic.Int64 // calls that may have happened, or may happen yet
}

func (b *intentBoard) note(attempt string, hold *wire.Hold) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if attempt != "" {
		b.attempts = append(b.attempts, attempt)
	}
	if hold != nil {
		b.holds = append(b.holds, *hold)
	}
}

// anyAttempt gives one of those that were noted last.
func (b *intentBoard) anyAttempt(r *rand.Rand) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.attempts)
	if n == 0 {
		return "nobody"
	}
	return b.attempts[max(0, n-1-r.IntN(6))]
}

func (b *intentBoard) anyHold(r *rand.Rand) *wire.Hold {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.holds)
	if n == 0 {
		return nil
	}
	h := b.holds[max(0, n-1-r.IntN(4))]
	return &h
}

func digest(words ...any) string {
	sum := sha256.Sum256([]byte(fmt.Sprint(words...)))
	return hex.EncodeToString(sum[:])
}

// newWorld starts nodes over the views of a store.
func newWorld(t testing.TB, o Options, stores []store.Store, clock *Clock, seed uint64, random *rand.Rand) *world {
	w := &world{t: t, o: o, clock: clock, began: time.Now(), rules: newRules(o, random), underWay: map[int]int64{}, name: fmt.Sprintf("%x", seed&0xffffff)}
	w.queued = one(random, 0, 0, 0, 3)
	for i, s := range stores {
		n := &node{inner: s}
		w.nodes = append(w.nodes, n)
		if err := w.insist(n, seed+uint64(i)); err != nil {
			t.Fatalf("a ledger does not start: %v", err)
		}
	}
	for _, p := range o.Processes {
		w.nodes = append(w.nodes, &node{book: p})
	}
	for i := range o.Intents {
		b := &intentBoard{key: digest(seed, "intent", i)}
		for f := range 3 {
			b.fingerprints = append(b.fingerprints, digest(seed, "fingerprint", i, f))
		}
		w.intents = append(w.intents, b)
	}
	return w
}

// insist starts a node, more than once where the store is slower than a node of a history has patience.
func (w *world) insist(n *node, seed uint64) error {
	var err error
	for range 50 {
		if err = w.start(n, seed); err == nil {
			return nil
		}
	}
	return err
}

// start gives a node a new ledger on a new way to the store.
func (w *world) start(n *node, seed uint64) error {
	l := newLink(n.inner, seed, w.since)
	book, err := ledger.New(ledger.Options{
		Store: l, SoleOwner: w.o.SoleOwner, QueuedOps: w.queued,
		OperationTimeout: w.o.operationTimeout(), StoreTimeout: w.o.Patience, SweepEvery: 10 * time.Millisecond, PollEvery: 20 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.link, n.book = l, book
	return nil
}

// restart replaces a node as a crash would: what it was doing it may still finish.
func (w *world) restart(n *node, seed uint64) {
	_, old := n.now()
	if err := w.insist(n, seed); err != nil {
		w.t.Fatalf("a ledger does not start again: %v", err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_ = old.(*ledger.Ledger).Close(gone) // it says that operations are under way: so they are
}

// crash crashes a process elsewhere, and waits until it is there again.
func (w *world) crash(n *node) {
	if n.crashing.TryLock() {
		defer n.crashing.Unlock()
		n.book.(Process).Crash()
	}
}

// stop ends every node. Whatever is still late is lost.
func (w *world) stop() {
	w.calm()
	for _, n := range w.nodes {
		_, desk := n.now()
		book, here := desk.(*ledger.Ledger)
		if !here {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		if err := book.Close(ctx); err != nil {
			w.t.Errorf("a ledger does not end: %v", err)
		}
		cancel()
	}
}

// mostUnknown is how many calls of one intent may have an outcome that is not known: each doubles what the record may be.
// Then the weather is fair.
const mostUnknown = 5

func (w *world) wild() bool {
	for _, b := range w.intents {
		if b.unknown.Load() >= mostUnknown {
			return false
		}
	}
	return w.o.Faults
}

func (w *world) calm() {
	for _, n := range w.nodes {
		if l, _ := n.now(); l != nil {
			l.become(calm)
		}
	}
}

func (w *world) since() int64 { return int64(time.Since(w.began)) }

// patience ends an operation that hangs: a ledger's own bounds are far shorter.
const patience = 20 * time.Second

// call lets a client call a node, and takes down what it was told.
func (w *world) call(client, at int, b *intentBoard, op wire.Op, h *human) *call {
	c := &call{id: int(w.ids.Add(1)), client: client, node: at, intent: b.key, op: op, human: h}
	l, book := w.nodes[at].now()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c.op.Intent = b.key
	w.mu.Lock()
	c.from, c.began = w.clock.now(), w.since()
	w.underWay[c.id] = c.from
	w.mu.Unlock()
	switch {
	case h == nil:
		c.answer = book.Do(ctx, []wire.Op{c.op})[0]
		c.heard = dataHeard(&c.answer)
	case h.hold != "":
		v, err := book.AnswerHold(ctx, h.hold, ledger.HoldAnswer{Decision: h.decision, Version: h.version, By: c.by()})
		c.listen(v.Audit, err)
	default:
		r := ledger.Resolution{As: h.as, By: c.by()}
		if h.body != "" {
			r.Result = &wire.Result{Status: 200, Body: []byte(h.body)}
		}
		v, err := book.Resolve(ctx, h.attempt, r)
		c.listen(v.Audit, err)
	}
	c.ended, c.to = w.since(), w.clock.now()
	if ctx.Err() != nil {
		w.t.Errorf("no answer within %v: %v", patience, c)
	}
	if c.answer.Hold != nil {
		b.note("", c.answer.Hold)
	}
	switch {
	case !c.acts() || c.heard == refused:
	case l != nil:
		c.mayHaveHappened(l.sent(b.key, c.began, c.ended))
		if c.heard == unknown {
			c.way = l
		}
	case c.heard == unknown:
		c.effects, c.moments = 1, []int64{0}
	}
	if c.heard == unknown && c.effects > 0 && b.unknown.Add(1) >= mostUnknown {
		w.calm()
	}
	c.idle = c.heard == refused || c.heard == unknown && c.effects == 0
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
	delete(w.underWay, c.id)
	return c
}

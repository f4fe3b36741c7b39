package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// load is all callers of a run.
type load struct {
	seed    uint64
	run     uint64 // part of every order's id, so that runs over one ledger do not meet
	url     string
	book    *book
	clients []*http.Client

	made   atomic.Int64 // calls
	left   atomic.Int64 // of these, those whose callers left
	visits atomic.Int64
	orders atomic.Uint64

	mu   sync.Mutex
	due  []visit // orders that will be called again, in no order
	seen []*order
}

// visit is some callers of one order at once.
type visit struct {
	order *order
	after int64    // visits that come first
	more  int      // visits of this order that follow
	first bool     // nobody has called it before
	runs  []string // that were held, and come again
}

// together is how many orders are called at once.
const together = 96

// make makes calls until so many have been made in all, and all who stay have been answered.
func (l *load) make(ctx context.Context, calls int64) {
	var all sync.WaitGroup
	for i := range together {
		r := rand.New(rand.NewPCG(l.seed+uint64(calls), uint64(i)))
		all.Go(func() {
			for l.made.Load() < calls && ctx.Err() == nil {
				l.visit(ctx, l.next(r), r)
			}
		})
	}
	all.Wait()
}

// next gives an order that is due to be called again, or a new one.
func (l *load) next(r *rand.Rand) visit {
	now := l.visits.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	for range 4 {
		if len(l.due) == 0 {
			break
		}
		i := r.IntN(len(l.due))
		if v := l.due[i]; v.after <= now {
			l.due[i] = l.due[len(l.due)-1]
			l.due = l.due[:len(l.due)-1]
			return v
		}
	}
	o := newOrder(l.run, l.orders.Add(1), r)
	l.seen = append(l.seen, o)
	if r.IntN(12) == 0 {
		s := o.sibling(l.run, l.orders.Add(1))
		l.seen = append(l.seen, s)
		l.due = append(l.due, visit{order: s, after: now + 5 + r.Int64N(200), more: 1, first: true})
	}
	return visit{order: o, more: r.IntN(4), first: true}
}

// visit lets several callers call an order at once, and sometimes somebody else the very same.
func (l *load) visit(ctx context.Context, v visit, r *rand.Rand) {
	var all sync.WaitGroup
	var mu sync.Mutex
	var held []string
	calls := 1 + r.IntN(2)
	if v.first {
		calls = 1 + r.IntN(6)
	}
	orders := []*order{v.order}
	if v.first && r.IntN(20) == 0 {
		twin := v.order.twin()
		orders = append(orders, twin)
		l.mu.Lock()
		l.seen = append(l.seen, twin)
		l.mu.Unlock()
	}
	for i := range calls * len(orders) {
		c := l.caller(v, orders[i%len(orders)], r)
		mine := rand.New(rand.NewPCG(r.Uint64(), 0))
		l.made.Add(1)
		all.Go(func() {
			if l.one(ctx, c, mine) == "held" && c.run != "" && c.order == v.order {
				mu.Lock()
				held = append(held, c.run)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(held) > 0 {
		v.more = max(v.more, 1)
	}
	if v.more > 0 {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.due = append(l.due, visit{order: v.order, after: l.visits.Load() + 20 + r.Int64N(1500), more: v.more - 1, runs: held})
	}
}

// caller is one of an order's callers: of its usual run, of another, or of none; one in ten leaves.
func (l *load) caller(v visit, o *order, r *rand.Rand) *caller {
	c := &caller{order: o, client: l.clients[r.IntN(len(l.clients))]}
	switch n := r.IntN(100); {
	case len(v.runs) > 0 && n < 60:
		c.run = v.runs[r.IntN(len(v.runs))]
	case n < 65:
		c.run = "usual"
	case n < 90:
	default:
		c.run = fmt.Sprintf("run-%x", r.Uint32())
	}
	if r.IntN(10) == 0 {
		c.leaves = time.Duration(1+r.IntN(20)) * time.Millisecond
		if r.IntN(2) == 0 {
			c.leaves = time.Duration(1+r.IntN(3000)) * time.Millisecond
		}
	}
	return c
}

// one makes one call, has it judged, and gives its outcome; empty: nobody was there to hear it.
func (l *load) one(ctx context.Context, c *caller, r *rand.Rand) (outcome string) {
	t, left := c.call(ctx, l.url, r)
	switch {
	case left:
		l.left.Add(1)
		return ""
	case t.reply.Err != nil:
		l.book.note(func() {
			l.book.complain("a caller of %v (%s), run %q, was not answered within %v: %v",
				c.order.key(), c.order.kind.name, c.run, t.reply.Took, t.reply.Err)
		})
		return ""
	}
	l.book.judge(t)
	return t.reply.Outcome()
}

// again has every order called once more, without a run and by callers that stay, and gives how many were told so.
func (l *load) again(ctx context.Context, orders []*order) (outcomes map[string][]*order) {
	outcomes = map[string][]*order{}
	var mu sync.Mutex
	var all sync.WaitGroup
	var next atomic.Int64
	for i := range 48 {
		r := rand.New(rand.NewPCG(l.seed, uint64(i)))
		all.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(orders) || ctx.Err() != nil {
					return
				}
				l.made.Add(1)
				outcome := l.one(ctx, &caller{order: orders[n], client: l.clients[r.IntN(len(l.clients))]}, r)
				mu.Lock()
				outcomes[outcome] = append(outcomes[outcome], orders[n])
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return outcomes
}

// rest closes the connections that nobody uses.
func (l *load) rest() {
	for _, c := range l.clients {
		c.CloseIdleConnections()
	}
}

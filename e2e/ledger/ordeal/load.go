package ordeal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"idem/ledgerd/wire"
)

// racers is how many callers call each call at about the same time.
const racers = 3

// load is many callers at work on calls that nobody has called before.
type load struct {
	server *server
	name   string
	stop   atomic.Bool
	all    sync.WaitGroup

	mu    sync.Mutex
	books []*callBook
}

// startLoad starts callers that go on until they are told to stop. A name makes the calls other than those of other loads.
func startLoad(ctx context.Context, s *server, name string, callers int, seed uint64) *load {
	l := &load{server: s, name: name}
	var next atomic.Int64
	for i := range callers {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		l.all.Go(func() {
			for !l.stop.Load() && ctx.Err() == nil {
				n := int(next.Add(1) - 1)
				c := &caller{server: s, book: l.book(n / racers), run: fmt.Sprint("run", n%racers), random: random}
				c.call(ctx)
			}
		})
	}
	return l
}

func (l *load) book(n int) *callBook {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.books) <= n {
		l.books = append(l.books, newCallBook(fmt.Sprintf("%s-%d", l.name, len(l.books))))
	}
	return l.books[n]
}

// someCommitted gives a call whose commit was acknowledged.
func (l *load) someCommitted() *callBook {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.books {
		b.mu.Lock()
		done := len(b.committed) > 0
		b.mu.Unlock()
		if done {
			return b
		}
	}
	return newCallBook("none")
}

// finish lets every caller come to the end of its call.
func (l *load) finish() { l.stop.Store(true); l.all.Wait() }

// again asks the ledger once more what it has answered, and says what it does not stand by. Every time has a number of its
// own; the first comes soon after the answers.
func again(ctx context.Context, t testing.TB, s *server, books []*callBook, try int) {
	t.Helper()
	for some := range slices.Chunk(books, 500) {
		var ops []wire.Op
		var judges []func(*wire.Answer)
		for _, b := range some {
			o, j := b.questions(try, try > 0)
			ops, judges = append(ops, o...), append(judges, j...)
		}
		answers, err := s.link().send(ctx, ops)
		if err != nil {
			t.Fatalf("asking again: %v", err)
		}
		for i := range answers {
			judges[i](&answers[i])
		}
		for _, b := range some {
			for _, wrong := range b.wrong {
				t.Error(wrong)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// count sums up what a load did, for people.
func count(books []*callBook) (executed, failed, committed, held int) {
	for _, b := range books {
		executed, failed, committed, held = executed+b.executed, failed+b.failed, committed+len(b.committed), held+len(b.held)
	}
	return executed, failed, committed, held
}

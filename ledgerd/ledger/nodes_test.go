package ledger

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
	"idem/ledgerd/store/memory"
	"idem/ledgerd/wire"
)

// two gives two ledgers over one store.
func two(t *testing.T, change ...func(*Options)) (*book, *book) {
	t.Helper()
	one := open(t, append(change, shared)...)
	return one, openOver(t, one.clock, &watched{Store: one.kept.Store}, append(change, shared)...)
}

func TestTwoLedgersOverOneStoreExecuteOnce(t *testing.T) {
	one, other := two(t)
	const callers = 200
	var all sync.WaitGroup
	var mu sync.Mutex
	granted, kinds := "", map[wire.AnswerKind]int{}
	for i := range callers {
		b := one
		if i%2 == 1 {
			b = other
		}
		all.Go(func() {
			a := b.do(reserve(fmt.Sprint("a", i), "i", "f", fmt.Sprint("run", i)))
			mu.Lock()
			defer mu.Unlock()
			kinds[a.Kind]++
			if granted == "" {
				granted = a.Attempt
			}
			if a.Attempt != granted {
				t.Errorf("got %s, want the attempt %s", show(a), granted)
			}
		})
	}
	all.Wait()
	one.same("answers", kinds, map[wire.AnswerKind]int{wire.AnswerExecute: 1, wire.AnswerInFlight: callers - 1})
}

func TestManyRecordsUnderTwoLedgersStayConsistent(t *testing.T) {
	one, other := two(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	executions := map[string]int{}
	for i := range 40 {
		for n, b := range []*book{one, other} {
			all.Go(func() {
				id, key := fmt.Sprintf("a%d-%d", i, n), fmt.Sprint("i", i)
				if a := b.do(reserve(id, key, key, fmt.Sprint("run", n))); a.Kind == wire.AnswerExecute {
					mu.Lock()
					executions[key]++
					mu.Unlock()
					b.do(extend(id, key))
					b.do(commit(id, key, id))
				}
			})
		}
	}
	all.Wait()
	for i := range 40 {
		key := fmt.Sprint("i", i)
		if executions[key] != 1 {
			t.Errorf("%s was executed %d times", key, executions[key])
		}
		x := one.must(wire.AnswerReplay, reserve("x", key, key, "run0"))
		y := other.must(wire.AnswerReplay, reserve("y", key, key, "run1"))
		one.same("replay of "+key, x.Result, y.Result)
	}
}

func TestACommitOnOneNodeWakesWhoWaitsOnAnother(t *testing.T) {
	waits := func(one, other *book) chan wire.Answer {
		one.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
		got := make(chan wire.Answer, 1)
		go func() { got <- other.do(await("a1", "i", time.Hour)) }()
		other.waiting("i", 1)
		one.must(wire.AnswerOK, commit("a1", "i", "done"))
		return got
	}
	t.Run("at once", func(t *testing.T) {
		one, other := two(t)
		if a := <-waits(one, other); a.Kind != wire.AnswerResult || string(a.Result.Body) != "done" {
			t.Errorf("got %s", show(a))
		}
	})
	t.Run("with the next poll, where the notification is lost", func(t *testing.T) {
		one := open(t, shared)
		other := openOver(t, one.clock, &watched{Store: one.kept.Store, deaf: true}, shared)
		got := waits(one, other)
		other.waiting("i", 1)
		other.poll(t.Context())
		if a := <-got; a.Kind != wire.AnswerResult {
			t.Errorf("got %s", show(a))
		}
	})
	t.Run("and an answered hold too", func(t *testing.T) {
		one, other := two(t)
		hold := heldCall(one)
		got := make(chan wire.Answer, 1)
		go func() { got <- other.do(awaitHold(hold.ID, "i", time.Hour)) }()
		other.waiting("i", 1)
		if _, err := one.AnswerHold(t.Context(), hold.ID, HoldAnswer{Decision: intent.Deny}); err != nil {
			t.Fatal(err)
		}
		if a := <-got; a.Kind != wire.AnswerAnswered {
			t.Errorf("got %s", show(a))
		}
	})
}

// paused is a store whose clock stands still, once, until it is let go: whoever decides has read the record by then.
type paused struct {
	store.Store
	asked, goOn chan struct{}
	once        sync.Once
}

func (s *paused) Now(ctx context.Context) (time.Time, error) {
	s.once.Do(func() {
		close(s.asked)
		<-s.goOn
	})
	return s.Store.Now(ctx)
}

func TestAnAwaitIsNotToldWhatWasTrueBeforeIt(t *testing.T) {
	one, other := two(t)
	committed(one, "done")
	one.pass(6 * time.Second)

	// The other node reads the record, and takes its time to decide.
	slow := &paused{Store: other.kept.Store, asked: make(chan struct{}), goOn: make(chan struct{})}
	other.kept.Store = slow
	decided := make(chan wire.Answer, 1)
	go func() { decided <- other.do(reserve("a2", "i", "f", "")) }()
	<-slow.asked

	hold := one.must(wire.AnswerHeld, reserve("a3", "i", "f", "run-c")).Hold
	got := make(chan wire.Answer, 1)
	go func() { got <- other.do(awaitHold(hold.ID, "i", 0)) }()
	soon(t, "an await", func() bool { return other.waiters.waits(hash("i")) })
	close(slow.goOn)
	if a := <-decided; a.Kind != wire.AnswerReplay {
		t.Errorf("the slow decision: got %s", show(a))
	}
	if a := <-got; a.Kind != wire.AnswerHeld {
		t.Errorf("the await: got %s, want held: the hold was there before the await", show(a))
	}
}

func TestOnlyTheReplayOfOnesOwnRowComesFromMemory(t *testing.T) {
	one, other := two(t)
	committed(one, "done")
	other.must(wire.AnswerReplay, reserve("a2", "i", "f", "r"))
	loads := other.kept.loads.Load()
	other.must(wire.AnswerReplay, reserve("a3", "i", "f", "r"))
	other.same("loads for a replay that is known", other.kept.loads.Load(), loads)

	// Meanwhile other runs are held, released and executed by the other node.
	one.pass(6 * time.Second)
	hold := one.must(wire.AnswerHeld, reserve("b1", "i", "f", "run-b")).Hold
	if _, err := one.AnswerHold(t.Context(), hold.ID, HoldAnswer{Decision: intent.Release}); err != nil {
		t.Fatal(err)
	}
	one.must(wire.AnswerExecute, reserve("b2", "i", "f", "run-b"))
	other.same("a new run joins what the other node executes", other.must(wire.AnswerInFlight, reserve("c1", "i", "f", "run-c")).Attempt, "b2")
	other.same("and so does an absent one", other.must(wire.AnswerInFlight, reserve("c2", "i", "f", "")).Attempt, "b2")
}

func TestNoReplayFromMemoryOutlivesItsRetention(t *testing.T) {
	one, other := two(t)
	committed(one, "done")
	one.pass(23 * time.Hour)
	hold := one.must(wire.AnswerHeld, reserve("b1", "i", "f", "run-b")).Hold // it keeps the row beyond its retention
	other.must(wire.AnswerReplay, reserve("a2", "i", "f", "r"))
	one.pass(2 * time.Hour)
	other.must(wire.AnswerReplay, reserve("a3", "i", "f", "r"))
	if _, err := one.AnswerHold(t.Context(), hold.ID, HoldAnswer{Decision: intent.Release}); err != nil {
		t.Fatal(err)
	}
	one.must(wire.AnswerExecute, reserve("b2", "i", "f", "run-b"))
	other.same("who executes", other.must(wire.AnswerInFlight, reserve("a4", "i", "f", "r")).Attempt, "b2")
}

func TestAStaleMemoryDecidesNothing(t *testing.T) {
	one, other := two(t)
	one.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
	other.must(wire.AnswerInFlight, reserve("a2", "i", "f", "r")) // other remembers the row as reserved
	one.must(wire.AnswerOK, fail("a1", "i", wire.ClassNotSent, nil))
	other.must(wire.AnswerExecute, reserve("a3", "i", "f", "r"))
	one.must(wire.AnswerFenced, extend("a1", "i")) // one remembers a1 as the last
	one.must(wire.AnswerInFlight, reserve("a4", "i", "f", "r"))
	other.must(wire.AnswerOK, commit("a3", "i", "done"))
	one.must(wire.AnswerReplay, reserve("a5", "i", "f", "r"))
}

// The other node has not polled since it started and never will: it stops to answer from memory by itself.
func TestNoResetIsOutlivedByAnyMemory(t *testing.T) {
	one := open(t, shared, func(o *Options) { o.PollEvery = 20 * time.Millisecond })
	other := openOver(t, one.clock, &watched{Store: one.kept.Store}, shared)
	committed(one, "before")
	other.must(wire.AnswerReplay, reserve("a2", "i", "f", "r"))
	if err := one.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	other.must(wire.AnswerExecute, reserve("a3", "i", "f", "r"))
	one.must(wire.AnswerInFlight, reserve("a4", "i", "f", "r"))
}

// halfReset is a store that breaks off after it was emptied: what is said about the reset after that is lost.
type halfReset struct {
	store.Store
	emptied atomic.Bool
}

func (s *halfReset) Reset(ctx context.Context) error {
	s.emptied.Store(true)
	return s.Store.Reset(ctx)
}

func (s *halfReset) SetSetting(ctx context.Context, name, value string) error {
	if name == settingReset && s.emptied.Load() {
		return store.ErrUnavailable
	}
	return s.Store.SetSetting(ctx, name, value)
}

func TestAResetThatBreaksOffLeavesNoMemoryOfWhatWas(t *testing.T) {
	one, other := two(t, func(o *Options) { o.PollEvery, o.Store = 20*time.Millisecond, &halfReset{Store: o.Store} })
	committed(one, "before")
	other.must(wire.AnswerReplay, reserve("a2", "i", "f", "r"))
	if err := one.Reset(t.Context()); err == nil {
		t.Fatal("the reset has not broken off")
	}
	deadline := time.Now().Add(10 * time.Second)
	for { // the other node learns of it with its next poll
		a := other.do(reserve("a3", "i", "f", "r"))
		if a.Kind == wire.AnswerExecute || time.Now().After(deadline) {
			if a.Kind != wire.AnswerExecute {
				t.Errorf("still answered from before: %s", show(a))
			}
			return
		}
		runtime.Gosched()
	}
}

func TestAResetTellsWhoWaits(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
	got := make(chan wire.Answer, 1)
	go func() { got <- b.do(await("a1", "i", time.Hour)) }()
	b.waiting("i", 1)
	if err := b.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := <-got; a.Kind != wire.AnswerGone {
		t.Errorf("got %s", show(a))
	}
	b.must(wire.AnswerFenced, commit("a1", "i", "from before"))
	b.must(wire.AnswerExecute, reserve("a2", "i", "f", "r"))
}

func TestTheSweepsOfTwoNodesDoNotDisturbEachOther(t *testing.T) {
	one, other := two(t)
	for i := range 300 {
		one.must(wire.AnswerExecute, reserve(fmt.Sprint("a", i), fmt.Sprint("i", i), fmt.Sprint("f", i), "r"))
	}
	for range 4 {
		one.clock.advance(4 * time.Second)
		var both sync.WaitGroup
		both.Go(func() { one.sweep(t.Context()) })
		both.Go(func() { other.sweep(t.Context()) })
		both.Wait()
	}
	list, err := other.Doubts(t.Context(), 1000)
	if err != nil || len(list) != 300 {
		t.Errorf("%d are in doubt, %v", len(list), err)
	}
	due, err := one.kept.Scan(t.Context(), store.Due, one.clock.now(), nil, 10)
	if err != nil || len(due) != 0 {
		t.Errorf("%d are due still, %v", len(due), err)
	}
}

func TestARecordThatIsDueTooEarlyIsLookedAtOnce(t *testing.T) {
	// After an outage a lease ends later than the index says.
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
	b.clock.advance(time.Minute)
	b.sweep(t.Context())
	if due, err := b.kept.Scan(t.Context(), store.Due, b.clock.now(), nil, 10); err != nil || len(due) != 0 {
		t.Errorf("after the sweep %d are due still, %v", len(due), err)
	}
	swaps := b.kept.swaps.Load()
	b.sweep(t.Context())
	b.same("writes of the second sweep", b.kept.swaps.Load(), swaps)
	b.must(wire.AnswerInFlight, reserve("a2", "i", "f", "r"))
}

func TestTheTimeNeverStepsBack(t *testing.T) {
	c := newClock()
	stepping := memory.New(memory.Options{Clock: c.now})
	b := openOver(t, c, &watched{Store: stepsBack{stepping, c}})
	first := b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r")).Now
	c.advance(-time.Hour)
	if now := b.must(wire.AnswerInFlight, reserve("a2", "i", "f", "r")).Now; now < first {
		t.Errorf("now is %d after %d", now, first)
	}
}

// stepsBack is a store whose clock does not keep its promise.
type stepsBack struct {
	store.Store
	clock *clock
}

func (s stepsBack) Now(context.Context) (time.Time, error) { return s.clock.now(), nil }

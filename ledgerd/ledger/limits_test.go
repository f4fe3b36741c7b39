package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/wire"
)

// stalled makes every write wait until release is called.
func (s *watched) stalled() (release func()) {
	gate := make(chan struct{})
	s.setSwap(func(_ store.Write, swap func() (uint64, error)) (uint64, error) {
		<-gate
		return swap()
	})
	return func() { s.setSwap(nil); close(gate) }
}

func TestAFullQueueRefusesReservesButNotWhatEndsExecutions(t *testing.T) {
	b := open(t, func(o *Options) { o.QueuedOps = 10 })
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
	release := b.kept.stalled()
	var all sync.WaitGroup
	for n := range 10 {
		all.Go(func() { b.do(reserve(fmt.Sprint("b", n), fmt.Sprint("j", n), "g", "r")) })
	}
	soon(t, "10 are under way", func() bool { return b.queued.Load() == 10 })
	if a := b.must(wire.AnswerRefused, reserve("c1", "k", "h", "r")); a.Code != wire.CodeOverloaded || a.RetryAfterMS == 0 ||
		!strings.Contains(a.Detail, "10 operations are under way") || !strings.Contains(a.Detail, "--max-queued-operations") {
		t.Errorf("got %s", show(a))
	}
	got := make(chan wire.Answer, 10)
	for range 10 {
		go func() { got <- b.do(commit("a1", "i", "done")) }()
	}
	soon(t, "10 more are under way", func() bool { return b.queued.Load() == 20 })
	if a := b.must(wire.AnswerError, extend("a1", "i")); a.Code != wire.CodeOverloaded || !strings.Contains(a.Detail, "20 operations are under way, twice --max-queued-operations") {
		t.Errorf("got %s", show(a))
	}
	release()
	for range 10 {
		if a := <-got; a.Kind != wire.AnswerOK {
			t.Errorf("got %s", show(a))
		}
	}
	all.Wait()
	soon(t, "nothing is under way", func() bool { return b.queued.Load() == 0 })
	b.must(wire.AnswerExecute, reserve("c1", "k", "h", "r"))
}

func TestOnlySoManyWaitForOneRow(t *testing.T) {
	b := open(t, func(o *Options) { o.WaitersPerRow = 3 })
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
	got := make(chan wire.Answer, 3)
	for range 3 {
		go func() { got <- b.do(await("a1", "i", time.Hour)) }()
	}
	b.waiting("i", 3)
	if a := b.must(wire.AnswerError, await("a1", "i", time.Hour)); a.Code != wire.CodeOverloaded || a.RetryAfterMS == 0 || !strings.Contains(a.Detail, "3 callers wait for it, as many as may wait for one execution (--max-waiters-per-row)") {
		t.Errorf("got %s", show(a))
	}
	b.must(wire.AnswerGone, await("a2", "i", time.Hour)) // another row has its own limit
	b.must(wire.AnswerOK, commit("a1", "i", "done"))
	for range 3 {
		if a := <-got; a.Kind != wire.AnswerResult {
			t.Errorf("got %s", show(a))
		}
	}
	b.must(wire.AnswerResult, await("a1", "i", time.Hour))
}

func TestAFullRecordRefusesWithATime(t *testing.T) {
	b := open(t)
	free := func(op *wire.Op) { op.Rule.OnSameIntent = wire.PolicyExecute }
	for n := range 256 {
		b.must(wire.AnswerExecute, reserve(fmt.Sprint("a", n), "i", fmt.Sprint("f", n), "r", free))
	}
	if a := b.must(wire.AnswerRefused, reserve("b", "i", "g", "r", free)); a.Code != wire.CodeOverloaded || a.RetryAfterMS == 0 || !strings.Contains(a.Detail, "the intent has 256 rows, as many as it may have") {
		t.Errorf("got %s", show(a))
	}
}

func TestClosingWaitsForWhatIsUnderWay(t *testing.T) {
	b := open(t)
	b.proof.worked.Store(int64(time.Since(b.proof.base) + time.Hour)) // so that Ready does not wait for a write
	release := b.kept.stalled()
	got := make(chan wire.Answer, 1)
	go func() { got <- b.do(reserve("a1", "i", "f", "r")) }()
	soon(t, "it is under way", func() bool { return b.kept.swaps.Load() == 1 })

	ctx, cancel := context.WithCancel(t.Context())
	closed := make(chan error, 1)
	go func() { closed <- b.Close(ctx) }()
	soon(t, "nothing new is taken", func() bool { return errors.Is(b.Ready(t.Context()), ErrStopping) })
	if a := b.do(reserve("a2", "j", "g", "r")); a.Kind != wire.AnswerError || a.Code != wire.CodeUnavailable {
		t.Errorf("got %s", show(a))
	}
	select {
	case err := <-closed:
		t.Fatalf("closed before the verdict: %v", err)
	default:
	}
	release()
	if a := <-got; a.Kind != wire.AnswerExecute {
		t.Errorf("got %s", show(a))
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	cancel()
}

func TestClosingEndsWaits(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
	got := make(chan wire.Answer, 1)
	go func() { got <- b.do(await("a1", "i", time.Hour)) }()
	b.waiting("i", 1)
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := <-got; a.Code != wire.CodeUnavailable || !strings.Contains(a.Detail, "ledgerd is stopping: nothing was done") {
		t.Errorf("got %s", show(a))
	}
}

// The requests' waits are ended before the ledger closes: what they are told is that ledgerd stops, not that the store
// is away.
func TestWaitsThatEndBecauseLedgerdStopsSaySo(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
	ctx, stop := context.WithCancelCause(t.Context())
	got := make(chan wire.Answer, 1)
	go func() { got <- b.Do(ctx, []wire.Op{await("a1", "i", time.Hour)})[0] }()
	b.waiting("i", 1)
	stop(ErrStopping)
	if a := <-got; a.Code != wire.CodeUnavailable || !strings.Contains(a.Detail, "ledgerd is stopping: nothing was done") || a.RetryAfterMS == 0 {
		t.Errorf("got %s", show(a))
	}
}

// lines is a log that a test counts the lines of.
type lines struct {
	mu   sync.Mutex
	text []string
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, string(line))
	return len(line), nil
}

func (l *lines) with(word string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.text {
		if strings.Contains(line, word) {
			found = append(found, line)
		}
	}
	return found
}

func TestAStoreThatIsAwayIsNotToldOncePerCall(t *testing.T) {
	log := &lines{}
	b := open(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) })
	b.kept.setSwap(func(store.Write, func() (uint64, error)) (uint64, error) { return 0, store.ErrUnavailable })
	for n := range 50 {
		b.must(wire.AnswerError, reserve(fmt.Sprint("a", n), fmt.Sprint("i", n), "f", "r"))
	}
	b.kept.setSwap(nil)
	if told := log.with("operations could not be decided"); len(told) != 1 {
		t.Errorf("%d lines: %s", len(told), told)
	}
}

// Who operates the ledger is told what is known: only some commits that are not taken speak of a second execution.
func TestAFencedCommitIsToldForWhatItIs(t *testing.T) {
	log := &lines{}
	b := open(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) })
	b.must(wire.AnswerFenced, commit("nobody", "i", "done"))
	if told := log.with("was not taken"); len(told) != 1 || !strings.Contains(told[0], "level=WARN") || !strings.Contains(told[0], "knows no execution of this attempt") {
		t.Errorf("of an attempt that is not known: %s", told)
	}
	b.must(wire.AnswerExecute, reserve("a1", "j", "f", "r"))
	b.must(wire.AnswerOK, commit("a1", "j", "done"))
	b.must(wire.AnswerFenced, commit("a1", "j", "done otherwise"))
	if told := log.with("executed twice, most likely"); len(told) != 1 || !strings.Contains(told[0], "level=ERROR") {
		t.Errorf("of a second result: %s", told)
	}
}

func TestReadyMeansThatTheStoreWrites(t *testing.T) {
	b := open(t)
	if err := b.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.kept.Store.Close()
	if err := b.Ready(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestTheMemoryStaysBounded(t *testing.T) {
	b := open(t, func(o *Options) { o.CachedRecordBytes, o.CachedResultBytes = 8192, 4096 })
	for n := range 100 {
		id := fmt.Sprint("a", n)
		b.must(wire.AnswerExecute, reserve(id, id, id, "r"))
		b.must(wire.AnswerOK, commit(id, id, strings.Repeat("x", 100)))
	}
	if b.records.size > 8192 || len(b.records.byKey) == 0 {
		t.Errorf("%d bytes of %d records are kept", b.records.size, len(b.records.byKey))
	}
	if b.results.size > 4096 || len(b.results.byKey) == 0 {
		t.Errorf("%d bytes of %d results are kept", b.results.size, len(b.results.byKey))
	}
	b.must(wire.AnswerReplay, reserve("x", "a0", "a0", "r"))
	soon(t, "no queue is left", func() bool {
		left := 0
		for i := range b.queues.shards {
			s := &b.queues.shards[i]
			s.mu.Lock()
			left += len(s.queues)
			s.mu.Unlock()
		}
		return left == 0
	})
}

func TestOptionsReportEveryMistakeAtOnce(t *testing.T) {
	_, err := New(Options{QueuedOps: -1, StoreTimeout: -time.Second, Actions: Actions{Keep: "some"}})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"no Store is given", "QueuedOps is -1", "StoreTimeout is -1s", `Actions.Keep is "some"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

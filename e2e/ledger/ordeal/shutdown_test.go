package ordeal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/ledgerd/wire"
)

// ledgerd is told to stop (SIGTERM) under load, again and again on the same data. It ends well and soon; no reply is cut
// short; waits that could last much longer are ended with a whole answer; and all that was answered holds.
func TestAShutdownDrainsAndLosesNothing(t *testing.T) {
	for _, at := range everywhere {
		t.Run(at.name, func(t *testing.T) { shutdowns(t, at.start(t), int(at.cycles)/2) })
	}
}

func shutdowns(t *testing.T, all ledgers, times int) {
	const waits = 20
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	l, s := all.ledgerds[0], all.server()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	var books []*callBook
	var longest time.Duration
	for n := range times {
		work := startLoad(ctx, s, fmt.Sprintf("%x-%d", seed&0xffff, n), callers, seed+uint64(n))
		endless := fmt.Sprint("endless-", n)
		reserve := wire.Op{Kind: wire.OpReserve, Attempt: endless, Intent: digest(endless), Fingerprint: digest(endless), Rule: rule()}
		if a, err := s.ask(ctx, reserve); err != nil || a.Kind != wire.AnswerExecute {
			t.Fatalf("reserve: %s, %v", show(&a), err)
		}
		waiting := newLink(l.Address)
		var waiters sync.WaitGroup
		for range waits {
			waiters.Go(func() {
				ops := []wire.Op{{Kind: wire.OpAwait, Attempt: endless, Intent: reserve.Intent, WaitMS: 300_000}}
				answers, err := waiting.send(ctx, ops)
				if err != nil || answers[0].Kind != wire.AnswerError || answers[0].Code != wire.CodeUnavailable || answers[0].RetryAfterMS == 0 {
					t.Errorf("a wait over the shutdown got %v, %v, want a whole answer: %s with retry_after_ms", answers, err, wire.CodeUnavailable)
				}
			})
		}
		stop := s.answered.Load() + 500 + random.Int64N(2000)
		envoytest.Until(t, time.Minute, "answers and waits", func() bool {
			return s.answered.Load() >= stop && gauge(t, l, "idem_waits_under_way") >= waits
		})
		at := time.Now()
		l.Stop(t) // it must end well
		longest = max(longest, time.Since(at))
		waiters.Wait()
		if cut := s.cut.Load(); cut > 0 {
			t.Errorf("%d replies were cut short", cut)
		}
		l.Start(t)
		work.finish()
		again(ctx, t, s, work.books, 0)
		if t.Failed() {
			t.Fatalf("shutdown %d", n)
		}
		books = append(books, work.books...)
	}
	again(ctx, t, s, books, 1)
	executed, failed, committed, _ := count(books)
	t.Logf("%d answers about %d calls: %d executions, %d of them failed, %d committed; the longest shutdown took %v",
		s.answered.Load(), len(books), executed, failed, committed, longest.Round(time.Millisecond))
	if longest > 10*time.Second {
		t.Errorf("a shutdown took %v: nothing that was under way takes so long", longest)
	}
}

package nodes

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/ledgerd/intent"
	"idem/ledgerd/ledger"
	"idem/ledgerd/store"
	"idem/ledgerd/wire"
)

// node is a ledger that neither polls nor sweeps while a test lasts: what it hears of others it hears by notification.
type node struct {
	*ledger.Ledger
	t    *testing.T
	kept *looked
}

// looked is a store that counts how often a record was read.
type looked struct {
	store.Store
	loads atomic.Int64
}

func (s *looked) Load(ctx context.Context, key string) (store.Record, error) {
	defer s.loads.Add(1)
	return s.Store.Load(ctx, key)
}

func start(t *testing.T, s shared) *node {
	t.Helper()
	kept, err := s.open(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{t: t, kept: &looked{Store: kept}}
	if n.Ledger, err = ledger.New(ledger.Options{Store: n.kept, PollEvery: time.Hour, SweepEvery: time.Hour}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := errors.Join(n.Close(ctx), kept.Close()); err != nil {
			t.Error(err)
		}
	})
	return n
}

// A wait at one node is ended by what another node writes. Nothing but the notification can end it: no poll comes to
// its help, and it was begun before.
func TestANotificationEndsTheWaitsAtOtherNodes(t *testing.T) {
	for _, at := range everywhere {
		t.Run(at.name, func(t *testing.T) {
			s := at.start(t)
			one, other := start(t, s), start(t, s)
			for n := range 20 {
				committed, failed := newCall("committed", n), newCall("failed", n)
				one.executes(committed)
				over := other.waits(committed.await(time.Hour))
				one.do(committed.commit(), wire.AnswerOK)
				other.wants(over, wire.AnswerResult)

				one.executes(failed)
				over = other.waits(failed.await(time.Hour))
				one.do(failed.fail(), wire.AnswerOK)
				other.wants(over, wire.AnswerFailed)
			}

			held := newCall("held", 0)
			one.executes(held)
			one.do(held.commit(), wire.AnswerOK)
			again, rule := held.join(), wire.DefaultRule()
			rule.WindowMS = 0
			again.Rule = &rule
			hold := one.do(again, wire.AnswerHeld).Hold.ID
			over := other.waits(wire.Op{Kind: wire.OpAwait, Hold: hold, Intent: held.digest, WaitMS: time.Hour.Milliseconds()})
			if _, err := one.AnswerHold(t.Context(), hold, ledger.HoldAnswer{Decision: intent.Deny, By: "ada"}); err != nil {
				t.Fatal(err)
			}
			other.wants(over, wire.AnswerAnswered)
		})
	}
}

func (n *node) do(op wire.Op, want wire.AnswerKind) wire.Answer {
	n.t.Helper()
	a := n.Do(n.t.Context(), []wire.Op{op})[0]
	if a.Kind != want {
		n.t.Fatalf("%s %s gets %s, want %s", op.Kind, op.Attempt, wire.AppendAnswer(nil, &a), want)
	}
	return a
}

func (n *node) executes(c call) {
	n.t.Helper()
	n.do(c.execute(), wire.AnswerExecute)
}

// waits begins a wait, and returns once it has looked at the record in vain.
func (n *node) waits(await wire.Op) <-chan wire.Answer {
	n.t.Helper()
	before := n.kept.loads.Load()
	over := make(chan wire.Answer, 1)
	go func() { over <- n.Do(n.t.Context(), []wire.Op{await})[0] }()
	envoytest.Until(n.t, 0, "the wait's first look", func() bool { return n.kept.loads.Load() > before })
	return over
}

func (n *node) wants(over <-chan wire.Answer, want wire.AnswerKind) {
	n.t.Helper()
	select {
	case a := <-over:
		if a.Kind != want {
			n.t.Fatalf("who waits gets %s, want %s", wire.AppendAnswer(nil, &a), want)
		}
	case <-time.After(time.Minute):
		n.t.Fatalf("who waits was not woken; want %s", want)
	}
}

package ledger

import (
	"errors"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
	"idem/ledgerd/wire"
)

// heldCall makes a committed call and a hold of the same call by another run, and gives the hold.
func heldCall(b *book) *wire.Hold {
	b.t.Helper()
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "run-a"))
	b.must(wire.AnswerOK, commit("a1", "i", "first"))
	b.pass(6 * time.Second)
	a := b.must(wire.AnswerHeld, reserve("a2", "i", "f", "run-b"))
	if a.Hold.Reason != "new_run" || a.Hold.Of != "a1" || a.Hold.ID == "" {
		b.t.Fatalf("got %s", show(a))
	}
	return a.Hold
}

func conflict(t *testing.T, err error) *ConflictError {
	t.Helper()
	var c *ConflictError
	if !errors.As(err, &c) || c.Why == "" {
		t.Fatalf("got %v, want a conflict", err)
	}
	return c
}

func TestAReleasedHoldExecutesOnceMore(t *testing.T) {
	b := open(t)
	hold := heldCall(b)
	b.same("a second run joins the hold", b.must(wire.AnswerHeld, reserve("a3", "i", "f", "run-c")).Hold.ID, hold.ID)

	list, err := b.Holds(t.Context(), 10)
	if err != nil || len(list) != 1 {
		t.Fatalf("holds: %v, %v", list, err)
	}
	v := list[0]
	if v.ID != hold.ID || v.State != "held" || v.Rule != "refunds" || v.Tool != "refund" || v.OfState != "committed" ||
		string(v.Action) != `{"customer":"ada","note":"f"}` || string(v.OfAction) != string(v.Action) || len(v.Runs) != 2 ||
		v.Expires.Sub(v.Opened) != 24*time.Hour {
		t.Errorf("the hold is shown as %+v", v)
	}

	waited := make(chan wire.Answer)
	go func() { waited <- b.do(awaitHold(hold.ID, "i", time.Hour)) }()
	b.waiting("i", 1)
	v, err = b.AnswerHold(t.Context(), hold.ID, HoldAnswer{Decision: intent.Release, By: "ada", Reason: "two parcels"})
	if err != nil || v.State != "approved" || len(v.Audit) != 1 || v.Audit[0].By != "ada" || v.Audit[0].Reason != "two parcels" {
		t.Fatalf("got %+v, %v", v, err)
	}
	if a := <-waited; a.Kind != wire.AnswerAnswered {
		t.Errorf("who waited for the hold got %s", show(a))
	}
	_, err = b.AnswerHold(t.Context(), hold.ID, HoldAnswer{Decision: intent.Release, By: "bob"})
	conflict(t, err)

	granted := b.must(wire.AnswerExecute, reserve("a4", "i", "f", "run-d"))
	b.same("approved by", granted.ApprovedBy, hold.ID)
	b.must(wire.AnswerOK, commit("a4", "i", "second"))
	b.same("replayed", b.must(wire.AnswerReplay, reserve("a5", "i", "f", "run-d")).Result, reply(201, "second"))
	_, err = b.AnswerHold(t.Context(), hold.ID, HoldAnswer{Decision: intent.Deny})
	conflict(t, err)
	if list, _ := b.Holds(t.Context(), 10); len(list) != 0 {
		t.Errorf("%d holds are open", len(list))
	}
	if v, err := b.Hold(t.Context(), hold.ID); err != nil || v.State != "committed" {
		t.Errorf("the answered hold is shown as %+v, %v", v, err)
	}
}

func TestAnAnswerMayNameTheVersionThatWasSeen(t *testing.T) {
	b := open(t)
	hold := heldCall(b)
	_, err := b.AnswerHold(t.Context(), hold.ID, HoldAnswer{Decision: intent.Release, Version: hold.Version + 1})
	conflict(t, err)
	if _, err := b.AnswerHold(t.Context(), hold.ID, HoldAnswer{Decision: intent.Duplicate, Version: hold.Version}); err != nil {
		t.Fatal(err)
	}
	b.same("replayed", b.must(wire.AnswerReplay, reserve("a3", "i", "f", "run-b")).Result, reply(201, "first"))
}

func TestADeniedHoldIsToldToItsRuns(t *testing.T) {
	b := open(t)
	hold := heldCall(b)
	if _, err := b.AnswerHold(t.Context(), hold.ID, HoldAnswer{Decision: intent.Deny, By: "ada"}); err != nil {
		t.Fatal(err)
	}
	if a := b.must(wire.AnswerDenied, reserve("a3", "i", "f", "run-b")); a.Hold.ID != hold.ID {
		t.Errorf("got %s", show(a))
	}
}

func TestAnUnansweredHoldIsDenied(t *testing.T) {
	b := open(t)
	short := func(op *wire.Op) { op.Rule.HoldTermMS = 30_000 }
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "run-a"))
	b.must(wire.AnswerOK, commit("a1", "i", "first"))
	b.pass(6 * time.Second)
	hold := b.must(wire.AnswerHeld, reserve("a2", "i", "f", "run-b", short)).Hold
	waited := make(chan wire.Answer)
	go func() { waited <- b.do(awaitHold(hold.ID, "i", time.Hour)) }()
	b.waiting("i", 1)
	b.pass(31 * time.Second)
	if a := <-waited; a.Kind != wire.AnswerAnswered {
		t.Errorf("who waited got %s", show(a))
	}
	b.must(wire.AnswerDenied, reserve("a3", "i", "f", "run-b"))
	_, err := b.AnswerHold(t.Context(), hold.ID, HoldAnswer{Decision: intent.Release})
	conflict(t, err)
}

func TestWhatIsNotKnownIsNotFound(t *testing.T) {
	b := open(t)
	for what, err := range map[string]error{
		"hold": func() error { _, err := b.Hold(t.Context(), "h"); return err }(),
		"answer": func() error {
			_, err := b.AnswerHold(t.Context(), "h", HoldAnswer{Decision: intent.Release})
			return err
		}(),
		"doubt":   func() error { _, err := b.Doubt(t.Context(), "a"); return err }(),
		"resolve": func() error { _, err := b.Resolve(t.Context(), "a", Resolution{As: intent.Released}); return err }(),
		"row":     func() error { _, err := b.Row(t.Context(), "a", ""); return err }(),
	} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

// doubtfulCall makes a call whose execution fell silent.
func doubtfulCall(b *book, attempt string) {
	b.t.Helper()
	b.must(wire.AnswerExecute, reserve(attempt, "i", "f", "run-a"))
	b.pass(16 * time.Second)
}

func TestAHumanResolvesADoubtAsReleasedOnceNothingCanRun(t *testing.T) {
	b := open(t)
	doubtfulCall(b, "a1")
	list, err := b.Doubts(t.Context(), 10)
	if err != nil || len(list) != 1 || list[0].Attempt != "a1" || list[0].State != "in_doubt" || list[0].Rule != "refunds" {
		t.Fatalf("doubts: %+v, %v", list, err)
	}
	released := Resolution{As: intent.Released, By: "ada", Reason: "the provider says no"}
	_, err = b.Resolve(t.Context(), "a1", released)
	if c := conflict(t, err); c.RetryAfter <= 0 || c.RetryAfter > 68*time.Second {
		t.Errorf("retry after %v", c.RetryAfter)
	}
	b.pass(list[0].ReleasableAfter.Sub(b.clock.now()))
	v, err := b.Resolve(t.Context(), "a1", released)
	if err != nil || v.State != "released" || len(v.Audit) != 1 || v.Audit[0].Reason != released.Reason {
		t.Fatalf("got %+v, %v", v, err)
	}
	_, err = b.Resolve(t.Context(), "a1", released)
	conflict(t, err)
	if list, _ := b.Doubts(t.Context(), 10); len(list) != 0 {
		t.Errorf("%d are in doubt", len(list))
	}
	b.must(wire.AnswerExecute, reserve("a2", "i", "f", "run-a"))
	b.counted(map[string]int64{"resolutions": 1, "leases_expired": 1})
}

func TestAHumanResolvesADoubtAsCommitted(t *testing.T) {
	t.Run("with the result", func(t *testing.T) {
		b := open(t)
		doubtfulCall(b, "a1")
		if _, err := b.Resolve(t.Context(), "a1", Resolution{As: intent.Committed, Result: reply(200, "it did"), By: "ada"}); err != nil {
			t.Fatal(err)
		}
		b.same("replayed", b.must(wire.AnswerReplay, reserve("a2", "i", "f", "run-a")).Result, reply(200, "it did"))
		b.must(wire.AnswerFenced, commit("a1", "i", "late"))
	})
	t.Run("without one", func(t *testing.T) {
		b := open(t)
		doubtfulCall(b, "a1")
		waited := make(chan wire.Answer)
		if _, err := b.Resolve(t.Context(), "a1", Resolution{As: intent.Committed, By: "ada"}); err != nil {
			t.Fatal(err)
		}
		go func() { waited <- b.do(await("a1", "i", time.Hour)) }()
		if a := <-waited; a.Kind != wire.AnswerResult || a.Missing != wire.MissingResolved {
			t.Errorf("who waited got %s", show(a))
		}
		if a := b.must(wire.AnswerReplay, reserve("a2", "i", "f", "run-a")); a.Missing != wire.MissingResolved {
			t.Errorf("got %s", show(a))
		}
	})
}

func TestManyHoldsOfOneRecordAreListedOldestFirst(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a0", "i", "f0", "run-0"))
	var want []string
	for _, n := range []string{"1", "2", "3", "4"} {
		b.clock.advance(time.Second)
		want = append(want, b.must(wire.AnswerHeld, reserve("a"+n, "i", "f"+n, "run-"+n)).Hold.ID)
	}
	if _, err := b.AnswerHold(t.Context(), want[1], HoldAnswer{Decision: intent.Deny}); err != nil {
		t.Fatal(err)
	}
	ids := func(limit int) (ids []string) {
		list, err := b.Holds(t.Context(), limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range list {
			ids = append(ids, v.ID)
		}
		return ids
	}
	if open, err := b.kept.Scan(t.Context(), store.Holds, b.clock.now(), nil, 10); err != nil || len(open) != 3 {
		t.Errorf("a scan of the index finds %d open holds, %v", len(open), err)
	}
	b.same("open holds", ids(10), []string{want[0], want[2], want[3]})
	b.same("the first two", ids(2), []string{want[0], want[2]})
}

func TestAnAnswerWhoseOwnEffectCannotBeToldFromAnothersIsUncertain(t *testing.T) {
	b := open(t)
	hold := heldCall(b)
	b.kept.setSwap(func(w store.Write, swap func() (uint64, error)) (uint64, error) {
		b.kept.setSwap(nil)
		if _, err := swap(); err != nil { // it takes effect, and then somebody else uses the approval
			t.Error(err)
		}
		other := openOver(t, b.clock, &watched{Store: b.kept.Store}, shared)
		other.must(wire.AnswerExecute, reserve("a9", "i", "f", "run-z"))
		return 0, store.ErrUnavailable
	})
	_, err := b.AnswerHold(t.Context(), hold.ID, HoldAnswer{Decision: intent.Release})
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "may have taken effect") {
		t.Errorf("got %v", err)
	}
}

func TestTheStateShowsTheNewestRows(t *testing.T) {
	b := open(t)
	hold := heldCall(b)
	b.pass(time.Second)
	b.must(wire.AnswerExecute, reserve("b1", "j", "g", "run-a"))
	b.pass(20 * time.Second)
	s, err := b.State(t.Context(), 50)
	if err != nil {
		t.Fatal(err)
	}
	states := []string{}
	for _, r := range s.Rows {
		states = append(states, r.State)
	}
	b.same("states", states, []string{"in_doubt", "held", "committed"})
	if len(s.Holds) != 1 || s.Holds[0].ID != hold.ID || len(s.InDoubt) != 1 || s.InDoubt[0].Attempt != "b1" || s.Counters["arrivals"] != 3 || !s.Now.Equal(b.clock.now()) {
		t.Errorf("got %+v", s)
	}
	row, err := b.Row(t.Context(), "a1", "")
	if err != nil || row.State != "committed" || row.Status != 201 || len(row.History) != 2 || row.History[1].Why != "committed" {
		t.Errorf("the committed row is shown as %+v, %v", row, err)
	}
	if row, err := b.Row(t.Context(), "b1", ""); err != nil || row.State != "in_doubt" {
		t.Errorf("the row in doubt is shown as %+v, %v", row, err)
	}
	b.must(wire.AnswerExecute, reserve("c1", "k", "h", "run-a"))
	if row, err := b.Row(t.Context(), "c1", ""); err != nil || row.State != "reserved" {
		t.Errorf("the reserved row is shown as %+v, %v", row, err)
	}
	b.must(wire.AnswerFenced, commit("a1", "i", "again"))
	if row, err := b.Row(t.Context(), "a1", ""); err != nil || len(row.FencedCommits) != 1 {
		t.Errorf("the fenced commit is not shown: %+v, %v", row, err)
	}
}

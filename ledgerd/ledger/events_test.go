package ledger

import (
	"context"
	"fmt"
	"testing"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/wire"
)

func TestWhoeverWatchesSeesWhatTheLedgerDid(t *testing.T) {
	b := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	events := b.Subscribe(ctx)
	hold := heldCall(b)
	if _, err := b.AnswerHold(t.Context(), hold.ID, HoldAnswer{Decision: intent.Release}); err != nil {
		t.Fatal(err)
	}
	b.must(wire.AnswerExecute, reserve("a3", "i", "f", "run-b"))
	b.must(wire.AnswerInFlight, reserve("a4", "i", "f", "run-b"))
	b.must(wire.AnswerOK, fail("a3", "i", wire.ClassUnknown, nil))
	if _, err := b.Resolve(t.Context(), "a3", Resolution{As: intent.Committed}); err != nil {
		t.Fatal(err)
	}
	b.must(wire.AnswerExecute, reserve("b1", "j", "g", "run-b"))
	b.pass(16 * time.Second)
	if err := b.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []Event{
		{Kind: "arrive", Outcome: "execute", Attempt: "a1", Run: "run-a"},
		{Kind: "commit", Outcome: "ok", Attempt: "a1"},
		{Kind: "arrive", Outcome: "held", Hold: hold.ID, Run: "run-b"},
		{Kind: "hold_answer", Outcome: "release", Hold: hold.ID},
		{Kind: "arrive", Outcome: "execute", Attempt: "a3", Hold: hold.ID, Run: "run-b"},
		{Kind: "arrive", Outcome: "coalesced", Attempt: "a3", Run: "run-b"},
		{Kind: "fail", Outcome: "unknown", Attempt: "a3", Hold: hold.ID},
		{Kind: "resolve", Outcome: "committed", Attempt: "a3", Hold: hold.ID},
		{Kind: "arrive", Outcome: "execute", Attempt: "b1", Run: "run-b"},
		{Kind: "expire", Outcome: "in_doubt", Attempt: "b1"},
		{Kind: "reset", Outcome: "ok"},
	} {
		got := <-events
		if got.At.IsZero() || got.Kind != "reset" && (got.Rule != "refunds" || got.Tool != "refund" || got.Fingerprint == "" || got.Intent == "") {
			t.Errorf("the event says too little: %+v", got)
		}
		got.At, got.Rule, got.Tool, got.Fingerprint, got.Intent = time.Time{}, "", "", "", ""
		if got != want {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
	cancel()
	for range events {
		t.Error("an event came after the subscription ended")
	}
}

func TestASlowWatcherMissesTheOldestAndHoldsUpNobody(t *testing.T) {
	b := open(t)
	events := b.Subscribe(t.Context())
	for n := range backlog + 10 {
		b.must(wire.AnswerExecute, reserve(fmt.Sprint("a", n), fmt.Sprint("i", n), fmt.Sprint("f", n), "r"))
	}
	if got := <-events; got.Attempt != "a10" {
		t.Errorf("the oldest left is of %s", got.Attempt)
	}
	b.Close(t.Context())
	n := 1
	for range events {
		n++
	}
	b.same("events left", n, backlog)
}

func TestWhatIsStoredOfACallIsASetting(t *testing.T) {
	const (
		head = `{"method":"POST","path":"/pay","args":`
		args = `{"card":{"number":"4111","name":"Ada"},"items":[{"sku":"a"},{"sku":"b"}],"a/b":1,"amount":12.50}`
		text = `{"method":"POST","path":"/pay?card=4111","args":"4111"}`
	)
	redacted := func(pointers ...string) Actions { return Actions{Keep: KeepRedacted, Pointers: pointers} }
	for _, c := range []struct {
		actions      Actions
		action, want string
	}{
		{Actions{}, head + args + `}`, head + args + `}`},
		{Actions{Keep: KeepFull}, head + args + `}`, head + args + `}`},
		{Actions{Keep: KeepNone}, head + args + `}`, ``},
		{redacted("/card/number", "/items/1", "/a~1b", "/nowhere"), head + args + `}`,
			head + `{"card":{"number":"(redacted)","name":"Ada"},"items":[{"sku":"a"},"(redacted)"],"a/b":"(redacted)","amount":12.50}}`},
		{redacted("/card"), head + args + `}`, head + `{"card":"(redacted)","items":[{"sku":"a"},{"sku":"b"}],"a/b":1,"amount":12.50}}`},
		{redacted(), head + args + `}`,
			head + `{"card":{"number":"(redacted)","name":"(redacted)"},"items":[{"sku":"(redacted)"},{"sku":"(redacted)"}],"a/b":"(redacted)","amount":"(redacted)"}}`},
		{redacted(), text, `{"method":"POST","path":"/pay?(redacted)","args":"(redacted)"}`},
		{redacted("/card"), `{"method":"DELETE","path":"/pay/1","secret":"4111"}`, `{"method":"DELETE","path":"/pay/1"}`},
		{Actions{MaxBytes: 10}, head + args + `}`, `{"(omitted)":"135 bytes, more than the 10 that are stored of a call"}`},
	} {
		b := open(t, func(o *Options) { o.Actions = c.actions })
		b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r", func(op *wire.Op) { op.Action = []byte(c.action) }))
		s, err := b.State(t.Context(), 1)
		if err != nil || string(s.Rows[0].Action) != c.want {
			t.Errorf("%+v\n got %s, %v\nwant %s", c.actions, s.Rows[0].Action, err, c.want)
		}
	}
	if got := (Actions{Keep: KeepRedacted, Pointers: []string{"/a"}, MaxBytes: 100}).stored([]byte(`{"args":{"a":1`)); got != nil {
		t.Errorf("what cannot be redacted is stored: %s", got)
	}
}

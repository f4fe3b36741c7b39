package ledger

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/wire"
)

// Whatever one intent's callers may send, its record stays within what a write may carry, and none of them is refused
// that has a row.
func TestARecordOfHostileCallsStaysSmall(t *testing.T) {
	b := open(t)
	const rows, runs = 250, 60
	text := func(what string, n, size int) string {
		s := fmt.Sprint(what, "-", n, "-")
		return s + strings.Repeat("x", size-len(s))
	}
	call := func(n, run int) wire.Op {
		return reserve(text("attempt", n<<10|run, wire.MaxID), "i", fmt.Sprint("f", n), text("run", n<<10|run, wire.MaxText), func(op *wire.Op) {
			op.Tool, op.Rule.Name, op.Rule.OnSameIntent = text("tool", n, wire.MaxText), text("rule", n, wire.MaxText), wire.PolicyExecute
			op.Rule.MaxResultBytes = int64(1000 + n)
			op.Action = fmt.Appendf(nil, `{"args":{"note":%q}}`, text("note", n, 16<<10-40))
		})
	}
	for n := range rows {
		b.must(wire.AnswerExecute, call(n, 0))
		joins := make([]wire.Op, runs)
		for r := range joins {
			joins[r] = call(n, r+1)
		}
		for _, a := range b.Do(t.Context(), joins) {
			if a.Kind != wire.AnswerInFlight {
				t.Fatal(show(a))
			}
		}
	}
	for n := range rows {
		b.must(wire.AnswerOK, extend(call(n, 0).Attempt, "i"))
		b.must(wire.AnswerOK, commit(call(n, 0).Attempt, "i", fmt.Sprint("result ", n)))
	}
	rec, err := b.kept.Load(t.Context(), hash("i"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := decodeRecord("i", rec.Version, rec.Data)
	if err != nil {
		t.Fatal(err)
	}
	if size, weight := len(rec.Data), e.weight(); size > intent.MaxBytes || weight > 2*intent.MaxBytes {
		t.Errorf("the record takes %d bytes, and %d in memory; want at most %d and twice that", size, weight, intent.MaxBytes)
	}
	b.clock.advance(time.Minute)
	for n := range rows {
		again := call(n, 0)
		again.Attempt = fmt.Sprint("again", n)
		if a := b.must(wire.AnswerReplay, again); string(a.Result.Body) != fmt.Sprint("result ", n) {
			t.Errorf("call %d gets %s", n, show(a))
		}
	}
}

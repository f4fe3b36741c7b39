package ledger

import (
	"fmt"
	"strings"
	"testing"

	"idem/ledgerd/wire"
)

// linesOf is how long a reply with these answers is.
func linesOf(answers []wire.Answer) int {
	var reply []byte
	for i := range answers {
		reply = wire.AppendAnswer(reply, &answers[i])
	}
	return len(reply)
}

func TestAReplyStaysFarBelowWhatEnvoyTakes(t *testing.T) {
	b := open(t)
	body := strings.Repeat("x", 64<<10)
	b.must(wire.AnswerExecute, reserve("a", "i", "f", "r"))
	op := commit("a", "i", body)
	op.Result.Headers = nil
	b.must(wire.AnswerOK, op)
	ops := make([]wire.Op, 512)
	for i := range ops {
		ops[i] = reserve(fmt.Sprint("b", i), "i", "f", "r")
	}
	answers := b.Do(t.Context(), ops)
	if n := linesOf(answers); n > 11<<20 {
		t.Errorf("the reply has %d bytes, want at most 11 MiB", n)
	}
	carried := 0
	for _, a := range answers {
		switch {
		case a.Kind != wire.AnswerReplay || (a.Result == nil) != a.Fetch:
			t.Fatalf("got %.200s", show(a))
		case a.Result != nil:
			carried++
		}
	}
	if carried < 110 {
		t.Errorf("%d results of 64 KiB are carried, want as many as fit into 10 MiB", carried)
	}
	if a := b.must(wire.AnswerResult, fetch("a", "i")); a.Result == nil || len(a.Result.Body) != len(body) {
		t.Error("what is to be fetched cannot be fetched")
	}
}

func TestAReplyOfSeveralBatchesIsOne(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a", "i", "f", "r"))
	b.must(wire.AnswerOK, commit("a", "i", strings.Repeat("x", 60<<10)))
	ctx, total := OneReply(t.Context()), 0
	for n := range 300 {
		total += linesOf(b.Do(ctx, []wire.Op{reserve(fmt.Sprint("b", n), "i", "f", "r")}))
	}
	if total > 11<<20 {
		t.Errorf("the reply has %d bytes, want at most 11 MiB", total)
	}
}

func TestHeadersCountWhereAResultIsCarried(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a", "i", "f", "r"))
	op := commit("a", "i", "small")
	op.Result.Headers = [][2]string{{"link", strings.Repeat("x", 80<<10)}}
	b.must(wire.AnswerOK, op)
	for range 2 { // from memory, and from the store
		if a := b.must(wire.AnswerReplay, reserve("b", "i", "f", "r")); !a.Fetch || a.Result != nil {
			t.Errorf("got %.100s, want it to be fetched", show(a))
		}
		b.results.flush()
	}
	if a := b.must(wire.AnswerResult, fetch("a", "i")); a.Result == nil {
		t.Errorf("got %.100s", show(a))
	}
}

func TestFetchesThatDoNotFitComeAgain(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a", "i", "f", "r", func(op *wire.Op) { op.Rule.MaxResultBytes = 16 << 20 }))
	b.must(wire.AnswerOK, commit("a", "i", strings.Repeat("x", 10<<20)))
	answers := b.Do(t.Context(), []wire.Op{fetch("a", "i"), fetch("a", "i"), fetch("a", "i")})
	carried := 0
	for _, a := range answers {
		switch {
		case a.Kind == wire.AnswerResult && a.Result != nil:
			carried++
		case a.Kind != wire.AnswerError || a.Code != wire.CodeOverloaded || a.RetryAfterMS == 0:
			t.Errorf("got %.100s", show(a))
		}
	}
	if carried != 1 {
		t.Errorf("%d results of 10 MiB are carried, want 1", carried)
	}
}

func TestEncodedSizeIsNoLessThanWhatIsWritten(t *testing.T) {
	for _, value := range []string{"", "plain", "\x00\x1f\t\"\\", "ünï\u2028", "\xff\xfe", "<&>\x7f"} {
		r := reply(599, value)
		r.Headers = [][2]string{{"a", value}, {value, "b"}, {"c", value + value}}
		a := wire.Answer{Kind: wire.AnswerReplay, Result: r}
		without := wire.Answer{Kind: wire.AnswerReplay}
		if got, written := encodedSize(r), linesOf([]wire.Answer{a})-linesOf([]wire.Answer{without}); got < int64(written) {
			t.Errorf("%q: %d bytes, but %d are written", value, got, written)
		}
	}
}

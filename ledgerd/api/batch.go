package api

import (
	"errors"
	"iter"

	"idem/ledgerd/wire"
)

// batch is the lines of one request, or a part of them: each an operation, or what is wrong with it.
type batch []line

type line struct {
	op    wire.Op
	wrong *wire.OpError
}

// waits says whether the line is an operation that blocks.
func (l line) waits() bool { return l.wrong == nil && l.op.Kind == wire.OpAwait }

// readBatch reads every line by itself: one that is wrong says so and spoils none of the others.
func readBatch(body []byte) batch {
	var b batch
	for text := range wire.Lines(body) {
		op, err := wire.ReadOp(text)
		l := line{op: op}
		if err != nil && !errors.As(err, &l.wrong) {
			l.wrong = &wire.OpError{Detail: err.Error()}
		}
		b = append(b, l)
	}
	return b
}

// parts cuts a batch where awaits begin and end. So an operation before an await is answered without it, and one after
// it is done after it.
func (b batch) parts() iter.Seq[batch] {
	return func(yield func(batch) bool) {
		for len(b) > 0 {
			end := 1
			for end < len(b) && b[end].waits() == b[0].waits() {
				end++
			}
			if !yield(b[:end]) {
				return
			}
			b = b[end:]
		}
	}
}

// good gives the operations that can be asked of the ledger.
func (b batch) good() []wire.Op {
	ops := make([]wire.Op, 0, len(b))
	for _, l := range b {
		if l.wrong == nil {
			ops = append(ops, l.op)
		}
	}
	return ops
}

// merge puts the ledger's answers to the good operations and the errors of the others in the order of the lines.
func (b batch) merge(answers []wire.Answer) []wire.Answer {
	merged := make([]wire.Answer, 0, len(b))
	for _, l := range b {
		if l.wrong == nil {
			merged, answers = append(merged, answers[0]), answers[1:]
			continue
		}
		merged = append(merged, wire.Answer{Kind: wire.AnswerError, Code: wire.CodeInvalid, Field: l.wrong.Field, Detail: l.wrong.Detail})
	}
	return merged
}

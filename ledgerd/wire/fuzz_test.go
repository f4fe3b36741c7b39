package wire

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
)

// FuzzReadOp: whatever is read as an operation is written and read back equal; whatever is not has an *OpError.
func FuzzReadOp(f *testing.F) {
	ops, _ := documented(f)
	for _, line := range ops {
		f.Add([]byte(line))
	}
	for _, op := range everyOp() {
		f.Add(AppendOp(nil, &op))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		kept := bytes.Clone(line)
		op, err := ReadOp(line)
		if !bytes.Equal(line, kept) {
			t.Fatal("reading changed the line")
		}
		if err != nil {
			var wrong *OpError
			if !errors.As(err, &wrong) || wrong.Detail == "" {
				t.Fatalf("error without words: %#v", err)
			}
			return
		}
		again, err := ReadOp(AppendOp(nil, &op))
		op.Action, again.Action = compact(t, op.Action), compact(t, again.Action)
		if err != nil || !reflect.DeepEqual(again, op) {
			t.Fatalf("%q\nreads as %+v\nthen as  %+v, %v", line, op, again, err)
		}
	})
}

// FuzzReadAnswer says the same of answers.
func FuzzReadAnswer(f *testing.F) {
	_, answers := documented(f)
	for _, line := range answers {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		a, err := ReadAnswer(line)
		if err != nil {
			return
		}
		again, err := ReadAnswer(AppendAnswer(nil, &a))
		if err != nil || !reflect.DeepEqual(again, a) {
			t.Fatalf("%q\nreads as %+v\nthen as  %+v, %v", line, a, again, err)
		}
	})
}

// compact gives an action without the whitespace that a line does not keep.
func compact(t *testing.T, action []byte) []byte {
	if action == nil {
		return nil
	}
	op := Op{Kind: OpReserve, Attempt: "a", Intent: intent1, Fingerprint: finger1, Action: action}
	out, err := ReadOp(AppendOp(nil, &op))
	if err != nil || out.Action == nil {
		t.Fatalf("the action %q is lost: %v", action, err)
	}
	return out.Action
}

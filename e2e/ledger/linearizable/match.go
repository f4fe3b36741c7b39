package linearizable

import (
	"errors"
	"slices"
	"strings"

	"idem/ledgerd/intent"
	"idem/ledgerd/ledger"
	"idem/ledgerd/store"
	"idem/ledgerd/wire"
)

// dataHeard says how much an answer of the data API says of what happened.
func dataHeard(a *wire.Answer) heard {
	switch {
	case a.Kind == wire.AnswerError && a.Code == wire.CodeUnavailable:
		return unknown
	case a.Code == wire.CodeOverloaded:
		return refused
	}
	return answered
}

// humanHeard reads what a human's answer came to.
func humanHeard(err error) (heard, reply, error) {
	var no *ledger.ConflictError
	switch {
	case err == nil:
		return answered, done, nil
	case errors.As(err, &no):
		return answered, conflict, nil
	case errors.Is(err, ledger.ErrNotFound):
		return answered, notFound, nil
	case errors.Is(err, store.ErrOverloaded):
		return refused, "", nil
	default:
		return unknown, "", err
	}
}

// naming matches what the model calls a hold with what the answer calls it. The model does not know the name of a hold
// before somebody was told it.
type naming struct{ found [][2]string }

func (n *naming) same(model, answer string) bool {
	if model == answer {
		return true
	}
	if !strings.HasPrefix(model, "?") || answer == "" {
		return false
	}
	n.found = append(n.found, [2]string{model, answer})
	return true
}

// apply gives a record in which the holds are called as they were found to be. A name that another hold has is wrong.
func (n *naming) apply(rec intent.Record) (intent.Record, bool) {
	rec.Rows = slices.Clone(rec.Rows)
	for i, f := range n.found {
		if slices.Contains(n.found[:i], f) {
			continue
		}
		known := false
		for j := range rec.Rows {
			r := &rec.Rows[j]
			if r.Question == nil {
				rename(&r.ApprovedBy, f)
				continue
			}
			if r.Question.ID == f[1] {
				return rec, false
			}
			q := *r.Question
			known = rename(&q.ID, f) || known
			rename(&q.Of, f)
			rename(&r.ApprovedBy, f)
			r.Question = &q
		}
		if !known {
			return rec, false
		}
	}
	return rec, true
}

func rename(name *string, f [2]string) bool {
	if *name != f[0] {
		return false
	}
	*name = f[1]
	return true
}

// answers says whether the answer that was given is the machine's.
func (c *call) answers(rec *intent.Record, v *intent.Verdict, exact bool, n *naming) bool {
	a := &c.answer
	if c.human != nil {
		return map[intent.VerdictKind]reply{intent.OK: done, intent.Conflict: conflict, intent.Unheard: notFound}[v.Kind] == c.told
	}
	since := func() bool { return !exact || a.Since == v.Since.UnixMilli() }
	switch c.op.Kind {
	case wire.OpReserve:
		switch v.Kind {
		case intent.Granted:
			return a.Kind == wire.AnswerExecute && a.Attempt == v.Attempt && a.LeaseMS == v.Lease.Milliseconds() && n.same(v.ApprovedBy, a.ApprovedBy)
		case intent.Wait:
			return a.Kind == wire.AnswerInFlight && a.Attempt == v.Attempt && since()
		case intent.Replay:
			return a.Kind == wire.AnswerReplay && a.Attempt == v.Attempt && c.shows(v.Result)
		case intent.Held:
			return a.Kind == wire.AnswerHeld && sameHold(v, a.Hold, n)
		case intent.Denied:
			return a.Kind == wire.AnswerDenied && sameHold(v, a.Hold, n)
		case intent.Doubt:
			return a.Kind == wire.AnswerInDoubt && a.Attempt == v.Attempt && since()
		case intent.Late:
			return a.Kind == wire.AnswerRefused && a.Code == wire.CodeLate
		case intent.Over:
			return a.Kind == wire.AnswerRefused && a.Code == wire.CodeEnded
		}
		return false
	case wire.OpAwait, wire.OpFetch:
		look := rec.Attempt(c.op.Attempt)
		if c.op.Hold != "" {
			look = rec.HoldState(c.op.Hold)
		}
		return c.looks(&look, exact, n)
	}
	return v.Kind == intent.OK && a.Kind == wire.AnswerOK || v.Kind == intent.Fenced && a.Kind == wire.AnswerFenced
}

// looks says whether an await or a fetch was told what the record says.
func (c *call) looks(v *intent.Verdict, exact bool, n *naming) bool {
	a := &c.answer
	if c.op.Kind == wire.OpFetch {
		if v.Kind == intent.Replay || v.Kind == intent.Failed && v.Result != nil {
			return a.Kind == wire.AnswerResult && c.shows(v.Result)
		}
		return a.Kind == wire.AnswerGone
	}
	since := func() bool { return !exact || a.Since == v.Since.UnixMilli() }
	switch v.Kind {
	case intent.Wait:
		return a.Kind == wire.AnswerInFlight && since()
	case intent.Replay:
		return a.Kind == wire.AnswerResult && c.shows(v.Result)
	case intent.Failed:
		return a.Kind == wire.AnswerFailed && a.Class == wire.Class(v.Class) && c.shows(v.Result)
	case intent.Doubt:
		return a.Kind == wire.AnswerInDoubt && since()
	case intent.Held:
		return a.Kind == wire.AnswerHeld && sameHold(v, a.Hold, n)
	case intent.Answered:
		return a.Kind == wire.AnswerAnswered
	default:
		return a.Kind == wire.AnswerGone
	}
}

// shows says whether the answer has the result that the record names, or why there is none.
func (c *call) shows(r *intent.Result) bool {
	a := &c.answer
	switch {
	case r == nil:
		return a.Result == nil && a.Missing == ""
	case r.Missing != "":
		return a.Result == nil && a.Missing == r.Missing
	case a.Missing == wire.MissingErased:
		return c.raced
	}
	return a.Result != nil && a.Result.Status == r.Status && body(a.Result) == r.Digest
}

func sameHold(v *intent.Verdict, h *wire.Hold, n *naming) bool {
	return h != nil && h.Reason == v.Hold.Reason && h.Version == v.Hold.Version && n.same(v.Hold.ID, h.ID) && n.same(v.Hold.Of, h.Of)
}

// remembered says whether a replay is one that a node may give from memory: of a committed row to a run among its runs.
func (c *call) remembered(rec *intent.Record) bool {
	if c.human != nil || c.op.Kind != wire.OpReserve || c.answer.Kind != wire.AnswerReplay {
		return false
	}
	row, ok := rec.Row(c.answer.Attempt)
	return ok && row.State == intent.Committed && row.Fingerprint == c.op.Fingerprint && slices.Contains(row.Runs, c.op.Run) && c.shows(row.Result)
}

// unlisted says whether a human was told that there is nothing to resolve, and nobody has noticed yet that there is:
// a doubt is found by an index, which knows of it once somebody has looked at the record.
func (c *call) unlisted(rec *intent.Record) bool {
	if c.human == nil || c.human.attempt == "" || c.told != notFound {
		return false
	}
	row, ok := rec.Row(c.human.attempt)
	return ok && !slices.ContainsFunc(row.History, func(e intent.Event) bool { return e.State == intent.InDoubt })
}

package linearizable

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/ledger"
	"idem/ledgerd/wire"
)

// call is one operation with what it was answered.
type call struct {
	id           int
	client, node int
	intent       string
	op           wire.Op // its Kind is empty where a human answers
	human        *human

	began, ended int64 // ns since the history began
	from, to     int64 // what the clock showed then, Unix ms
	heard        heard
	answer       wire.Answer // heard answered, not of a human
	told         reply       // heard answered, of a human
	at           int64       // the moment of a human's answer, where it is known; Unix ms
	why          error       // of a human: what was unknown
	effects      int         // how often it may have taken effect without that having been answered
	moments      []int64     // and when
	idle         bool        // nothing happened, and nobody was told anything
	way          *link       // unheard: of the node, whose writes may still be under way
	raced        bool        // between its decision and the reading of the result, the result may have gone
}

// human is a human's answer to a hold or a doubt.
type human struct {
	hold     string
	version  int64
	decision intent.Decision

	attempt string
	as      intent.State
	body    string // of committed; empty: no result is known
}

// heard is how much is known of an operation.
type heard int

const (
	answered heard = iota
	unknown        // it may have happened, and may happen yet
	refused        // for want of room, before anything was done
)

// reply is what a human was told.
type reply string

const (
	done     reply = "done"
	conflict reply = "conflict"
	notFound reply = "not found"
)

// body is what an attempt's result is in the model: its bytes stand where the ledger keeps their digest.
func body(r *wire.Result) string {
	if r == nil {
		return ""
	}
	return string(r.Body)
}

// hold names the hold that a reserve may open, until somebody has been told how it is really called.
func (c *call) hold() string { return fmt.Sprintf("?%d", c.id) }

// command is what the machine is asked to do.
func (c *call) command() intent.Command {
	if h := c.human; h != nil {
		by := c.by()
		if h.hold != "" {
			return intent.AnswerHold{Hold: h.hold, Version: h.version, Decision: h.decision, By: by}
		}
		cmd := intent.Resolve{Attempt: h.attempt, As: h.as, By: by}
		if h.body != "" {
			cmd.Result = &intent.Result{Status: 200, Size: int64(len(h.body)), Digest: h.body}
		}
		return cmd
	}
	switch op := &c.op; op.Kind {
	case wire.OpReserve:
		r := op.Rule
		a := intent.Arrive{Attempt: op.Attempt, HoldID: c.hold(), Fingerprint: op.Fingerprint, Run: op.Run, Rule: intent.Rule{
			Window: ms(r.WindowMS), Horizon: ms(r.HorizonMS), HoldTerm: ms(r.HoldTermMS), ApprovalTerm: ms(r.ApprovalTermMS),
			Lease: ms(r.LeaseMS), Wait: ms(r.WaitMS), ExecutionTimeout: ms(r.ExecutionMS), Retention: ms(r.RetentionMS),
			OnNewRun: intent.Policy(r.OnNewRun), OnSameIntent: intent.Policy(r.OnSameIntent),
			OnAbsentRun: intent.Policy(r.OnAbsentRun), RetryInDoubt: r.RetryInDoubt,
		}}
		if op.NotAfter != 0 {
			a.NotAfter = moment(op.NotAfter)
		}
		return a
	case wire.OpExtend:
		return intent.Extend{Attempt: op.Attempt}
	case wire.OpCommit:
		return intent.Commit{Attempt: op.Attempt, Result: intent.Result{Status: op.Result.Status, Size: int64(len(op.Result.Body)), Digest: body(op.Result)}}
	case wire.OpFail:
		f := intent.Fail{Attempt: op.Attempt, Class: intent.Class(op.Class)}
		if op.Result != nil {
			f.Failure = &intent.Result{Status: op.Result.Status, Size: int64(len(op.Result.Body)), Digest: body(op.Result)}
		}
		return f
	}
	return intent.Tick{} // await and fetch only look
}

// acts says whether the call may change a record. Time passes for a record whoever looks at it.
func (c *call) acts() bool {
	return c.human != nil || c.op.Kind != wire.OpAwait && c.op.Kind != wire.OpFetch
}

// mostEffects bounds the search. That somebody's call took effect three times, each time after somebody else's had
// changed what the next would do, never was what explained a history.
const mostEffects = 2

// mayHaveHappened takes down the writes that the call's node sent in its time. Each of them whose effect is not known may
// have been the call's, decided when the write was. A call that was not answered may have been in the others too.
func (c *call) mayHaveHappened(sent []write) {
	for _, w := range sent {
		if !w.unknown && c.heard == answered {
			continue
		}
		c.effects = min(c.effects+1, mostEffects)
		if !slices.Contains(c.moments, w.decided) {
			c.moments = append(c.moments, w.decided)
		}
	}
}

// settle takes down, once everything has ended, what may have come of a call that was not heard of: a ledger answers in
// its time, and what it had begun by then may end afterwards.
func (c *call) settle(ledgersTime time.Duration) {
	if c.way == nil {
		return
	}
	c.effects, c.moments = 0, nil
	c.mayHaveHappened(c.way.sent(c.intent, c.began, c.ended+3*int64(ledgersTime)))
	c.idle = c.effects == 0
}

// by is what the audit calls whoever made this call.
func (c *call) by() string { return fmt.Sprintf("call-%d", c.id) }

func ms(n int64) time.Duration  { return time.Duration(n) * time.Millisecond }
func moment(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// String is the call in one line.
func (c *call) String() string {
	var b strings.Builder
	if h := c.human; h != nil {
		switch {
		case h.hold != "":
			fmt.Fprintf(&b, "%s %s v%d", h.decision, h.hold, h.version)
		default:
			fmt.Fprintf(&b, "resolve %s %s %q", h.attempt, h.as, h.body)
		}
	} else {
		fmt.Fprintf(&b, "%s %s%s", c.op.Kind, c.op.Attempt, c.op.Hold)
		switch c.op.Kind {
		case wire.OpReserve:
			fmt.Fprintf(&b, " %.4s run=%s", c.op.Fingerprint, c.op.Run)
			if c.op.NotAfter != 0 {
				fmt.Fprintf(&b, " not_after=%d", c.op.NotAfter%1e6)
			}
			r := c.op.Rule
			fmt.Fprintf(&b, " %s/%s/%s", r.OnNewRun, r.OnSameIntent, r.OnAbsentRun)
			if r.RetryInDoubt {
				b.WriteString("/retry")
			}
		case wire.OpCommit:
			fmt.Fprintf(&b, " %q", body(c.op.Result))
		case wire.OpFail:
			fmt.Fprintf(&b, " %s", c.op.Class)
		}
	}
	b.WriteString(" → " + c.outcome())
	return b.String()
}

func (c *call) outcome() string {
	switch {
	case c.heard == unknown:
		return fmt.Sprintf("unknown [%d–%d]", c.from%1e6, c.to%1e6)
	case c.heard == refused:
		return "no room"
	case c.human != nil:
		return fmt.Sprintf("%s [%d–%d]", c.told, c.from%1e6, c.to%1e6)
	}
	a := &c.answer
	s := fmt.Sprintf("%s %s", a.Kind, a.Attempt)
	if a.Hold != nil {
		s += fmt.Sprintf(" %+v", *a.Hold)
	}
	if a.ApprovedBy != "" {
		s += " approved_by=" + a.ApprovedBy
	}
	if a.Result != nil {
		s += fmt.Sprintf(" %q", body(a.Result))
	}
	for _, word := range []string{a.Missing, string(a.Class), a.Code, a.Detail} {
		if word != "" {
			s += " " + word
		}
	}
	return fmt.Sprintf("%s [%d–%d, at %d]", s, c.from%1e6, c.to%1e6, a.Now%1e6)
}

// listen takes down what a human was told.
func (c *call) listen(audit []ledger.AuditView, err error) {
	c.heard, c.told, c.why = humanHeard(err)
	for _, a := range audit {
		if a.By == c.by() {
			c.at = a.At.UnixMilli()
		}
	}
}

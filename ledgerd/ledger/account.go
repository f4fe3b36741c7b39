package ledger

import (
	"errors"
	"log/slog"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
)

// account counts what a job came to, and tells those who watch.
func (l *Ledger) account(key string, j *job) {
	if j.err != nil {
		l.counts.add(countUnavailable, 1)
	}
	e := Event{At: j.at, Intent: key, Outcome: outcome(j)}
	if j.err != nil {
		e.At = moment(l.heardNow())
	}
	switch cmd := j.cmd.(type) {
	case intent.Arrive:
		e.Kind, e.Fingerprint, e.Run, e.Tool, e.Rule = "arrive", cmd.Fingerprint, cmd.Run, cmd.Tool, cmd.Rule.Name
		e.Attempt, e.Hold = j.verdict.Attempt, j.verdict.Hold.ID
		if j.err == nil {
			l.countArrival(j.verdict.Kind)
		}
		if j.verdict.Kind == intent.Moved {
			e.Kind = "" // it arrives in another record
		}
	case intent.Extend:
		e.Kind, e.Attempt = "extend", cmd.Attempt
		l.countReport(j, countExtends)
	case intent.Commit:
		e.Kind, e.Attempt = "commit", cmd.Attempt
		l.countReport(j, -1)
		if j.err == nil && j.verdict.Kind == intent.Fenced {
			l.counts.add(countFencedCommits, 1)
			level := slog.LevelWarn
			if j.verdict.Twice {
				level = slog.LevelError
			}
			l.o.Log.Log(l.ctx, level, "a commit was not taken (fenced); its result is kept as evidence", "why", j.verdict.Why, "intent", key, "attempt", cmd.Attempt)
		}
	case intent.Fail:
		e.Kind, e.Attempt = "fail", cmd.Attempt
		if j.err == nil && j.verdict.Kind == intent.OK {
			e.Outcome = string(cmd.Class)
		}
		l.countReport(j, -1)
	case intent.AnswerHold:
		e.Kind, e.Hold = "hold_answer", cmd.Hold
		if j.err == nil && j.verdict.Kind == intent.OK {
			e.Outcome = string(cmd.Decision)
			l.counts.add(countHoldAnswers, 1)
		}
	case intent.Resolve:
		e.Kind, e.Attempt = "resolve", cmd.Attempt
		if j.err == nil && j.verdict.Kind == intent.OK {
			e.Outcome = string(cmd.As)
			l.counts.add(countResolutions, 1)
		}
	}
	if j.err == nil {
		l.leases.note(key, j)
		l.accountChanges(key, j, &e)
	}
	if e.Kind != "" {
		l.events.publish(e)
	}
}

// accountChanges counts what became of rows, the command's own among them, and fills in what the event does not know.
func (l *Ledger) accountChanges(key string, j *job, e *Event) {
	fail, _ := j.cmd.(intent.Fail)
	for i := range j.verdict.Changes {
		c := &j.verdict.Changes[i]
		switch c.Why {
		case intent.WhySilent, intent.WhyExpired, intent.WhyEvicted:
			l.counts.add(countExpired, 1)
			if c.Why == intent.WhySilent {
				l.counts.add(countLeases, 1)
			}
			l.events.publish(Event{At: c.At, Kind: "expire", Outcome: string(c.To), Fingerprint: c.Fingerprint, Intent: key,
				Attempt: c.Attempt, Hold: c.Hold, Tool: c.Tool, Rule: c.Rule})
			continue
		case intent.WhyCommitted:
			l.counts.add(countExecuted, 1)
		case intent.WhyFailed:
			l.counts.add(failures[fail.Class], 1)
		}
		if e.Fingerprint == "" {
			e.Fingerprint, e.Tool, e.Rule = c.Fingerprint, c.Tool, c.Rule
		}
		if e.Attempt == "" {
			e.Attempt = c.Attempt
		}
		if e.Hold == "" {
			e.Hold = c.Hold
		}
	}
}

var failures = map[intent.Class]count{
	intent.Definite: countFailed, intent.NotSent: countNotSent, intent.Unknown: countUnknown,
}

var arrivals = map[intent.VerdictKind]count{
	intent.Granted: countGranted, intent.Wait: countCoalesced, intent.Replay: countReplays, intent.Held: countHeld,
	intent.Denied: countDenied, intent.Doubt: countInDoubt,
}

func (l *Ledger) countArrival(kind intent.VerdictKind) {
	if kind == intent.Moved {
		return
	}
	l.counts.add(countArrivals, 1)
	n, known := arrivals[kind]
	if !known {
		n = countRefused
	}
	l.counts.add(n, 1)
}

// countReport counts a report of an attempt: as ok where something counts that, or as fenced.
func (l *Ledger) countReport(j *job, ok count) {
	switch {
	case j.err != nil:
	case j.verdict.Kind == intent.Fenced:
		l.counts.add(countFenced, 1)
	case ok >= 0:
		l.counts.add(ok, 1)
	}
}

// outcome is an event's word for what came of a job.
func outcome(j *job) string {
	switch {
	case errors.Is(j.err, store.ErrOverloaded):
		return "overloaded"
	case j.err != nil:
		return "unavailable"
	case j.verdict.Kind == intent.Wait:
		return "coalesced"
	case j.verdict.Kind == intent.Late, j.verdict.Kind == intent.Over, j.verdict.Kind == intent.Full:
		return "refused"
	}
	return string(j.verdict.Kind)
}

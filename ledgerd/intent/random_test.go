package intent

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var (
	steps = flag.Int("steps", 50_000, "how many random commands TestInvariants tries")
	seed  = flag.Uint64("seed", 0, "what they are drawn from; 0: something new each time")
)

// TestInvariants throws random commands at records and holds what comes back against a witness that knows only what
// was said: which attempts were granted, and how they were said to end.
func TestInvariants(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("go test -run TestInvariants -seed=%d -steps=%d", *seed, *steps)
	random := rand.New(rand.NewPCG(*seed, 0))
	seen := map[string]bool{}
	for done := 0; done < *steps; {
		w := newWitness(t, random, seen)
		for range 150 {
			w.step()
			done++
		}
	}
	for _, s := range []State{Reserved, InFlight, Committed, Released, InDoubt, HeldRow, Approved, Alias, DeniedRow} {
		if !seen[string(s)] {
			t.Errorf("no record had a row in state %s", s)
		}
	}
	for _, k := range []VerdictKind{Granted, Wait, Replay, Held, Doubt, Denied, Moved, Late, Over, OK, Fenced, Conflict,
		Unheard} {
		if !seen["verdict "+string(k)] {
			t.Errorf("no command got the verdict %s", k)
		}
	}
}

// execution is what was said of one attempt.
type execution struct {
	fingerprint string
	approvedBy  string
	notAfter    time.Time
	open        bool // granted, and nobody has said how it ended; a report of unknown leaves it open
	failed      bool // it surely had no effect
	committed   bool
	digest      string
	ended       time.Time
	expires     time.Time // committed: the end of its retention
}

type witness struct {
	t        *testing.T
	random   *rand.Rand
	rec      Record
	at       Moment
	attempts map[string]*execution
	holds    map[string]bool // ids, whether they were released
	log      []string

	seen      map[string]bool // states and verdicts
	specified map[string]bool // the cases of the tables
}

func newWitness(t *testing.T, random *rand.Rand, seen map[string]bool) *witness {
	return &witness{t: t, random: random, at: Moment{Now: start}, attempts: map[string]*execution{}, holds: map[string]bool{},
		seen: seen, specified: specifiedCases()}
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// rule is a short-lived one, so that everything ends within a few commands.
func (w *witness) rule() Rule {
	return Rule{Window: 5 * time.Second, Horizon: 2 * time.Minute, HoldTerm: 40 * time.Second, ApprovalTerm: 30 * time.Second,
		Lease: 10 * time.Second, Wait: 10 * time.Second, ExecutionTimeout: 20 * time.Second, Retention: 90 * time.Second,
		OnNewRun: pick(w.random, Hold, Hold, Hold, Join, Execute), OnSameIntent: pick(w.random, Hold, Hold, Execute),
		OnAbsentRun: pick(w.random, Execute, Hold), RetryInDoubt: w.random.IntN(4) == 0}
}

func (w *witness) command() Command {
	attempt := w.anyAttempt()
	answered := fmt.Sprintf("h%d", w.random.IntN(len(w.holds)+1))
	switch w.random.IntN(14) {
	case 0, 1, 2, 3, 4:
		a := Arrive{Attempt: fmt.Sprintf("a%d", len(w.attempts)), HoldID: fmt.Sprintf("h%d", len(w.holds)),
			Fingerprint: pick(w.random, "f", "f", "g", "e"), Run: pick(w.random, "", "r", "s", "t", "u"), Rule: w.rule()}
		a.NotAfter = pick(w.random, time.Time{}, w.at.Now.Add(5*time.Second), w.at.Now.Add(30*time.Second))
		switch w.random.IntN(20) {
		case 0:
			a.Attempt = attempt
			if e := w.attempts[attempt]; e != nil {
				a.NotAfter = e.notAfter
			}
		case 1:
			a.NotAfter = w.at.Now.Add(pick(w.random, -time.Second, 0))
		case 2:
			a.MovesTo = pick(w.random, nil, &Identity{Intent: "i", Fingerprint: "moved"})
		case 3:
			a.Stay = true
		}
		return a
	case 5:
		return Extend{Attempt: attempt}
	case 6, 7:
		return Commit{Attempt: attempt, Result: Result{Digest: pick(w.random, "x", "x", "y"), Status: 200}}
	case 8, 9:
		return Fail{Attempt: attempt, Class: pick(w.random, NotSent, Definite, Unknown, Unknown), Failure: &Result{Digest: "z"}}
	case 10, 11:
		return AnswerHold{Hold: answered, Decision: pick(w.random, Release, Release, Duplicate, Deny),
			Version: int64(pick(w.random, 0, 0, 1, 2))}
	case 12:
		return Resolve{Attempt: attempt, As: pick(w.random, Released, Committed),
			Result: pick(w.random, nil, &Result{Digest: "human"})}
	default:
		return Tick{}
	}
}

// anyAttempt is one of the latest attempts, sometimes one that was never granted.
func (w *witness) anyAttempt() string {
	n := len(w.attempts)
	return fmt.Sprintf("a%d", max(0, n-w.random.IntN(8)))
}

func (w *witness) step() {
	w.at.Now = w.at.Now.Add(time.Duration(pick(w.random, 0, 0, 1, 2, 5, 10, 20, 45)) * time.Second)
	if w.random.IntN(40) == 0 {
		w.at.Resumed = w.at.Now
	}
	cmd := w.command()
	w.log = append(w.log, fmt.Sprintf("%s %s", w.at.Now.Sub(start), brief(cmd)))
	before := ""
	thorough := w.random.IntN(5) == 0
	if thorough {
		w.time()
		before = stored(w.t, w.rec)
	}
	for _, row := range decisions(w.rec, cmd, w.at) {
		if !w.specified[row] {
			w.fatalf("decided by %q, which the specification's tables do not have (cases_test.go)", row)
		}
	}
	next, v := Step(w.rec, cmd, w.at)
	w.log = append(w.log, "    "+(&story{at: w.at}).verdict(v))
	w.seen["verdict "+string(v.Kind)] = true
	if thorough {
		w.value(cmd, before, next, v)
	}
	w.bytes(w.rec, next, v)
	w.rec = next
	w.heard(cmd, v)
	w.rows()
}

func brief(cmd Command) string {
	if a, ok := cmd.(Arrive); ok {
		return fmt.Sprintf("arrive %s run=%q attempt=%s on_new_run=%s on_same_intent=%s on_absent_run=%s retry=%t moves=%t stay=%t",
			a.Fingerprint, a.Run, a.Attempt, a.Rule.OnNewRun, a.Rule.OnSameIntent, a.Rule.OnAbsentRun, a.Rule.RetryInDoubt,
			a.MovesTo != nil, a.Stay)
	}
	return fmt.Sprintf("%T%+v", cmd, cmd)
}

func (w *witness) fatalf(format string, args ...any) {
	w.t.Helper()
	for _, line := range w.log[max(0, len(w.log)-60):] {
		w.t.Log(line)
	}
	w.t.Fatalf(format, args...)
}

// time: the record is due exactly when a tick changes something; a second tick changes nothing; it does not matter how
// often somebody looks.
func (w *witness) time() {
	due := w.rec.Due(w.at.Resumed)
	tick := func(rec Record, now time.Time) (Record, bool) {
		next, v := Step(rec, Tick{}, Moment{Now: now, Resumed: w.at.Resumed})
		return next, v.Changed
	}
	late := w.at.Now.Add(time.Hour)
	if !due.IsZero() {
		if _, changed := tick(w.rec, due); !changed {
			w.fatalf("due at %s, but a tick changes nothing then", due.Sub(start))
		}
		late = due.Add(-1)
	}
	if _, changed := tick(w.rec, late); changed {
		w.fatalf("due at %s, but a tick at %s changes something", due.Sub(start), late.Sub(start))
	}
	soon, later := w.at.Now.Add(15*time.Second), w.at.Now.Add(time.Minute)
	halfway, _ := tick(w.rec, soon)
	if _, again := tick(halfway, soon); again {
		w.fatalf("a second tick changes something")
	}
	twice, _ := tick(halfway, later)
	once, _ := tick(w.rec, later)
	if stored(w.t, twice) != stored(w.t, once) {
		w.fatalf("looked at twice the record is\n%s\nlooked at once\n%s", stored(w.t, twice), stored(w.t, once))
	}
}

// value: the old record is as it was, and so is the new one whatever else is done to either; what changed is said to
// have changed, and the stored form decides alike.
func (w *witness) value(cmd Command, before string, next Record, v Verdict) {
	after := stored(w.t, next)
	for range 3 {
		other := w.command()
		Step(w.rec, other, w.at)
		Step(next, other, w.at)
	}
	if now := stored(w.t, w.rec); now != before {
		w.fatalf("the old record was written to: it was\n%s\nand is\n%s", before, now)
	}
	if now := stored(w.t, next); now != after {
		w.fatalf("the new record was written to: it was\n%s\nand is\n%s", after, now)
	}
	if !v.Changed && after != before {
		w.fatalf("the record changed and the verdict does not say so")
	}
	again, u := Step(restored(w.t, before), cmd, w.at)
	if stored(w.t, again) != after || u.Kind != v.Kind {
		w.fatalf("the stored record decides otherwise: %+v", u)
	}
}

// bytes: a record names new bytes only where the verdict says to keep them.
func (w *witness) bytes(old, next Record, v Verdict) {
	had, kept := old.Results(), false
	for _, key := range next.Results() {
		kept = kept || key == v.Keep
		if key != v.Keep && !slices.Contains(had, key) {
			w.fatalf("the record names %q, which nobody was told to keep", key)
		}
	}
	if v.Keep != "" && (!kept || slices.Contains(had, v.Keep)) {
		w.fatalf("told to keep %q; the old record names %q, the new one %q", v.Keep, had, next.Results())
	}
}

// rows: what is true of every record.
func (w *witness) rows() {
	live, open := map[string]int{}, map[string]int{}
	for i := range w.rec.Rows {
		r := &w.rec.Rows[i]
		w.seen[string(r.State)] = true
		switch r.State {
		case Reserved, InFlight:
			live[r.Fingerprint]++
		case HeldRow:
			open[r.Fingerprint]++
		case Alias:
			if target, ok := w.rec.Row(r.AliasOf); !ok || target.State != Committed {
				w.fatalf("the alias of %q has no committed row", r.AliasOf)
			}
		}
		if len(r.History) > MaxHistory || len(r.Runs) > MaxRuns {
			w.fatalf("row %d has outgrown its limits", i)
		}
	}
	for f := range maps.Keys(live) {
		if live[f] > 1 {
			w.fatalf("%d live attempts of %q", live[f], f)
		}
	}
	for f := range maps.Keys(open) {
		if open[f] > 1 {
			w.fatalf("%d open holds of %q", open[f], f)
		}
	}
}

// heard compares a verdict with what was said before, and takes it down.
func (w *witness) heard(cmd Command, v Verdict) {
	switch c := cmd.(type) {
	case Arrive:
		if v.Hold.ID == c.HoldID {
			w.holds[c.HoldID] = false
		}
		if v.Kind == Granted {
			w.granted(c, v)
		}
		if v.Kind == Replay {
			w.replayed(v)
		}
	case Commit:
		e := w.attempts[c.Attempt]
		if e == nil {
			w.attempts[c.Attempt] = &execution{failed: true, ended: w.at.Now} // a tombstone
		}
		if v.Kind != OK {
			break
		}
		if e == nil {
			w.fatalf("a commit of an attempt that was never granted is ok")
		}
		if e.committed && e.digest != c.Result.Digest {
			w.fatalf("a second, different commit is ok")
		}
		if !e.committed {
			e.committed, e.failed, e.digest, e.expires = true, false, c.Result.Digest, w.at.Now.Add(90*time.Second)
			w.end(e)
			w.settle(e)
		}
	case Fail:
		e := w.attempts[c.Attempt]
		switch {
		case v.Kind == OK && e == nil:
			w.attempts[c.Attempt] = &execution{failed: true, ended: w.at.Now} // a tombstone
		case v.Kind == OK && c.Class == Unknown && e.open:
			e.ended = w.at.Now
		case v.Kind == OK && c.Class != Unknown && e.open:
			e.failed = true
			w.end(e)
		}
	case Resolve:
		if v.Kind == OK {
			e := w.attempts[c.Attempt]
			if e == nil || !e.open {
				w.fatalf("resolved an attempt that was not in doubt")
			}
			w.end(e)
			if c.As == Committed {
				e.committed, e.expires = true, w.at.Now.Add(90*time.Second)
				if c.Result != nil {
					e.digest = c.Result.Digest
				}
				w.settle(e)
			}
		}
	case AnswerHold:
		if v.Kind == OK && c.Decision == Release {
			w.holds[c.Hold] = true
		}
	}
}

func (w *witness) end(e *execution) { e.open, e.ended = false, w.at.Now }

// settle: under one provider key, a retry's success settles what was in doubt beside it.
func (w *witness) settle(committed *execution) {
	for _, e := range w.attempts {
		if e != committed && e.fingerprint == committed.fingerprint && e.open {
			if i := w.rec.byAttempt(w.nameOf(e)); i >= 0 && w.rec.Rows[i].State.live() {
				continue
			}
			w.end(e)
		}
	}
}

func (w *witness) nameOf(e *execution) string {
	for name, other := range w.attempts {
		if other == e {
			return name
		}
	}
	return ""
}

// granted: nothing executes twice without a failure, a human's word, or a rule that asks for it.
func (w *witness) granted(a Arrive, v Verdict) {
	if v.Attempt != a.Attempt {
		w.fatalf("granted %q, asked for %q", v.Attempt, a.Attempt)
	}
	switch e := w.attempts[a.Attempt]; {
	case e == nil:
	case e.fingerprint == "" && w.at.Now.Before(e.ended.Add(tombstoneTerm)):
		w.fatalf("%q was granted over its tombstone", a.Attempt)
	case !e.ended.IsZero() && (!e.notAfter.IsZero() || w.at.Now.Before(e.ended.Add(a.Rule.keep()))):
		w.fatalf("the ended attempt %q was granted again", a.Attempt)
	case e.open:
		return // the same grant again
	}
	retried := false // beside an attempt that may have happened
	for _, e := range w.attempts {
		retried = retried || e.fingerprint == a.Fingerprint && e.open
	}
	for name, e := range w.attempts {
		if e.fingerprint != a.Fingerprint {
			continue
		}
		if e.open && !a.Rule.RetryInDoubt {
			w.fatalf("%q was granted while %q may have happened", a.Attempt, name)
		}
		if e.committed && w.at.Now.Before(e.expires) && v.ApprovedBy == "" && a.Rule.OnNewRun != Execute && !retried {
			w.fatalf("%q was granted though %q was committed", a.Attempt, name)
		}
		if v.ApprovedBy != "" && e.approvedBy == v.ApprovedBy && !e.failed && !retried {
			w.fatalf("the approval %q was used by %q and %q", v.ApprovedBy, name, a.Attempt)
		}
	}
	if v.ApprovedBy != "" && !w.holds[v.ApprovedBy] {
		w.fatalf("approved by %q, which nobody released", v.ApprovedBy)
	}
	w.attempts[a.Attempt] = &execution{fingerprint: a.Fingerprint, approvedBy: v.ApprovedBy, notAfter: a.NotAfter, open: true}
}

// replayed: a committed result never changes.
func (w *witness) replayed(v Verdict) {
	e := w.attempts[v.Attempt]
	if e == nil || !e.committed {
		w.fatalf("replayed %q, which was not committed", v.Attempt)
	}
	if v.Result.Missing == "" && v.Result.Digest != e.digest {
		w.fatalf("replayed %q with %q; it was committed with %q", v.Attempt, v.Result.Digest, e.digest)
	}
}

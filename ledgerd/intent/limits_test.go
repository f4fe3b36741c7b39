package intent

import (
	"fmt"
	"testing"
	"time"
)

// tale is a record under commands, for tests that need many of them.
type tale struct {
	t   *testing.T
	rec Record
	at  Moment
}

func newTale(t *testing.T) *tale { return &tale{t: t, at: Moment{Now: start}} }

func (s *tale) do(cmd Command) Verdict {
	var v Verdict
	s.rec, v = Step(s.rec, cmd, s.at)
	return v
}

func (s *tale) want(cmd Command, kind VerdictKind) Verdict {
	s.t.Helper()
	v := s.do(cmd)
	if v.Kind != kind {
		s.t.Fatalf("%+v: got %s (%s), want %s", cmd, v.Kind, v.Why, kind)
	}
	return v
}

// call is the n-th spelling of an intent, under a rule that lets every spelling execute.
func call(n int) Arrive {
	rule := usual()
	rule.OnSameIntent = Execute
	return Arrive{Attempt: fmt.Sprintf("a%d", n), HoldID: fmt.Sprintf("h%d", n), Fingerprint: fmt.Sprintf("f%d", n),
		Run: "r", Rule: rule}
}

func TestFullRecordRefusesAndKeepsWhatItHas(t *testing.T) {
	s := newTale(t)
	for n := range MaxRows {
		s.want(call(n), Granted)
	}
	v := s.want(call(MaxRows), Full)
	if v.Changed || v.RetryAfter != 15*time.Second {
		t.Errorf("got changed=%t retry_after=%s, want nothing changed and another try when a lease ends", v.Changed, v.RetryAfter)
	}
	s.want(call(0), Granted) // the same attempt, again
}

func TestReleasedRowsMakeRoomOldestFirst(t *testing.T) {
	s := newTale(t)
	for n := range MaxRows {
		s.want(call(n), Granted)
	}
	s.want(Fail{Attempt: "a7", Class: NotSent}, OK)
	s.want(Fail{Attempt: "a3", Class: NotSent}, OK)
	s.want(call(MaxRows), Granted)
	if got := s.rec.Attempt("a3").Kind; got != Gone {
		t.Errorf("the older row's attempt is %s, want gone", got)
	}
	if got := s.rec.Attempt("a7").Kind; got != Failed {
		t.Errorf("the newer row's attempt is %s, want failed", got)
	}
	s.want(Arrive{Attempt: "a3", Fingerprint: "f3", Run: "r", Rule: usual()}, Over) // gone, but not forgotten
	s.want(Fail{Attempt: "a3", Class: NotSent}, OK)
	s.want(Extend{Attempt: "a3"}, Fenced)
}

func TestHoldsInAFullRecordStillNameWhatTheyMayRepeat(t *testing.T) {
	s := newTale(t)
	for n := range MaxRows {
		s.want(call(n), Granted)
	}
	s.want(Fail{Attempt: "a0", Class: NotSent}, OK)
	s.want(Commit{Attempt: "a9", Result: Result{Digest: "r"}}, OK)
	again := call(9)
	again.Attempt, again.HoldID, again.Run = "later", "h", "another"
	s.at.Now = s.at.Now.Add(10 * time.Second)
	if v := s.want(again, Held); v.Hold.Of != "a9" {
		t.Errorf("held for %q, want a9", v.Hold.Of)
	}
}

func TestApprovalsAreGivenBackInAFullRecord(t *testing.T) {
	s := newTale(t)
	s.want(call(1000), Granted)
	s.want(call(0), Granted)
	s.want(Commit{Attempt: "a0", Result: Result{Digest: "r"}}, OK)
	s.at.Now = s.at.Now.Add(10 * time.Second)
	again := call(0)
	again.Attempt, again.Run = "b", "s"
	s.want(again, Held)
	s.want(AnswerHold{Hold: "h0", Decision: Release}, OK)
	for n := 3; n < MaxRows; n++ {
		s.want(call(n), Granted)
	}
	s.want(Fail{Attempt: "a1000", Class: NotSent}, OK)
	for n := range 5 {
		again.Attempt = fmt.Sprintf("b%d", n)
		s.want(again, Granted)
		s.want(Fail{Attempt: again.Attempt, Class: Definite}, OK)
	}
	if len(s.rec.Rows) > MaxRows+1 {
		t.Errorf("%d rows, want %d and one failed attempt", len(s.rec.Rows), MaxRows)
	}
	if got := s.rec.Attempt("b4").Kind; got != Failed {
		t.Errorf("the last failed attempt is %s, want failed", got)
	}
	if row, _ := s.rec.RowOfHold("h0"); row.State != Approved || row.Fingerprint != "f0" {
		t.Errorf("the hold's row is %s of %s, want approved of f0", row.State, row.Fingerprint)
	}
}

func TestRetriesInAFullRecordBelongToTheirDoubt(t *testing.T) {
	s := newTale(t)
	for n := range MaxRows {
		s.want(call(n), Granted)
	}
	s.want(Fail{Attempt: "a0", Class: NotSent}, OK)
	s.want(Fail{Attempt: "a9", Class: Unknown}, OK)
	s.at.Now = s.at.Now.Add(time.Minute)
	retry := call(9)
	retry.Attempt, retry.Run, retry.Rule.RetryInDoubt = "later", "another", true
	s.want(retry, Granted)
	if row, _ := s.rec.Row("later"); len(row.Runs) != 2 || row.Fingerprint != "f9" {
		t.Errorf("the retry is %s with runs %q", row.Fingerprint, row.Runs)
	}
	if row, _ := s.rec.Row("a9"); len(row.Runs) != 2 {
		t.Errorf("the row in doubt has runs %q", row.Runs)
	}
}

func TestRunsPastTheLimitAreAnsweredButNotRecorded(t *testing.T) {
	s := newTale(t)
	a := call(0)
	s.want(a, Granted)
	for n := range MaxRuns + 10 {
		a.Attempt, a.Run = fmt.Sprintf("w%d", n), fmt.Sprintf("run-%d", n)
		v := s.want(a, Wait)
		if recorded := n < MaxRuns-1; v.Changed != recorded {
			t.Fatalf("run %d: changed=%t, want %t", n, v.Changed, recorded)
		}
	}
	if got := len(s.rec.Rows[0].Runs); got != MaxRuns {
		t.Errorf("%d runs, want %d", got, MaxRuns)
	}
}

// timely is a call whose reserve says when it is late, as the filter's always do.
func (s *tale) timely(n int) Arrive {
	a := call(n)
	a.NotAfter = s.at.Now.Add(5 * time.Second)
	return a
}

func TestTombstonesPastTheLimitAreRefusedNotForgotten(t *testing.T) {
	s := newTale(t)
	for n := range MaxUnbound {
		s.want(Fail{Attempt: fmt.Sprintf("t%d", n), Class: NotSent}, OK)
	}
	s.want(Fail{Attempt: "one too many", Class: NotSent}, Full)
	s.want(Commit{Attempt: "one too many", Result: Result{Digest: "r"}}, Full)
	s.want(Fail{Attempt: "t0", Class: NotSent}, OK)
	s.want(call(0), Full) // it could leave one more
	s.want(s.timely(1), Granted)
	s.want(Commit{Attempt: "a1", Result: Result{Digest: "r"}}, OK)
	s.at.Now = s.at.Now.Add(tombstoneTerm)
	s.want(call(0), Granted)
}

// A body that fails again and again must neither be refused nor make its record grow, and none of its attempts may be
// granted twice.
func TestFailingAgainAndAgainIsNeverRefused(t *testing.T) {
	s := newTale(t)
	var bounds []time.Time
	again := func(n int) Arrive {
		a := call(0)
		a.Attempt, a.NotAfter = fmt.Sprintf("a%d", n), bounds[n]
		return a
	}
	for n := range 5000 {
		s.at.Now = s.at.Now.Add(time.Millisecond)
		bounds = append(bounds, s.at.Now.Add(5*time.Second))
		s.want(again(n), Granted)
		s.want(Fail{Attempt: again(n).Attempt, Class: Definite, Failure: &Result{Digest: fmt.Sprint(n)}}, OK)
	}
	if rows, ended := len(s.rec.Rows), len(s.rec.Ended); rows != MaxFailed || ended != MaxEnded {
		t.Errorf("%d rows and %d ended attempts are kept, want %d and %d", rows, ended, MaxFailed, MaxEnded)
	}
	for n := range bounds {
		want := Over
		if s.at.Now.After(bounds[n]) {
			want = Late
		}
		s.want(again(n), want)
	}
	s.want(Fail{Attempt: "a4999", Class: Definite}, OK)
	s.at.Now = s.at.Now.Add(usual().keep() + time.Second)
	if s.want(Tick{}, OK); !s.rec.Empty() {
		t.Errorf("%d rows and %d ended attempts are left, past=%s", len(s.rec.Rows), len(s.rec.Ended), s.rec.Past)
	}
}

func TestManyFingerprintsThatFailLeaveRoomForOthers(t *testing.T) {
	s := newTale(t)
	for n := range 5000 {
		s.want(s.timely(n), Granted)
		s.want(Fail{Attempt: fmt.Sprintf("a%d", n), Class: NotSent}, OK)
		s.at.Now = s.at.Now.Add(time.Millisecond)
	}
	if rows, ended := len(s.rec.Rows), len(s.rec.Ended); rows > MaxRows || ended > MaxEnded {
		t.Errorf("%d rows and %d ended attempts are kept, want at most %d and %d", rows, ended, MaxRows, MaxEnded)
	}
}

// The failure that came last is the one that somebody waits for, wherever its row stands.
func TestTheFailureThatHasJustComeKeepsItsRow(t *testing.T) {
	s := newTale(t)
	s.want(call(0), Granted)
	s.want(Fail{Attempt: "a0", Class: Unknown}, OK)
	s.at.Now = s.at.Now.Add(time.Minute)
	for n := range 2 * MaxFailed {
		a := call(0)
		a.Attempt, a.Rule.RetryInDoubt = fmt.Sprintf("b%d", n), true
		s.want(a, Granted)
		s.want(Fail{Attempt: a.Attempt, Class: Definite}, OK)
	}
	v := s.want(Fail{Attempt: "a0", Class: Definite, Failure: &Result{Digest: "why"}}, OK)
	if got := s.rec.Attempt("a0"); got.Kind != Failed || got.Result == nil || v.Keep != got.Result.Attempt {
		t.Errorf("who waits for it is told %+v", got)
	}
}

func TestFencedCommitsPastTheLimitAreCounted(t *testing.T) {
	s := newTale(t)
	for n := range MaxEvidence + 5 {
		v := s.want(Commit{Attempt: "nobody", Result: Result{Digest: fmt.Sprint(n)}}, Fenced)
		if kept := v.Keep != ""; kept != (n < MaxEvidence) {
			t.Errorf("fenced commit %d: kept=%t", n, kept)
		}
	}
	if s.rec.Fenced != MaxEvidence+5 || len(s.rec.Evidence) != MaxEvidence {
		t.Errorf("%d counted, %d kept; want %d and %d", s.rec.Fenced, len(s.rec.Evidence), MaxEvidence+5, MaxEvidence)
	}
}

func TestMarksPastTheLimitAreRefused(t *testing.T) {
	s := newTale(t)
	for n := range MaxMarks + 1 {
		a := call(n)
		a.MovesTo = &Identity{Intent: "i", Fingerprint: a.Fingerprint}
		if n < MaxMarks {
			s.want(a, Moved)
		} else {
			s.want(a, Full)
		}
	}
}

func TestLongHistoryKeepsItsBeginningAndItsEnd(t *testing.T) {
	s := newTale(t)
	s.want(call(0), Granted)
	for range 40 {
		s.at.Now = s.at.Now.Add(time.Minute)
		s.want(Extend{Attempt: "a0"}, OK) // silent for too long, and alive again
	}
	h := s.rec.Rows[0].History
	if len(h) != MaxHistory || h[0].Why != WhyArrived || !h[len(h)-1].At.Equal(s.at.Now) {
		t.Errorf("%d events from %+v to %+v", len(h), h[0], h[len(h)-1])
	}
}

func TestRecordCanBeStoredWhateverTheActionHolds(t *testing.T) {
	s := newTale(t)
	a := call(0)
	a.Action = []byte(`{"cut off`)
	s.want(a, Granted)
	b := call(1)
	b.Action = []byte(`{"amount": "$12.00"}`)
	s.want(b, Granted)
	back := restored(t, stored(t, s.rec))
	if back.Rows[0].Action != nil {
		t.Errorf("the action that is no JSON was kept: %s", back.Rows[0].Action)
	}
	if want := `{"amount": "$12.00"}`; string(back.Rows[1].Action) != want {
		t.Errorf("got action %s, want %s", back.Rows[1].Action, want)
	}
}

func TestLookupsFindWhatTheLedgerAsksFor(t *testing.T) {
	s := newTale(t)
	s.want(call(0), Granted)
	s.want(Fail{Attempt: "a0", Class: Unknown}, OK)
	held := call(1)
	s.want(held, Held)
	doubts, holds := s.rec.Doubts(), s.rec.OpenHolds()
	if len(doubts) != 1 || doubts[0].Attempt != "a0" || len(holds) != 1 || holds[0].Question.ID != "h1" {
		t.Fatalf("doubts %+v, holds %+v", doubts, holds)
	}
	if got, want := doubts[0].ReleasableAfter(), start.Add(67500*time.Millisecond); !got.Equal(want) {
		t.Errorf("releasable after %s, want %s", got, want)
	}
	if of, ok := s.rec.RowOf(*holds[0].Question); !ok || of.Attempt != "a0" {
		t.Errorf("the hold refers to %+v", of)
	}
	if r, ok := s.rec.RowOfHold("h1"); !ok || r.Fingerprint != "f1" {
		t.Errorf("the hold's row is %+v", r)
	}
	if _, ok := s.rec.Row(""); ok {
		t.Error("a held row was found by the attempt that it does not have")
	}
	if s.rec.Empty() || !(Record{}).Empty() {
		t.Error("only a record without anything is empty")
	}
}

// What grows in one record must not show in another that shares its past.
func TestTwoFuturesOfOneRecordAreApart(t *testing.T) {
	join := func(n int) Command {
		a := call(0)
		a.Attempt, a.Run = fmt.Sprintf("w%d", n), fmt.Sprintf("run-%d", n)
		return a
	}
	mark := func(n int) Command {
		a := call(n)
		a.MovesTo = &Identity{Intent: "i", Fingerprint: a.Fingerprint}
		return a
	}
	for name, grow := range map[string]func(n int) Command{
		"rows":     func(n int) Command { return call(n) },
		"runs":     join,
		"history":  func(n int) Command { return Extend{Attempt: "a0"} },
		"ended":    func(n int) Command { return Fail{Attempt: fmt.Sprintf("t%d", n), Class: NotSent} },
		"evidence": func(n int) Command { return Commit{Attempt: "nobody", Result: Result{Digest: fmt.Sprint(n)}} },
		"marks":    mark,
	} {
		t.Run(name, func(t *testing.T) {
			s := newTale(t)
			s.want(call(0), Granted)
			for n := 1; n < 10; n++ {
				if s.at.Now = s.at.Now.Add(time.Second); name == "history" {
					s.at.Now = s.at.Now.Add(time.Minute) // in doubt, then alive again
				}
				one, _ := Step(s.rec, grow(n), s.at)
				before := stored(t, one)
				other, _ := Step(s.rec, grow(n+100), Moment{Now: s.at.Now.Add(time.Second)})
				if stored(t, one) != before || stored(t, other) == before {
					t.Fatalf("with %d, one future became the other", n)
				}
				s.rec = one
			}
		})
	}
}

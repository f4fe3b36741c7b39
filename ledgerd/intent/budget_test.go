package intent

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// long gives a text of so many bytes that is no other number's.
func long(what string, n, size int) string {
	s := fmt.Sprintf("%s-%d-", what, n)
	return s + strings.Repeat("~", size-len(s))
}

// hostile is the n-th spelling of an intent with everything as large as the wire lets it be.
func hostile(n int) Arrive {
	a := call(n)
	a.Attempt, a.HoldID, a.Fingerprint = long("a", n, 128), long("h", n, 128), long("f", n, 64)
	a.Run, a.Tool, a.Rule.Name = long("run", n, 1024), long("tool", n, 1024), long("rule", n, 1024)
	a.Action = fmt.Appendf(nil, `{"args":%q}`, long("x", n, 16<<10-20))
	return a
}

// within holds a record against what one may take.
func (s *tale) within() {
	s.t.Helper()
	runs, actions := 0, 0
	for i := range s.rec.Rows {
		runs, actions = runs+s.rec.Rows[i].furtherRuns(), actions+len(s.rec.Rows[i].Action)
	}
	if size := len(s.rec.AppendTo(nil)); size > MaxBytes || runs > MaxRunBytes || actions > MaxActionBytes+MaxRows*128 {
		s.t.Fatalf("%d bytes, %d of runs, %d of actions; want at most %d, %d, %d", size, runs, actions, MaxBytes, MaxRunBytes, MaxActionBytes)
	}
}

func TestARecordStaysSmallWhateverCallersSend(t *testing.T) {
	s := newTale(t)
	result := func(n int) Result {
		return Result{Digest: strings.Repeat("ab", 32), Status: 200, Size: int64(n)}
	}
	for n := range MaxRows {
		s.want(hostile(n), Granted)
	}
	s.within()
	for n := range MaxRows {
		a, runs := hostile(n), 20 // more than there is room for
		if n == 0 {
			runs = MaxRuns + 10
		}
		for r := range runs {
			a.Attempt, a.Run = long("w", r, 128), long("another", n<<16|r, 1024)
			s.want(a, Wait)
		}
	}
	s.within()
	for n := range MaxUnbound {
		s.want(Fail{Attempt: long("tombstone", n, 128), Class: Definite}, OK)
	}
	for n := range 2 * MaxEvidence {
		s.want(Commit{Attempt: long("tombstone", n, 128), Result: result(n)}, Fenced)
	}
	s.within()

	// Whatever is there, what was granted finds room to live, to fail and to end, and a person to answer.
	for n := range MaxRows {
		a := hostile(n)
		s.want(a, Granted) // the same grant again
		s.want(Extend{Attempt: a.Attempt}, OK)
		switch n % 4 {
		case 0:
			s.want(Commit{Attempt: a.Attempt, Result: result(n)}, OK)
		case 1:
			failure := result(n)
			s.want(Fail{Attempt: a.Attempt, Class: Definite, Failure: &failure}, OK)
		default:
			s.want(Fail{Attempt: a.Attempt, Class: Unknown}, OK)
		}
	}
	s.within()
	s.at.Now = s.at.Now.Add(2 * time.Minute)
	for n := 2; n < MaxRows; n += 4 {
		s.want(Resolve{Attempt: hostile(n).Attempt, As: Committed, By: long("by", n, 1<<20), Reason: long("why", n, 1<<20)}, OK)
	}
	s.within()
	for n := 0; n < MaxRows; n += 4 {
		a := hostile(n)
		a.Attempt = long("later", n, 128)
		if v := s.want(a, Replay); v.Attempt != hostile(n).Attempt || v.Result.Size != int64(n) {
			t.Fatalf("the run of the call gets %+v", v)
		}
	}
}

// The rows of holds are the largest: they have names that no other row has, two answers, and are executed.
func TestHeldRowsStayWithinTheRecordToo(t *testing.T) {
	s := newTale(t)
	first := hostile(0)
	s.want(first, Granted)
	s.want(Fail{Attempt: first.Attempt, Class: Unknown}, OK)
	for n := 1; n < MaxRows; n++ {
		a := hostile(n)
		s.want(a, Held)
		for r := range 3 {
			a.Run = long("joins", n<<8|r, 1024)
			s.want(a, Held)
		}
		s.want(AnswerHold{Hold: a.HoldID, Decision: Release, By: long("by", n, 1<<16), Reason: long("why", n, 1<<16)}, OK)
		for r := range 3 { // executed, failed and given back, each time for another run
			a.Attempt, a.Run = long("try", n<<8|r, 128), long("executes", n<<8|r, 1024)
			s.want(a, Granted)
			s.want(Fail{Attempt: a.Attempt, Class: Definite, Failure: &Result{Digest: strings.Repeat("cd", 32)}}, OK)
		}
		a.Attempt = long("last", n, 128)
		s.want(a, Granted)
		s.want(Fail{Attempt: a.Attempt, Class: Unknown}, OK)
		s.at.Now = s.at.Now.Add(2 * time.Minute)
		s.want(Resolve{Attempt: a.Attempt, As: Committed, By: long("by", n, 1<<16), Reason: long("why", n, 1<<16)}, OK)
		a.Attempt = long("again", n, 128)
		s.want(a, Replay)
	}
	s.within()
}

func TestALongRunIsOneRunStill(t *testing.T) {
	s := newTale(t)
	a, other := call(0), call(0)
	a.Run, other.Run = strings.Repeat("r", 1024), strings.Repeat("r", 1023)+"s"
	s.want(a, Granted)
	s.want(Commit{Attempt: "a0", Result: Result{Digest: "x"}}, OK)
	s.at.Now = s.at.Now.Add(time.Minute)
	a.Attempt, other.Attempt = "again", "other"
	s.want(a, Replay)
	s.want(other, Held)
	if r := s.rec.Rows[0].Runs[0]; len(r) > MaxRun || r != RecordedRun(RecordedRun(a.Run)) {
		t.Errorf("the run is recorded as %q", r)
	}
	// A record of an earlier ledgerd has the run as it is.
	s.rec.Rows[0].Runs = []string{a.Run}
	s.rec = restored(t, stored(t, s.rec))
	s.want(a, Replay)
}

// fillRuns makes a record full of runs, of calls that have nothing to do with n < 1000.
func (s *tale) fillRuns() {
	for n := 1000; ; n++ {
		a := call(n)
		s.want(a, Granted)
		for r := range MaxRuns - 1 {
			a.Attempt, a.Run = "w", long("filler", n<<16|r, MaxRun)
			if s.want(a, Wait); !slices.Contains(s.rec.Rows[len(s.rec.Rows)-1].Runs, a.Run) {
				return
			}
		}
	}
}

func TestTheRunThatExecutesAnApprovalIsRecordedInAFullRecord(t *testing.T) {
	s := newTale(t)
	s.want(call(0), Granted)
	s.want(Commit{Attempt: "a0", Result: Result{Digest: "x"}}, OK)
	s.at.Now = s.at.Now.Add(10 * time.Second)
	again := call(0)
	for r := range 5 {
		again.Attempt, again.Run = "j", fmt.Sprint("joins", r)
		s.want(again, Held)
	}
	s.fillRuns()
	s.want(AnswerHold{Hold: "h0", Decision: Release}, OK)
	again.Attempt, again.Run = "b", "executes"
	s.want(again, Granted)
	s.want(Commit{Attempt: "b", Result: Result{Digest: "y"}}, OK)
	s.at.Now = s.at.Now.Add(10 * time.Second)
	again.Attempt = "c"
	if v := s.want(again, Replay); v.Attempt != "b" {
		t.Errorf("the run that executed is replayed %q", v.Attempt)
	}
}

// A retry in doubt takes over the runs of the doubt. Where there is no room for both, none of them executes beside it.
func TestARetryInAFullRecordIsTheOnlyOne(t *testing.T) {
	s := newTale(t)
	doubt := call(0)
	s.want(doubt, Granted)
	for r := range 20 {
		doubt.Attempt, doubt.Run = "w", fmt.Sprint("joins", r)
		s.want(doubt, Wait)
	}
	s.fillRuns()
	s.want(Fail{Attempt: "a0", Class: Unknown}, OK)
	s.at.Now = s.at.Now.Add(time.Minute)
	doubt.Rule.RetryInDoubt, doubt.Attempt, doubt.Run = true, "retry", "retries"
	s.want(doubt, Granted)
	for r := range 20 {
		doubt.Attempt, doubt.Run = "beside", fmt.Sprint("joins", r)
		if v := s.want(doubt, Wait); v.Attempt != "retry" {
			t.Fatalf("it waits for %q", v.Attempt)
		}
	}
	s.want(Commit{Attempt: "retry", Result: Result{Digest: "x"}}, OK)
	s.at.Now = s.at.Now.Add(10 * time.Second)
	for _, run := range []string{"retries", "joins0", "joins19"} { // there is room again: the doubt's row is released
		if doubt.Run = run; s.want(doubt, Replay).Attempt != "retry" {
			t.Errorf("the run %q is not replayed the retry", run)
		}
	}
}

func TestReleasedRowsGiveUpRunsAndActionsFirst(t *testing.T) {
	s := newTale(t)
	s.fillRuns()
	failed := "a1000"
	s.want(Fail{Attempt: failed, Class: Definite}, OK)
	live := call(0)
	live.Action = fmt.Appendf(nil, `{"args":%q}`, strings.Repeat("x", MaxActionBytes-20))
	s.want(live, Granted)
	s.want(Fail{Attempt: "a0", Class: Definite}, OK)
	next := call(1)
	next.Action = []byte(`{"args":{"amount":"` + strings.Repeat("1", 100) + `"}}`)
	s.want(next, Granted)
	for r := range 3 {
		next.Attempt, next.Run = "w", long("joins", r, MaxRun)
		s.want(next, Wait)
	}
	row, _ := s.rec.Row("a1")
	if len(row.Runs) != 4 || !bytes.Equal(row.Action, next.Action) {
		t.Errorf("the live row has %d runs and %d bytes of its action", len(row.Runs), len(row.Action))
	}
	if row, _ := s.rec.Row(failed); len(row.Runs) != sureRuns {
		t.Errorf("the released row has %d runs", len(row.Runs))
	}
	if row, _ := s.rec.Row("a0"); len(row.Action) != 0 || s.rec.Attempt("a0").Kind != Failed {
		t.Errorf("the released row has %d bytes of its action; who waits for it is told %+v", len(row.Action), s.rec.Attempt("a0"))
	}
}

func TestAnActionThatHasNoRoomSaysHowLargeItWas(t *testing.T) {
	s := newTale(t)
	for n := range 40 {
		s.want(hostile(n), Granted)
	}
	back := restored(t, stored(t, s.rec))
	if first, last := back.Rows[0].Action, back.Rows[39].Action; len(first) < 16<<10-20 ||
		!bytes.Contains(last, fmt.Appendf(nil, "%d bytes", len(hostile(39).Action))) {
		t.Errorf("%d bytes are kept of the first action, and of the last %d: %.80s", len(first), len(last), last)
	}
}

// TestInvariantsInARecordFullOfRuns plays TestInvariants where no further run is recorded.
func TestInvariantsInARecordFullOfRuns(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	full := newTale(t)
	full.at.Now = start.Add(-time.Hour)
	full.fillRuns()
	for i := range full.rec.Rows { // neither near nor over while the test lasts
		full.want(Commit{Attempt: full.rec.Rows[i].Attempt, Result: Result{Digest: "x"}}, OK)
		full.rec.Rows[i].Rule.Retention = 1000 * time.Hour
	}
	for range 5 {
		w := newWitness(t, random, map[string]bool{})
		w.rec = full.rec
		for i := range full.rec.Rows {
			w.attempts[full.rec.Rows[i].Attempt] = &execution{fingerprint: full.rec.Rows[i].Fingerprint, committed: true, digest: "x",
				expires: start.Add(900 * time.Hour)}
		}
		for range 150 {
			w.step()
		}
	}
}

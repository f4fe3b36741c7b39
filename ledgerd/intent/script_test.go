package intent

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// A script is a story: each command is a line, what it does stands indented below it. The transcripts are golden;
// `go test -update` writes them anew. Attempts are named a1, a2, … and holds hold-1, hold-2, … as they come to be.
//
//	rule     key=value…                                 the settings of the arrivals that follow
//	arrive   fingerprint [run=] [attempt=] [not_after=] [moves_to=intent/fingerprint] [stay]
//	extend   attempt
//	commit   attempt result [missing=]
//	fail     attempt class [failure=]
//	release  hold [version=] [by=] [why=]               also duplicate, deny
//	resolve  attempt released|committed [result=] [by=] [why=]
//	await    attempt|hold                               what somebody who waits is told
//	resumed                                             the ledger is back after an outage
//	tick, show, due, results                            time passes; what the record says
//	story    what it tells                              a new record, a new count of everything, the default rule
//
// Every command takes at=, the time since the story's start; without it no time passes.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			golden, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := play(t, string(golden))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(golden) {
				t.Errorf("the transcript differs; look at the difference, then go test -update:\n%s", difference(string(golden), got))
			}
		})
	}
}

// difference shows the first lines that differ.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		a, b := "(end)", "(end)"
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\n- %s\n+ %s\n(full transcript)\n%s", i+1, a, b, got)
		}
	}
	return "none"
}

// start is when every story begins.
var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// usual is the documented default of every setting.
func usual() Rule {
	return Rule{
		Window: 5 * time.Second, Horizon: 24 * time.Hour, HoldTerm: 24 * time.Hour, ApprovalTerm: time.Hour,
		Lease: 15 * time.Second, Wait: 30 * time.Second, ExecutionTimeout: time.Minute, Retention: 24 * time.Hour,
		OnNewRun: Hold, OnSameIntent: Hold, OnAbsentRun: Execute,
	}
}

// story is a script under way.
type story struct {
	t               *testing.T
	out             strings.Builder
	rec             Record
	at              Moment
	rule            Rule
	attempts, holds int
	decided         map[string]bool // see decisions
}

// play gives the transcript of a script, and by which rows of the specification's tables it was decided.
func play(t *testing.T, script string) (transcript string, decided map[string]bool) {
	s := &story{t: t, at: Moment{Now: start}, rule: usual(), decided: map[string]bool{}}
	for n, line := range strings.Split(strings.TrimRight(script, "\n"), "\n") {
		if strings.HasPrefix(line, "  ") {
			continue // of the former transcript
		}
		s.out.WriteString(line + "\n")
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(line, "#") {
			if err := s.do(words); err != nil {
				t.Fatalf("line %d: %q: %v", n+1, line, err)
			}
		}
	}
	return s.out.String(), s.decided
}

func (s *story) say(format string, args ...any) { fmt.Fprintf(&s.out, "  "+format+"\n", args...) }

func (s *story) do(words []string) error {
	verb, args := words[0], []string{}
	opts := map[string]string{}
	for _, w := range words[1:] {
		if key, value, ok := strings.Cut(w, "="); ok || w == "stay" {
			opts[key] = value
		} else {
			args = append(args, w)
		}
	}
	if at, ok := opts["at"]; ok {
		s.at.Now = s.moment(at)
	}
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch verb {
	case "rule":
		return s.setRule(opts)
	case "arrive":
		s.arrive(arg(0), opts)
	case "extend":
		s.step(Extend{Attempt: arg(0)})
	case "commit":
		s.step(Commit{Attempt: arg(0), Result: result(arg(1), opts["missing"])})
	case "fail":
		c := Fail{Attempt: arg(0), Class: Class(arg(1))}
		if f, ok := opts["failure"]; ok {
			r := result(f, "")
			c.Failure = &r
		}
		s.step(c)
	case "release", "duplicate", "deny":
		version, _ := strconv.ParseInt(opts["version"], 10, 64)
		s.step(AnswerHold{Hold: arg(0), Version: version, Decision: Decision(verb), By: opts["by"], Reason: opts["why"]})
	case "resolve":
		c := Resolve{Attempt: arg(0), As: State(arg(1)), By: opts["by"], Reason: opts["why"]}
		if f, ok := opts["result"]; ok {
			r := result(f, "")
			c.Result = &r
		}
		s.step(c)
	case "await":
		s.pass()
		if strings.HasPrefix(arg(0), "hold-") {
			s.say("%s", s.verdict(s.rec.HoldState(arg(0))))
		} else {
			s.say("%s", s.verdict(s.rec.Attempt(arg(0))))
		}
	case "resumed":
		s.at.Resumed = s.at.Now
	case "tick":
		s.step(Tick{})
	case "show":
		s.show()
	case "due":
		s.say("%s", s.since(s.rec.Due(s.at.Resumed)))
	case "results":
		s.say("%s", strings.Join(s.rec.Results(), " "))
	case "story":
		s.rec, s.at, s.rule, s.attempts, s.holds = Record{}, Moment{Now: start}, usual(), 0, 0
	default:
		return fmt.Errorf("unknown command %q", verb)
	}
	return nil
}

func (s *story) moment(at string) time.Time {
	d, err := time.ParseDuration(at)
	if err != nil {
		s.t.Fatal(err)
	}
	return start.Add(d)
}

func (s *story) setRule(opts map[string]string) error {
	s.rule = usual()
	for key, value := range opts {
		durations := map[string]*time.Duration{"window": &s.rule.Window, "horizon": &s.rule.Horizon,
			"hold_term": &s.rule.HoldTerm, "approval_term": &s.rule.ApprovalTerm, "lease": &s.rule.Lease, "wait": &s.rule.Wait,
			"execution_timeout": &s.rule.ExecutionTimeout, "retention": &s.rule.Retention}
		policies := map[string]*Policy{"on_new_run": &s.rule.OnNewRun, "on_same_intent": &s.rule.OnSameIntent,
			"on_absent_run": &s.rule.OnAbsentRun}
		switch {
		case durations[key] != nil:
			*durations[key] = s.moment(value).Sub(start)
		case policies[key] != nil:
			*policies[key] = Policy(value)
		case key == "on_in_doubt":
			s.rule.RetryInDoubt = value == "retry"
		default:
			return fmt.Errorf("unknown setting %q", key)
		}
	}
	return nil
}

func (s *story) arrive(fingerprint string, opts map[string]string) {
	a := Arrive{Attempt: fmt.Sprintf("a%d", s.attempts+1), HoldID: fmt.Sprintf("hold-%d", s.holds+1),
		Fingerprint: fingerprint, Run: opts["run"], Tool: "refund", Rule: s.rule}
	if attempt, ok := opts["attempt"]; ok {
		a.Attempt = attempt
	}
	if late, ok := opts["not_after"]; ok {
		a.NotAfter = s.moment(late)
	}
	if to, ok := opts["moves_to"]; ok {
		intent, fingerprint, _ := strings.Cut(to, "/")
		a.MovesTo = &Identity{Intent: intent, Fingerprint: fingerprint}
	}
	_, a.Stay = opts["stay"]
	v := s.step(a)
	if v.Kind == Granted && v.Attempt == fmt.Sprintf("a%d", s.attempts+1) {
		s.attempts++
	}
	if v.Hold.ID == a.HoldID {
		s.holds++
	}
}

// result is a reply that is told by one word: its digest.
func result(word, missing string) Result {
	return Result{Status: 200, Size: int64(len(word)), Digest: word, Missing: missing}
}

// step does a command, writes down what it did, and sees to it that the former record stays as it was and that a
// record read back from its stored form decides the same.
func (s *story) step(cmd Command) Verdict {
	before := stored(s.t, s.rec)
	s.note(cmd)
	next, v := Step(s.rec, cmd, s.at)
	if stored(s.t, s.rec) != before {
		s.t.Fatalf("%T wrote into the record that it was given", cmd)
	}
	again, w := Step(restored(s.t, before), cmd, s.at)
	if stored(s.t, again) != stored(s.t, next) || s.verdict(w) != s.verdict(v) {
		s.t.Fatalf("%T decides otherwise on a record that was stored: %s", cmd, s.verdict(w))
	}
	if !v.Changed && stored(s.t, next) != before {
		s.t.Fatalf("%T changed the record and does not say so", cmd)
	}
	s.rec = next
	s.say("%s", s.verdict(v))
	for _, c := range v.Changes {
		s.say("%s", s.change(c))
	}
	return v
}

// note takes down what decides a command.
func (s *story) note(cmd Command) {
	for _, name := range decisions(s.rec, cmd, s.at) {
		s.decided[name] = true
	}
}

// pass lets time pass without a word.
func (s *story) pass() {
	s.note(Tick{})
	s.rec, _ = Step(s.rec, Tick{}, s.at)
}

func stored(t testing.TB, rec Record) string {
	t.Helper()
	return string(rec.AppendTo(nil))
}

func restored(t testing.TB, data string) (rec Record) {
	t.Helper()
	rec, err := ReadRecord([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// verdict is a verdict in one line.
func (s *story) verdict(v Verdict) string {
	var b strings.Builder
	b.WriteString(string(v.Kind))
	put := func(key string, value any, there bool) {
		if there {
			fmt.Fprintf(&b, " %s=%v", key, value)
		}
	}
	put("attempt", v.Attempt, v.Attempt != "")
	put("lease", v.Lease, v.Kind == Granted)
	put("since", s.since(v.Since), v.Kind != Granted && !v.Since.IsZero())
	put("approved_by", v.ApprovedBy, v.ApprovedBy != "")
	put("hold", v.Hold.ID, v.Hold.ID != "")
	put("reason", v.Hold.Reason, v.Hold.Reason != "")
	put("of", v.Hold.Of, v.Hold.Of != "")
	put("version", v.Hold.Version, v.Hold.Version != 0)
	put("class", v.Class, v.Class != "")
	if v.Result != nil {
		put("result", v.Result.Digest, v.Result.Digest != "")
		put("missing", v.Result.Missing, v.Result.Missing != "")
	}
	put("retry_after", v.RetryAfter, v.RetryAfter != 0)
	put("to", v.To.Intent+"/"+v.To.Fingerprint, v.To != Identity{})
	put("keep", v.Keep, v.Keep != "")
	put("why", strconv.Quote(v.Why), v.Why != "")
	return b.String()
}

func (s *story) since(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return at.Sub(start).String()
}

func (s *story) change(c Change) string {
	name := c.Fingerprint
	for _, id := range []string{c.Attempt, c.Hold} {
		if id != "" {
			name += " " + id
		}
	}
	from, to := "(none)", "(none)"
	if c.From != "" {
		from = string(c.From)
	}
	if c.To != "" {
		to = string(c.To)
	}
	line := fmt.Sprintf("| %s: %s -> %s, %s", name, from, to, c.Why)
	if !c.At.Equal(s.at.Now) {
		line += " at " + s.since(c.At)
	}
	return line
}

func (s *story) show() {
	for _, r := range s.rec.Rows {
		line := fmt.Sprintf("%s %s runs=%q", r.Fingerprint, r.State, r.Runs)
		for _, id := range []string{r.Attempt, r.AliasOf} {
			if id != "" {
				line += " " + id
			}
		}
		if r.Question != nil {
			line += " " + r.Question.ID
		}
		s.say("%s", line)
		for _, a := range r.Audit {
			s.say("  audit: %s by %s at %s: %s", a.What, a.By, s.since(a.At), a.Reason)
		}
		for _, e := range r.History {
			s.say("  %s: %s, %s", s.since(e.At), e.State, e.Why)
		}
	}
	if !s.rec.Past.IsZero() {
		s.say("ended: all that were reserved with not_after before %s", s.since(s.rec.Past))
	}
	for _, e := range s.rec.Ended {
		s.say("ended %s by %s until %s", e.Attempt, e.End, s.since(e.Until))
	}
	for _, m := range s.rec.Marks {
		s.say("mark %s to %s/%s until %s", m.Fingerprint, m.To.Intent, m.To.Fingerprint, s.since(m.Until))
	}
	for _, e := range s.rec.Evidence {
		s.say("evidence %s result=%s key=%s at %s", e.Attempt, e.Result.Digest, e.Result.Attempt, s.since(e.At))
	}
	if s.rec.Fenced > 0 {
		s.say("fenced commits: %d", s.rec.Fenced)
	}
	if s.rec.Empty() {
		s.say("nothing")
	}
}

package intent

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// specified lists every case of the specification's tables, in their words and order: what a command meets, and what its
// sender is told, or how a row changes, and why (see decisions). The rule's settings are cases of their own. What a
// record does at its limits is none; it is shown in limits_test.go.
const specified = `
before the table of arrivals
	too late: late
	the attempt again, live: execute
	the attempt again, in_doubt by silence: in_doubt
	the attempt again, in_doubt by its report: in_doubt
	the attempt again, committed: ended
	the attempt again, committed by a human: ended
	the attempt again, released: ended
	the attempt again, released by a human: ended
	the attempt again, only its end is known: ended
	the attempt of another fingerprint: ended

the table of arrivals: all calls without a run are one run
	line 1, reserved: wait
	line 1, reserved, no run: wait
	line 1, in_flight: wait
	line 1, in_flight, no run: wait
	line 1, committed: replay
	line 1, committed, no run: replay
	line 1, alias: replay
	line 1, alias, no run: replay
	line 1, in_doubt: in_doubt
	line 1, in_doubt, no run: in_doubt
	line 1, held: held
	line 1, held, no run: held
	line 1, denied: denied
	line 1, denied, no run: denied
	line 1, approved: execute
	line 1, approved, no run: execute
	line 2, reserved: wait
	line 2, reserved, no run: wait
	line 2, in_flight: wait
	line 2, in_flight, no run: wait
	line 3, in_doubt: in_doubt
	line 3, in_doubt, no run: in_doubt
	line 4, committed, no run: replay
	line 4, alias, no run: replay
	line 5, held: held
	line 5, held, no run: held
	line 6, approved: execute
	line 6, approved, no run: execute
	line 7, denied: denied
	line 7, denied, no run: denied
	line 8, committed: replay
	line 8, alias: replay
	line 9, committed: held new_run
	line 9, alias: held new_run
	no line up to 9, a mark: moved
	line 10, in_doubt: held in_doubt
	line 10, in_doubt, no run: held in_doubt
	line 11, reserved: held same_intent
	line 11, in_flight: held same_intent
	line 11, committed: held same_intent
	line 11, approved: held same_intent
	line 12: execute
	line 12, no run: execute
	line 12, released: execute
	line 12, released, no run: execute
	line 12, under a former name: moved

what a rule may say otherwise
	on_new_run=join: line 8, else 9
	on_new_run=execute: line 10, else 9
	on_new_run=execute: line 11, else 9
	on_new_run=execute: line 12, else 9
	on_same_intent=execute: line 12, else 11
	on_absent_run=hold: line 11, else 12
	line 11, reserved, no run: held absent_run
	line 11, in_flight, no run: held absent_run
	line 11, committed, no run: held absent_run
	line 11, approved, no run: held absent_run
	line 1, in_doubt: execute
	line 1, in_doubt, no run: execute
	line 3, in_doubt: execute
	line 3, in_doubt, no run: execute

the table of attempts, and what an execution's end means
	extend, live: ok
	extend, in_doubt by silence: ok
	extend, in_doubt by silence: fenced
	extend, in_doubt by its report: fenced
	extend, committed: fenced
	extend, committed by a human: fenced
	extend, released: fenced
	extend, released by a human: fenced
	extend, only its end is known: fenced
	extend, not known: fenced
	commit, live: ok
	commit, in_doubt by silence: ok
	commit, in_doubt by silence: fenced
	commit, in_doubt by its report: ok
	commit, in_doubt by its report: fenced
	commit, committed: ok
	commit, committed: fenced
	commit, committed by a human: fenced
	commit, released: ok
	commit, released: fenced
	commit, released by a human: ok
	commit, released by a human: fenced
	commit, only its end is known: fenced
	commit, not known: fenced
	not_sent, live: ok
	not_sent, in_doubt by silence: ok
	not_sent, in_doubt by its report: ok
	not_sent, committed: fenced
	not_sent, committed by a human: fenced
	not_sent, released: ok
	not_sent, released: fenced
	not_sent, released by a human: fenced
	not_sent, only its end is known: ok
	not_sent, only its end is known: fenced
	not_sent, not known: ok
	definite, live: ok
	definite, in_doubt by silence: ok
	definite, in_doubt by its report: ok
	definite, committed: fenced
	definite, committed by a human: fenced
	definite, released: ok
	definite, released: fenced
	definite, released by a human: fenced
	definite, only its end is known: ok
	definite, only its end is known: fenced
	definite, not known: ok
	unknown, live: ok
	unknown, in_doubt by silence: ok
	unknown, in_doubt by its report: ok
	unknown, committed: fenced
	unknown, committed by a human: fenced
	unknown, released: ok
	unknown, released: fenced
	unknown, released by a human: fenced
	unknown, only its end is known: ok
	unknown, only its end is known: fenced
	unknown, not known: ok
	exploded, live: ok

a human's answers
	release, open: ok
	release, open, another version: conflict
	release, answered: conflict
	release, not known: unheard
	duplicate, open, for a committed row: ok
	duplicate, open: conflict
	duplicate, open, another version: conflict
	duplicate, answered: conflict
	duplicate, not known: unheard
	deny, open: ok
	deny, open, another version: conflict
	deny, answered: conflict
	deny, not known: unheard
	resolve as released, in_doubt: ok
	resolve as released, in_doubt: conflict
	resolve as released, in_doubt, and executing again: conflict
	resolve as released, not in doubt: conflict
	resolve as released, not known: unheard
	resolve as committed, in_doubt: ok
	resolve as committed, in_doubt, and executing again: conflict
	resolve as committed, not in doubt: conflict
	resolve as committed, not known: unheard
	resolve as approved, in_doubt: conflict

the states of a row
	(none) -> reserved, arrived
	(none) -> reserved, retried
	(none) -> held, arrived
	reserved -> in_flight, extended
	reserved -> committed, committed
	reserved -> released, failed
	reserved -> approved, given_back
	reserved -> in_doubt, failed
	reserved -> in_doubt, lease_expired
	in_flight -> committed, committed
	in_flight -> released, failed
	in_flight -> approved, given_back
	in_flight -> in_doubt, failed
	in_flight -> in_doubt, lease_expired
	in_doubt -> in_flight, extended
	in_doubt -> committed, committed
	in_doubt -> committed, resolved
	in_doubt -> released, failed
	in_doubt -> released, resolved
	in_doubt -> released, superseded
	in_doubt -> approved, given_back
	released -> committed, committed
	released -> (none), expired
	released -> (none), evicted
	committed -> (none), expired
	held -> approved, answered
	held -> alias, answered
	held -> denied, answered
	held -> denied, expired
	approved -> reserved, arrived
	approved -> (none), expired
	approved -> (none), used
	alias -> (none), expired
	denied -> (none), expired

time, beside what it does to rows
	an outage prolongs a lease
	a hold or an alias prolongs retention
	an ended attempt is forgotten
	a mark is forgotten
	a fenced commit is forgotten
`

// specifiedCases reads the list.
func specifiedCases() map[string]bool {
	cases := map[string]bool{}
	for line := range strings.Lines(specified) {
		if c, ok := strings.CutPrefix(line, "\t"); ok {
			cases[strings.TrimSpace(c)] = true
		}
	}
	return cases
}

// Every case of the tables has its script, and no script is decided by a case that the tables do not have. That no
// command whatever is decided by such a case, TestInvariants sees to.
func TestEveryCaseOfTheTablesHasAScript(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]string{} // by which script
	for _, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, decided := play(t, string(script))
		for c := range decided {
			in[c] = file
		}
	}
	cases := specifiedCases()
	for _, c := range slices.Sorted(maps.Keys(cases)) {
		if in[c] == "" {
			t.Errorf("no script in testdata is decided by %q", c)
		}
	}
	for _, c := range slices.Sorted(maps.Keys(in)) {
		if !cases[c] {
			t.Errorf("%s is decided by %q, which is not in the list above", in[c], c)
		}
	}
}

package explain

import (
	"fmt"
	"strings"
	"time"

	"idem/ledgerd/wire"
)

// What the ledger would do with the second of two calls, once the first has been executed.
type fate int

const (
	executes fate = iota
	replays
	isHeld
	joinsThenHeld
	joinsThenExecutes
)

// meeting says what becomes of two calls by the table of arrivals (package intent), whichever of them comes first.
func meeting(r Report, terms [2]wire.Rule) string {
	what := meetNear
	if r.Same {
		what = meetSame
	}
	one, text := what("the first", "the second", r.A.Run, r.B.Run, terms[1])
	other, turned := what("the second", "the first", r.B.Run, r.A.Run, terms[0])
	text = strings.ToUpper(text[:1]) + text[1:] + "."
	if one != other {
		text += " The other way round " + turned + "."
	}
	return text
}

// meetSame is lines 1, 4, 8 and 9 of the table: y has the fingerprint of x, which was committed.
func meetSame(x, y, runX, runY string, t wire.Rule) (fate, string) {
	switch {
	case runX == "" && runY == "":
		return replays, "neither names a run, so " + y + " gets the result of " + x + " (replay)"
	case runX == runY:
		return replays, "both are of one run, so " + y + " gets the result of " + x + " (replay)"
	case runY == "":
		return replays, y + " names no run, so it gets the result of " + x + " (replay)"
	}
	who := another(x, y, runX)
	if t.OnNewRun == wire.PolicyJoin {
		return replays, who + " and joins it: it gets its result (on_new_run: join)"
	}
	soon, later := "", "executes again (on_new_run: execute)"
	if t.OnNewRun == wire.PolicyHold {
		later = "is held until a person answers (on_new_run: hold)"
	}
	if t.WindowMS > 0 {
		soon = fmt.Sprintf("it gets the result of %s within %s of its arrival (near_duplicates.window); later ", x, written(t.WindowMS))
	}
	if t.OnNewRun == wire.PolicyHold {
		return joinsThenHeld, who + ": " + soon + "it " + later
	}
	return joinsThenExecutes, who + ": " + soon + "it " + later
}

// meetNear is line 11 of the table: y is of the intent of x, and of another fingerprint.
func meetNear(x, y, runX, runY string, t wire.Rule) (fate, string) {
	switch {
	case t.HorizonMS == 0:
		return executes, "both execute (near_duplicates.horizon: 0s)"
	case runY == "":
		who := y + " names no run"
		if runX == "" {
			who = "neither names a run"
		}
		if t.OnAbsentRun == wire.PolicyHold {
			return isHeld, who + ", so " + y + " is held" + until(t) + " (on_absent_run: hold)"
		}
		return executes, who + ", so both execute (on_absent_run: execute)"
	case runX == runY:
		return executes, "both are of one run, which means what it says, so both execute"
	case t.OnSameIntent == wire.PolicyExecute:
		return executes, another(x, y, runX) + ", and both execute (on_same_intent: execute)"
	}
	return isHeld, another(x, y, runX) + ": it is held" + until(t) + " (on_same_intent: hold)"
}

func another(x, y, runX string) string {
	if runX == "" {
		return y + " names a run, " + x + " does not"
	}
	return y + " names another run than " + x
}

func until(t wire.Rule) string {
	return ", if it comes within " + written(t.HorizonMS) + ", until a person answers"
}

// written gives a duration as settings write it: 24h, 1m30s.
func written(ms int64) string {
	text := (time.Duration(ms) * time.Millisecond).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

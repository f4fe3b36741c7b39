package canon_test

import (
	"slices"
	"strconv"
	"strings"

	"idem/canon"
)

// ledger is the table of arrivals in as few words as possible: enough to tell what two equal or unequal fingerprints
// lead to. Time is a number of milliseconds, and nothing runs at once.
type ledger struct {
	rows    []*row
	reached int // requests that the tool saw
}

const (
	window           = 5_000
	horizon          = 24 * 3_600_000
	executionTimeout = 3_000
)

// row is one execution, asked for, running or over.
type row struct {
	fingerprint, intent string
	arrived             int
	runs                []string
	state               string // reserved, committed, released, in_doubt, held, approved, denied, alias
	endsAt              int    // of a reserved row
	endsAs              string // success, definite, not_sent, unknown
	of                  *row   // what a held row may repeat
	approved, noResult  bool
}

// settle ends what has ended by now.
func (l *ledger) settle(now int) {
	for _, r := range l.rows {
		if r.state != "reserved" || r.endsAt > now {
			continue
		}
		switch {
		case r.endsAs == "success":
			r.state = "committed"
		case r.endsAs == "unknown":
			r.state = "in_doubt"
		case r.approved:
			r.state = "approved"
		default:
			r.state = "released"
		}
	}
	l.rows = slices.DeleteFunc(l.rows, func(r *row) bool { return r.state == "released" })
}

// arrive gives what a call is told, and the row that it is about.
func (l *ledger) arrive(a canon.Action, now int, behaviour string) (string, *row) {
	var same, others []*row
	for _, r := range l.rows {
		if r.fingerprint == a.Fingerprint {
			same = append(same, r)
		} else if r.intent == a.Intent {
			others = append(others, r)
		}
	}
	newest := func(states ...string) *row {
		for _, r := range slices.Backward(same) {
			if slices.Contains(states, r.state) {
				return r
			}
		}
		return nil
	}
	join := func(r *row) *row {
		r.runs = append(r.runs, a.Run)
		return r
	}
	hold := func(of *row) (string, *row) {
		held := l.add(a, now, "held")
		held.of = of
		return "held", held
	}
	done := newest("committed", "alias")
	for _, r := range same { // 1
		if !slices.Contains(r.runs, a.Run) {
			continue
		}
		switch r.state {
		case "approved":
			return l.execute(r, now, behaviour)
		case "reserved":
			return toldWaiter(r.endsAs), r
		case "committed", "alias":
			return replay(r), r
		}
		return r.state, r
	}
	if r := newest("reserved"); r != nil { // 2
		return toldWaiter(r.endsAs), join(r)
	}
	if r := newest("in_doubt"); r != nil { // 3
		return "in_doubt", r
	}
	if a.Run == "" && done != nil { // 4
		return replay(done), done
	}
	if r := newest("held"); r != nil { // 5
		return "held", join(r)
	}
	if r := newest("approved"); r != nil { // 6
		return l.execute(join(r), now, behaviour)
	}
	if r := newest("denied"); r != nil { // 7
		return "denied", r
	}
	if done != nil && now <= done.arrived+window { // 8
		return replay(done), join(done)
	}
	if done != nil { // 9
		return hold(done)
	}
	for _, r := range others { // 10
		if r.state == "in_doubt" {
			return hold(r)
		}
	}
	if a.Run != "" { // 11
		var near *row
		known := false
		for _, r := range others {
			if near == nil && slices.Contains([]string{"reserved", "committed", "approved"}, r.state) && now <= r.arrived+horizon {
				near = r
			}
			known = known || r.state != "held" && r.state != "approved" && slices.Contains(r.runs, a.Run)
		}
		if near != nil && !known {
			return hold(near)
		}
	}
	return l.execute(l.add(a, now, "reserved"), now, behaviour) // 12
}

func (l *ledger) add(a canon.Action, now int, state string) *row {
	r := &row{fingerprint: a.Fingerprint, intent: a.Intent, arrived: now, runs: []string{a.Run}, state: state}
	l.rows = append(l.rows, r)
	return r
}

func (l *ledger) execute(r *row, now int, behaviour string) (string, *row) {
	took, reached := 20, 1
	word, slow := strings.CutPrefix(behaviour, "slow")
	if slow {
		took = 2_000
	}
	word = strings.TrimPrefix(word, "_")
	r.endsAs = "success"
	if status, err := strconv.Atoi(word); err == nil {
		switch {
		case status == 408, status == 502, status == 504, status >= 520 && status < 530:
			r.endsAs = "unknown"
		case status >= 400:
			r.endsAs = "definite"
		}
	}
	switch word {
	case "timeout":
		took, r.endsAs = executionTimeout, "unknown"
	case "reset":
		r.endsAs = "unknown"
	case "refused":
		r.endsAs, reached = "not_sent", 0
	case "mcp_error", "rpc_error":
		r.endsAs = "definite"
	}
	l.reached += reached
	r.state, r.endsAt, r.arrived = "reserved", now+took, now
	if r.endsAs == "success" {
		return "executed", r
	}
	return toldWaiter(r.endsAs), r
}

// answer is what a person decides.
func (l *ledger) answer(r *row, word string) {
	switch word {
	case "release":
		r.state, r.approved = "approved", true
	case "duplicate":
		r.state, r.noResult = "alias", r.of.noResult
	case "deny":
		r.state = "denied"
	case "resolve_committed":
		r.state, r.noResult = "committed", true
	case "resolve_released":
		r.state = "released"
	}
}

func toldWaiter(class string) string {
	return map[string]string{"success": "coalesced", "definite": "failed", "not_sent": "not_sent", "unknown": "in_doubt"}[class]
}

func replay(r *row) string {
	if r.noResult {
		return "result_unavailable"
	}
	return "replay"
}

package policy

import (
	"strconv"
	"strings"
)

// Class is what a tool's status says about its execution.
type Class string

// The classes of a status.
const (
	Success  Class = "success"  // it happened; the reply is the result
	Definite Class = "definite" // the tool says that it did not happen
	Unknown  Class = "unknown"  // it may have happened
)

// StatusRange is the statuses from From to To, both included.
type StatusRange struct{ From, To int }

// Failures says how a tool's statuses are classified. The lists never overlap.
type Failures struct {
	Success, Definite, Unknown []StatusRange
	Strict                     bool // every 5xx is unknown, unless a list says otherwise
}

// Classify gives the class of a status that the tool answered with: what a list says; where none does, 2xx and 3xx are
// success, 408, 502, 504 and 520 to 529 (a gateway's word about a tool it lost) unknown, every other 4xx and 5xx
// definite, under Strict no 5xx is. What is no final status is unknown.
func (f Failures) Classify(status int) Class {
	switch {
	case among(f.Success, status):
		return Success
	case among(f.Definite, status):
		return Definite
	case among(f.Unknown, status):
		return Unknown
	}
	switch {
	case status < 200 || status > 599:
		return Unknown
	case status < 400:
		return Success
	case status == 408, status == 502, status == 504, 520 <= status && status <= 529:
		return Unknown
	case f.Strict && status >= 500:
		return Unknown
	}
	return Definite
}

func among(ranges []StatusRange, status int) bool {
	for _, r := range ranges {
		if r.From <= status && status <= r.To {
			return true
		}
	}
	return false
}

// failures reads the three lists; a status may be in one of them only.
func failures(f field) Failures {
	s := f.object("success", "definite", "unknown", "strict")
	out := Failures{Strict: s["strict"].boolean()}
	var all []placed
	out.Success, all = statuses(s["success"], all)
	out.Definite, all = statuses(s["definite"], all)
	out.Unknown, _ = statuses(s["unknown"], all)
	return out
}

// placed is a range and where it was written.
type placed struct {
	StatusRange
	pointer string
}

const wantStatus = `a status such as 404, "5xx" or "500-599", from 200 to 599`

func statuses(f field, all []placed) ([]StatusRange, []placed) {
	var out []StatusRange
	for _, it := range f.items("a list, each item " + wantStatus) {
		r, ok := statusRange(it)
		if !ok {
			continue
		}
		out = append(out, r)
		for _, other := range all {
			if r.From <= other.To && other.From <= r.To {
				it.wrong("is classified at " + other.pointer + " too; give every status once")
				break
			}
		}
		all = append(all, placed{r, it.pointer})
	}
	return out, all
}

func statusRange(f field) (StatusRange, bool) {
	var r StatusRange
	switch f.value.kind {
	case '0':
		n, ok := f.integer(wantStatus)
		if !ok {
			return r, false
		}
		r = StatusRange{int(n), int(n)}
	case '"':
		text := f.value.text
		from, to, isRange := strings.Cut(text, "-")
		switch {
		case len(text) == 3 && text[1:] == "xx":
			from, to = text[:1]+"00", text[:1]+"99"
		case !isRange:
			to = from
		}
		var err1, err2 error
		r.From, err1 = strconv.Atoi(from)
		r.To, err2 = strconv.Atoi(to)
		if err1 != nil || err2 != nil || len(from) != 3 || len(to) != 3 {
			f.wrong("is not a status; use " + wantStatus)
			return r, false
		}
	default:
		f.wrong("is " + f.value.kindName() + "; use " + wantStatus)
		return r, false
	}
	if r.From < 200 || r.To > 599 || r.From > r.To {
		f.wrong("is no range of final statuses; use " + wantStatus)
		return r, false
	}
	return r, true
}

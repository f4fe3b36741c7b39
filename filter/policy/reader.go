package policy

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// reader collects the mistakes of one configuration.
type reader struct{ mistakes []Mistake }

func (r *reader) add(pointer string, value *node, detail string) {
	r.mistakes = append(r.mistakes, Mistake{Pointer: pointer, Value: value.String(), Detail: detail})
}

// field is a setting's value and where it stands.
type field struct {
	r       *reader
	pointer string
	value   *node // nil: the setting is not there
}

func (f field) there() bool { return f.value != nil }

// wrong reports the setting's value.
func (f field) wrong(detail string) { f.r.add(f.pointer, f.value, detail) }

// missing reports that the setting is not there.
func (f field) missing(remedy string) { f.r.add(f.pointer, nil, "is missing; "+remedy) }

// is reports whether the value is there and of a kind; where it is of another kind it is a mistake.
func (f field) is(kind byte, want string) bool {
	if f.value == nil {
		return false
	}
	if byte(f.value.kind) == kind {
		return true
	}
	detail := "is " + f.value.kindName() + "; use " + want
	if f.value.kind == 'n' {
		detail = "is not a value here; use " + want + ", or leave it out for the default"
	}
	f.wrong(detail)
	return false
}

// object gives the members of an object by name. Names that are not known, and names that are there twice, are
// mistakes. What stands under an unknown name is not shown: it may be a secret that belongs in the environment.
func (f field) object(known ...string) map[string]field {
	members := make(map[string]field, len(known))
	for _, name := range known {
		members[name] = field{f.r, child(f.pointer, name), nil}
	}
	if !f.is('{', "an object") {
		return members
	}
	for _, m := range f.value.members {
		at, ok := members[m.name]
		switch {
		case !ok:
			f.r.add(child(f.pointer, m.name), nil, "is not a setting; the settings here are "+settings(known))
		case at.there():
			at.r.add(at.pointer, m.value, "is the second value of this setting; give it once")
		default:
			at.value = m.value
			members[m.name] = at
		}
	}
	return members
}

func settings(known []string) string {
	n := len(known)
	if n == 1 {
		return known[0]
	}
	return strings.Join(known[:n-1], ", ") + " and " + known[n-1]
}

// items gives the values of a list.
func (f field) items(want string) []field {
	if !f.is('[', want) {
		return nil
	}
	fields := make([]field, len(f.value.items))
	for i, v := range f.value.items {
		fields[i] = field{f.r, item(f.pointer, i), v}
	}
	return fields
}

// text gives a text that is not empty. want is what would be right, for mistakes.
func (f field) text(want string) (string, bool) {
	if !f.is('"', want) {
		return "", false
	}
	if f.value.text == "" {
		f.wrong("is empty; use " + want)
		return "", false
	}
	return f.value.text, true
}

// texts gives a list of texts that are not empty, and none that is there twice. check says what is wrong with one;
// empty: nothing.
func (f field) texts(want string, check func(string) string) []string {
	var texts []string
	for _, it := range f.items("a list, each item " + want) {
		text, ok := it.text(want)
		if !ok {
			continue
		}
		if check != nil {
			if detail := check(text); detail != "" {
				it.wrong(detail)
				continue
			}
		}
		if slices.Contains(texts, text) {
			it.wrong("is in this list twice; give it once")
			continue
		}
		texts = append(texts, text)
	}
	return texts
}

// word gives one of a few words; the first is the default.
func (f field) word(words ...string) string {
	want := quotedList(words)
	text, ok := f.text(want)
	if !ok {
		return words[0]
	}
	if !slices.Contains(words, text) {
		f.wrong("is none of the words here; use " + want)
		return words[0]
	}
	return text
}

// boolean gives true or false; the default is false.
func (f field) boolean() bool {
	if f.value == nil {
		return false
	}
	if f.value.kind != 't' && f.value.kind != 'f' {
		f.is('t', "true or false")
		return false
	}
	return f.value.kind == 't'
}

// span is the bounds of a duration, both included.
type span struct{ least, most time.Duration }

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// duration gives a duration within bounds, in whole milliseconds, because that is the unit of the wire.
func (f field) duration(def time.Duration, bounds span) time.Duration {
	text, ok := f.text(`a duration such as "500ms", "30s" or "24h"`)
	if !ok {
		return def
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		f.wrong(`is not a duration; write it like "500ms", "30s" or "24h"`)
	case d%time.Millisecond != 0:
		f.wrong("is finer than a millisecond; use whole milliseconds, such as " + quoted(written(d.Round(time.Millisecond))))
	case d < bounds.least:
		f.wrong("is too short; use at least " + quoted(written(bounds.least)))
	case d > bounds.most:
		f.wrong("is too long; use at most " + quoted(written(bounds.most)))
	default:
		return d
	}
	return def
}

// written is a duration as a configuration writes it: 24h, not 24h0m0s.
func written(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// size gives a number of bytes within bounds.
func (f field) size(def, least, most int64) int64 {
	n, ok := f.integer("a number of bytes, such as " + strconv.FormatInt(def, 10))
	switch {
	case !ok:
	case n < least:
		f.wrong("is too small; use at least " + strconv.FormatInt(least, 10) + " bytes")
	case n > most:
		f.wrong("is too large; use at most " + strconv.FormatInt(most, 10) + " bytes")
	default:
		return n
	}
	return def
}

// integer gives a whole number. A configuration that came as a protobuf Struct has every number as a double, which may
// be written 1e+06, so any spelling of a whole number that a double holds exactly is read.
func (f field) integer(want string) (int64, bool) {
	if !f.is('0', want) {
		return 0, false
	}
	if n, err := strconv.ParseInt(f.value.text, 10, 64); err == nil {
		return n, true
	}
	const exact = 1 << 53
	if x, err := strconv.ParseFloat(f.value.text, 64); err == nil && x > -exact && x < exact && x == float64(int64(x)) {
		return int64(x), true
	}
	f.wrong("is not a whole number; use " + want)
	return 0, false
}

// member gives one member of an object without judging the others.
func (f field) member(name string) field {
	at := field{f.r, child(f.pointer, name), nil}
	if f.value == nil {
		return at
	}
	for _, m := range f.value.members {
		if m.name == name {
			at.value = m.value
			break
		}
	}
	return at
}

package canon

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// pair is one name=value of a form body.
type pair struct {
	name, text string
	off, end   int32
}

// readForm reads a body as application/x-www-form-urlencoded (URL Standard, section 5.1, but strict: every escape is
// two hex digits, and what they give is UTF-8). It becomes an object of strings; a repeated name is an array, in order.
func (t *tree) readForm(body []byte) *Error {
	t.body = aliasing(body)
	if isBlank(t.body) {
		return &Error{Code: codeMalformed, Detail: "the body is empty: a form with at least one field was expected"}
	}
	if strings.HasPrefix(t.body, "\xef\xbb\xbf") {
		return &Error{Code: codeMalformed, Detail: "the body begins with a byte order mark"}
	}
	fields := 1 + strings.Count(t.body, "&")
	pairs := slices.Grow(t.pairs[:0], min(fields, MaxValues/2))
	for off := 0; off < len(t.body); {
		end := len(t.body)
		if at := strings.IndexByte(t.body[off:], '&'); at >= 0 {
			end = off + at
		}
		if end > off {
			if len(pairs) >= MaxValues/2-1 {
				return &Error{Code: codeMalformed, Offset: int64(off), Detail: "the form has more than 131071 fields"}
			}
			p, err := t.readPair(off, end)
			if err != nil {
				return err
			}
			pairs = append(pairs, p)
		}
		off = end + 1
	}
	if len(pairs) == 0 {
		return &Error{Code: codeMalformed, Detail: "the form has no field"}
	}
	t.pairs = pairs
	t.readLists()
	sortPairs(pairs, false)

	t.room(2*len(pairs) + 1)
	t.add(-1, 0, '{').end = int32(len(body))
	for len(pairs) > 0 {
		same := 1
		for same < len(pairs) && pairs[same].name == pairs[0].name {
			same++
		}
		name, parent := pairs[0].name, int32(0)
		if same > 1 {
			parent = int32(len(t.values))
			v := t.add(0, pairs[0].off, '[')
			v.name, v.known, v.end, v.next = name, know(name), pairs[same-1].end, parent+int32(same)+1
		}
		for _, p := range pairs[:same] {
			v := t.add(parent, p.off, '"')
			v.text, v.end = p.text, p.end
			if same == 1 {
				v.name, v.known = name, know(name)
			}
		}
		pairs = pairs[same:]
	}
	t.values[0].next = int32(len(t.values))
	return nil
}

// sortPairs sorts by the names, or by the lists that they stand in, and by their place in the body where those are one.
func sortPairs(pairs []pair, lists bool) {
	name := func(i int32) string {
		if lists {
			return listOf(pairs[i].name)
		}
		return pairs[i].name
	}
	order := make([]named, len(pairs))
	sorted := true
	for i := range order {
		order[i] = nameAt(name(int32(i)), int32(i))
		sorted = sorted && (i == 0 || name(int32(i-1)) <= name(int32(i)))
	}
	if sorted {
		return
	}
	slices.SortFunc(order, func(a, b named) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		if c := strings.Compare(name(a.at), name(b.at)); c != 0 {
			return c
		}
		return cmp.Compare(a.at, b.at)
	})
	was := slices.Clone(pairs)
	for i := range order {
		pairs[i] = was[order[i].at]
	}
}

// listOf gives the list that a form's field stands in (items[] of items[][sku]), as PHP and Rack write and read it; empty:
// in none.
func listOf(name string) string {
	if i := strings.Index(name, "[]"); i >= 0 {
		return name[:i+2]
	}
	return ""
}

// readLists finds the lists whose elements have several fields. Their order among each other says which element each
// belongs to: items[][sku]=a&items[][qty]=2&items[][sku]=b is not items[][sku]=a&items[][sku]=b&items[][qty]=2.
func (t *tree) readLists() {
	for i := range t.pairs {
		if listOf(t.pairs[i].name) != "" {
			t.lists = doubled(t.lists, t.pairs[i])
		}
	}
	sortPairs(t.lists, true)
	kept := t.lists[:0]
	for rest := t.lists; len(rest) > 0; {
		n := 1
		several := false
		for n < len(rest) && listOf(rest[n].name) == listOf(rest[0].name) {
			several = several || rest[n].name != rest[0].name
			n++
		}
		if several {
			kept = append(kept, rest[:n]...)
		}
		rest = rest[n:]
	}
	t.lists = kept
}

// appendLists appends the order of the fields of such lists, if there are any.
func (r *reading) appendLists(dst []byte) []byte {
	if len(r.lists) == 0 || len(r.rule.identity) > 0 {
		return dst
	}
	dst = append(dst, `"form":[`...)
	from := len(dst)
	for _, p := range r.lists {
		if drop, _ := r.rule.ruled(p.name); drop {
			continue
		}
		if len(dst) > from {
			dst = append(dst, ',')
		}
		dst = appendString(dst, p.name)
	}
	return append(dst, "],"...)
}

// readPair reads the name=value at [off, end) of the body.
func (t *tree) readPair(off, end int) (pair, *Error) {
	at := off + strings.IndexByte(t.body[off:end], '=')
	if at < off {
		at = end
	}
	name, err := t.unescape(off, at, "", false)
	if err != nil {
		return pair{}, err
	}
	start := min(at+1, end)
	text, err := t.unescape(start, end, name, true)
	return pair{name: name, text: text, off: int32(start), end: int32(end)}, err
}

// unescape reads percent escapes and plus signs. value says whether it is the value of the field of.
func (t *tree) unescape(off, end int, of string, value bool) (string, *Error) {
	raw := t.body[off:end]
	text := raw
	if strings.IndexByte(raw, '%') >= 0 || strings.IndexByte(raw, '+') >= 0 {
		start := len(t.arena)
		for i := 0; i < len(raw); i++ {
			switch c := raw[i]; c {
			case '+':
				t.arena = append(t.arena, ' ')
			case '%':
				if i+2 >= len(raw) || unhex(raw[i+1]) < 0 || unhex(raw[i+2]) < 0 {
					return "", malformedText(of, value, off+i, "% is not followed by two hex digits: a percent sign is written %25")
				}
				t.arena = append(t.arena, byte(unhex(raw[i+1])<<4|unhex(raw[i+2])))
				i += 2
			default:
				t.arena = append(t.arena, c)
			}
		}
		text = aliasing(t.arena[start:])
	}
	if !utf8.ValidString(text) {
		return "", malformedText(of, value, off, "the text is no UTF-8")
	}
	return text, nil
}

// malformedText refuses the value of a form's field, or a name.
func malformedText(of string, value bool, at int, detail string) *Error {
	err := &Error{Code: codeMalformed, Offset: int64(at), Detail: detail}
	if value {
		err.Pointer = shortened("/" + escapeToken(of))
	}
	return err
}

// unhex gives the value of a hex digit, or -1.
func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

package canon

import (
	"cmp"
	"slices"
)

// appendValue appends the canonical form of a value: RFC 8785, but for numbers, which are exact, and for what the
// document comment says of money and e-mails.
func (r *reading) appendValue(dst []byte, i int32) []byte {
	const most = 128 // bytes of nearly every value that is no text
	v := &r.values[i]
	if cap(dst)-len(dst) < most {
		dst = slices.Grow(dst, len(dst)+most)
	}
	if v.money > 0 {
		return r.amounts.at(v.money - 1).AppendJSON(dst)
	}
	switch v.kind {
	case '{':
		return r.appendObject(dst, i)
	case '[':
		dst = append(dst, '[')
		for c := i + 1; c < v.next; c = r.values[c].next {
			if c > i+1 {
				dst = append(dst, ',')
			}
			dst = r.appendValue(dst, c)
		}
		return append(dst, ']')
	case '"':
		return appendString(dst, r.textOf(v))
	case '0':
		return appendNumber(dst, v.text)
	default:
		return append(dst, v.text...)
	}
}

// appendObject appends an object's members that count, in the order of their names' UTF-16 code units.
func (r *reading) appendObject(dst []byte, i int32) []byte {
	base := len(r.order)
	for c := i + 1; c < r.values[i].next; c = r.values[c].next {
		if r.values[c].gone == counts {
			r.order = append(r.order, c)
		}
	}
	r.sort(r.order[base:])
	dst = append(dst, '{')
	for n := base; n < len(r.order); n++ {
		if n > base {
			dst = append(dst, ',')
		}
		c := r.order[n]
		dst = append(appendString(dst, r.values[c].canonicalName()), ':')
		dst = r.appendValue(dst, c)
	}
	r.order = r.order[:base]
	return append(dst, '}')
}

// sort orders members by their names: by insertion where they are few, as nearly always.
func (r *reading) sort(members []int32) {
	if len(members) > 16 {
		r.sortMany(members)
		return
	}
	for n := 1; n < len(members); n++ {
		at, name := members[n], r.values[members[n]].canonicalName()
		k := n
		for ; k > 0 && compareUTF16(r.values[members[k-1]].canonicalName(), name) > 0; k-- {
			members[k] = members[k-1]
		}
		members[k] = at
	}
}

// named is something by the beginning of its name, which tells most names apart.
type named struct {
	head uint64 // the first eight bytes
	at   int32
}

func nameAt(name string, at int32) named {
	var head uint64
	for i := range min(len(name), 8) {
		head |= uint64(name[i]) << (56 - 8*i)
	}
	return named{head, at}
}

// sortMany orders many members by their names.
func (r *reading) sortMany(members []int32) {
	before := func(a, b int32) int { return compareUTF16(r.values[a].canonicalName(), r.values[b].canonicalName()) }
	if slices.IsSortedFunc(members, before) { // as a form's always are
		return
	}
	order := make([]named, len(members))
	plain := true // no name is of characters whose order differs in UTF-16
	for n, c := range members {
		name := r.values[c].canonicalName()
		order[n] = nameAt(name, c)
		for i := 0; plain && i < min(len(name), 8); i++ {
			plain = name[i] < 0xEE
		}
	}
	slices.SortFunc(order, func(a, b named) int {
		if plain && a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return before(a.at, b.at)
	})
	for n := range order {
		members[n] = order[n].at
	}
}

// canonicalName is what a member is called in the canonical form.
func (v *value) canonicalName() string {
	if v.minor {
		return "amount"
	}
	return v.name
}

// compareUTF16 compares two valid UTF-8 texts by their UTF-16 code units (RFC 8785, section 3.2.3). That is the order
// of their bytes, but for characters beyond U+FFFF (lead bytes F0 and up), which are surrogates in UTF-16 and so come
// before U+E000 to U+FFFF (lead bytes EE and EF).
func compareUTF16(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
			x, y = y, x
		}
		if x < y {
			return -1
		}
		return 1
	}
	return len(a) - len(b)
}

// appendString appends a JSON string with the escapes of RFC 8785, section 3.2.2.2. The text is valid UTF-8.
func appendString(dst []byte, text string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	done := 0
	for i := range len(text) {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[done:i]...)
		done = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, text[done:]...), '"')
}

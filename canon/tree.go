package canon

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"idem/canon/money"
)

// The limits of a body. A body beyond one of them is malformed_body; its size is the caller's to bound.
const (
	MaxDepth    = 128     // nested objects and arrays
	MaxExponent = 400     // of a number as it is written, either way
	MaxNumber   = 4096    // characters of one number before its exponent, and the exponent: what it has written out
	MaxValues   = 1 << 18 // values of one body, objects and arrays among them
	MaxName     = 1024    // bytes of a tool's name and of a run
)

// value is one JSON value of a body: a node of the tree, which stands in one slice in the body's order. The children
// of an object or array i are i+1, then each the next of the one before, below the next of i.
type value struct {
	name   string // of a member, without escapes
	text   string // a string without quotes and escapes; a number or literal as it is written
	off    int32  // where it stands in the body: [off, end)
	end    int32
	parent int32 // -1: the root
	next   int32 // the first value behind it and all that is in it
	money  int32 // 1 + its index among the amounts that were read; 0: it is no money
	rule   int16 // 1 + the index of the rule's money field that it is; 0: none
	kind   byte  // of jsontext: { [ " 0 n t f
	known  known // what its name means
	gone   gone
	reason money.Reason // what came of reading it as money
	minor  bool         // a money field in minor units, which is called amount in the canonical form

	took     int32 // of an object: the member whose currency its amounts have taken in; 0: none
	address  int32 // 1 + its index among the e-mail addresses; 0: it is none
	verbatim bool  // its field's name says that it is meant to the letter
	elastic  bool  // money that no field's name says to be money
}

// gone says why a value does not count where it stands.
type gone uint8

const (
	counts   gone = iota
	apart         // the tool, the args, the run: it counts elsewhere or, the run, not at all
	volatile      // made anew for every call
	taken         // money took it in: the currency beside an amount, the amount in an object of amount and currency
)

// large is from how many bytes on it pays to count a body's values before it is read.
const large = 1 << 16

// tree holds the values of one body. Its slices are reused from call to call.
type tree struct {
	values  []value
	body    string // the body; it is not copied
	arena   []byte // strings that were written with escapes
	pairs   []pair // of a form
	lists   []pair // those of them that stand in a list whose elements have several fields, list by list in their order
	ours    bool   // it is a canonical form, whose numbers are within the limits of the body that it was made of
	decoder jsontext.Decoder
	input   bytes.Buffer
}

// aliasing gives the bytes as a string without a copy: nobody writes to a body while it is read, and what is kept of
// it is cloned.
func aliasing(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// forget lets go of the body, and of memory that only a rare body needs.
func (t *tree) forget() {
	const usual = 1 << 15
	t.values, t.pairs = emptied(t.values, usual), emptied(t.pairs, usual)
	t.arena, t.lists, t.body = t.arena[:0], nil, ""
	if cap(t.arena) > usual<<4 {
		t.arena = nil
	}
	t.input = bytes.Buffer{}
	t.decoder.Reset(&t.input)
}

// emptied gives the memory of a slice back for use, cleared, or, where it is more than usual, none.
func emptied[T any](used []T, usual int) []T {
	if cap(used) > usual {
		return nil
	}
	clear(used)
	return used[:0]
}

// doubled appends, with twice the room where there is none: of a large slice append makes a copy at every fourth.
func doubled[T any](to []T, one T) []T {
	if n := len(to); n == cap(to) {
		to = slices.Grow(to, n+16)
	}
	return append(to, one)
}

// add gives a new last value, linked into its parent, which is still open; nil beyond the limit. What is behind the
// last value is kept zero, so that a value is made where it stands.
func (t *tree) add(parent, off int32, kind byte) *value {
	i := len(t.values)
	if i >= MaxValues {
		return nil
	}
	if i == cap(t.values) {
		t.room(2*i + 16)
	}
	t.values = t.values[:i+1]
	v := &t.values[i]
	v.parent, v.off, v.next, v.kind = parent, off, int32(i)+1, kind
	return v
}

// room makes room for so many values in all.
func (t *tree) room(n int) {
	if n > cap(t.values) {
		values := make([]value, len(t.values), min(n, MaxValues))
		copy(values, t.values)
		t.values = values
	}
}

// mayHold gives how many values a JSON text has at most.
func mayHold(text string) int {
	values := 1
	for i := range len(text) {
		if c := text[i]; c == ',' || c == '[' || c == '{' {
			values++
		}
	}
	return values
}

func tooMany(off int32) *Error {
	return &Error{Code: codeMalformed, Offset: int64(off), Detail: "the body has more than 262144 values"}
}

// readJSON reads a body as strict JSON: RFC 8259 with the demands of I-JSON (RFC 7493, section 2), nested no deeper
// than deepest.
func (t *tree) readJSON(body []byte, deepest int) *Error {
	t.body = aliasing(body)
	t.input = *bytes.NewBuffer(body)
	d := &t.decoder
	d.Reset(&t.input)
	if isBlank(t.body) {
		return &Error{Code: codeMalformed, Detail: "the body is empty: a JSON value is missing"}
	}

	if len(body) > large {
		t.room(mayHold(t.body))
	}
	parent, depth := int32(-1), 0
	var name string
	named := false // the next value of the object has its name
	for {
		kind := d.PeekKind()
		switch kind {
		case '{', '[':
			if _, err := d.ReadToken(); err != nil {
				return t.syntax(err)
			}
			off := int32(d.InputOffset()) - 1
			if depth++; depth > deepest {
				return &Error{Code: codeMalformed, Pointer: shortened(string(d.StackPointer())), Offset: int64(off),
					Detail: "the body is nested more than " + itoa(deepest) + " deep"}
			}
			v := t.add(parent, off, byte(kind))
			if v == nil {
				return tooMany(off)
			}
			if named {
				v.name, v.known, named = name, know(name), false
			}
			parent = int32(len(t.values)) - 1
		case '}', ']':
			if _, err := d.ReadToken(); err != nil {
				return t.syntax(err)
			}
			v := &t.values[parent]
			v.end, v.next = int32(d.InputOffset()), int32(len(t.values))
			parent, depth = v.parent, depth-1
		default:
			raw, err := d.ReadValue()
			if err != nil {
				return t.syntax(err)
			}
			end := int32(d.InputOffset())
			off := end - int32(len(raw))
			text := t.body[off:end]
			if kind == '"' {
				text = t.unquote(text)
				if parent >= 0 && t.values[parent].kind == '{' && !named {
					name, named = text, true
					continue
				}
			} else if kind == '0' && !t.ours {
				if detail := numberLimit(text); detail != "" {
					return &Error{Code: codeMalformed, Pointer: shortened(string(d.StackPointer())), Offset: int64(off),
						Detail: detail}
				}
			}
			v := t.add(parent, off, byte(kind))
			if v == nil {
				return tooMany(off)
			}
			v.text, v.end = text, end
			if named {
				v.name, v.known, named = name, know(name), false
			}
		}
		if parent < 0 {
			break
		}
	}
	end := d.InputOffset()
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		for end < int64(len(t.body)) && isSpace(t.body[end]) {
			end++
		}
		return &Error{Code: codeMalformed, Offset: end, Detail: "something stands after the JSON value"}
	}
	return nil
}

// unquote gives the text of a JSON string that the decoder has validated.
func (t *tree) unquote(quoted string) string {
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	start := len(t.arena)
	t.arena, _ = jsontext.AppendUnquote(t.arena, quoted)
	return aliasing(t.arena[start:])
}

// syntax turns the decoder's error into ours.
func (t *tree) syntax(err error) *Error {
	e := &Error{Code: codeMalformed, Offset: t.decoder.InputOffset(), Detail: "the body is cut short"}
	var s *jsontext.SyntacticError
	if !errors.As(err, &s) {
		return e
	}
	e.Offset, e.Pointer = s.ByteOffset, shortened(string(s.JSONPointer))
	switch {
	case errors.Is(s.Err, jsontext.ErrDuplicateName):
		e.Detail = "the name stands twice in one object"
	case errors.Is(s.Err, io.ErrUnexpectedEOF):
	case s.Err != nil:
		e.Detail = s.Err.Error()
	}
	return e
}

// shortened keeps a pointer's first whole tokens, up to 256 bytes: names may be as long as the body.
func shortened(pointer string) string {
	const most = 256
	if len(pointer) <= most {
		return pointer
	}
	return pointer[:max(0, strings.LastIndexByte(pointer[:most], '/'))]
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\n'
}

func isBlank(s string) bool {
	for i := range len(s) {
		if !isSpace(s[i]) {
			return false
		}
	}
	return true
}

// member gives the member of an object with exactly this name, 0 if there is none or i is no object.
func (t *tree) member(i int32, name string) int32 {
	if t.values[i].kind != '{' {
		return 0
	}
	for c := i + 1; c < t.values[i].next; c = t.values[c].next {
		if t.values[c].name == name {
			return c
		}
	}
	return 0
}

// find follows a pointer from a value. It gives -1 where there is nothing.
func (t *tree) find(from int32, p pointer) int32 {
	at := from
	for _, token := range p {
		switch t.values[at].kind {
		case '{':
			if at = t.member(at, token); at == 0 {
				return -1
			}
		case '[':
			n, ok := arrayIndex(token)
			c, end := at+1, t.values[at].next
			for ; ok && n > 0 && c < end; n-- {
				c = t.values[c].next
			}
			if !ok || c >= end {
				return -1
			}
			at = c
		default:
			return -1
		}
	}
	return at
}

// pointerTo gives the RFC 6901 pointer to a value.
func (t *tree) pointerTo(i int32) string {
	v := &t.values[i]
	if v.parent < 0 {
		return ""
	}
	p := t.pointerTo(v.parent)
	if t.values[v.parent].kind == '{' {
		return p + "/" + escapeToken(v.name)
	}
	n := 0
	for c := v.parent + 1; c < i; c = t.values[c].next {
		n++
	}
	return p + "/" + itoa(n)
}

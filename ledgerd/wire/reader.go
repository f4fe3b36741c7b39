package wire

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// reader reads one line by jsontext's decoder, which keeps RFC 8259 and I-JSON (RFC 7493): UTF-8, no lone surrogates,
// no duplicate names. Its methods give Go values or the error that tells what would have been right.
type reader struct {
	dec  jsontext.Decoder
	line bytes.Buffer
}

// readers keeps decoders for the next line: a decoder's tables cost more than a small line.
var readers = sync.Pool{New: func() any { return new(reader) }}

// readLine calls member for each member of the one object that a line is.
func readLine(line []byte, member func(r *reader, name string) *OpError) *OpError {
	r := readers.Get().(*reader)
	defer readers.Put(r)
	r.line = *bytes.NewBuffer(line)
	r.dec.Reset(&r.line)
	defer r.dec.Reset(bytes.NewReader(nil)) // holds on to nobody's line

	if err := r.object(member); err != nil {
		return err
	}
	if r.dec.PeekKind() != 0 {
		return &OpError{Detail: "must be one JSON object, has something after it"}
	}
	if _, err := r.dec.ReadToken(); err != nil && !errors.Is(err, io.EOF) {
		return syntax(err)
	}
	return nil
}

// object calls member for each member of the object that comes next. member must consume the value.
func (r *reader) object(member func(r *reader, name string) *OpError) *OpError {
	if err := r.expect('{', "an object"); err != nil {
		return err
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return syntax(err)
	}
	for {
		switch r.dec.PeekKind() {
		case '}':
			if _, err := r.dec.ReadToken(); err != nil {
				return syntax(err)
			}
			return nil
		case '"':
		default:
			return r.broken()
		}
		name, err := r.text()
		if err != nil {
			return err
		}
		if err := member(r, name); err != nil {
			return within(abbreviated(name), err)
		}
	}
}

// array calls element for each element of the array that comes next. element must consume the value.
func (r *reader) array(element func(i int) *OpError) *OpError {
	if err := r.expect('[', "an array"); err != nil {
		return err
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return syntax(err)
	}
	for i := 0; ; i++ {
		switch r.dec.PeekKind() {
		case ']':
			if _, err := r.dec.ReadToken(); err != nil {
				return syntax(err)
			}
			return nil
		case 0:
			return r.broken()
		}
		if err := element(i); err != nil {
			return within("["+strconv.Itoa(i)+"]", err)
		}
	}
}

// string gives the string that comes next.
func (r *reader) string() (string, *OpError) {
	if err := r.expect('"', "a string"); err != nil {
		return "", err
	}
	return r.text()
}

func (r *reader) text() (string, *OpError) {
	raw, err := r.dec.ReadValue()
	if err != nil {
		return "", syntax(err)
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), nil
	}
	plain, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return "", syntax(err)
	}
	return string(plain), nil
}

// checked gives the string that comes next, if check has nothing against it.
func (r *reader) checked(check func(string) *OpError) (string, *OpError) {
	s, err := r.string()
	if err == nil {
		err = check(s)
	}
	return s, err
}

// integer gives the number that comes next: an integer without fraction or exponent, from lo to hi.
func (r *reader) integer(lo, hi int64) (int64, *OpError) {
	if err := r.expect('0', "an integer"); err != nil {
		return 0, err
	}
	raw, err := r.dec.ReadValue()
	if err != nil {
		return 0, syntax(err)
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return 0, &OpError{Detail: "must be an integer from " + strconv.FormatInt(lo, 10) + " to " +
			strconv.FormatInt(hi, 10) + " without fraction or exponent, is " + quoted(string(raw))}
	}
	return n, checkRange(n, lo, hi)
}

func (r *reader) bool() (bool, *OpError) {
	kind := r.dec.PeekKind()
	if kind != 't' && kind != 'f' {
		return false, r.expect('t', "true or false")
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return false, syntax(err)
	}
	return kind == 't', nil
}

// base64 gives the bytes that the string that comes next stands for.
func (r *reader) base64() ([]byte, *OpError) {
	if err := r.expect('"', "a base64 string"); err != nil {
		return nil, err
	}
	raw, err := r.dec.ReadValue()
	if err != nil {
		return nil, syntax(err)
	}
	text := []byte(raw[1 : len(raw)-1])
	if bytes.IndexByte(text, '\\') >= 0 { // "\/" is a way to write "/"
		if text, err = jsontext.AppendUnquote(nil, raw); err != nil {
			return nil, syntax(err)
		}
	}
	return unbase64(text)
}

func unbase64(text []byte) ([]byte, *OpError) {
	if len(text) == 0 {
		return nil, nil
	}
	// The decoder of the standard library passes over line ends; here they are wrong.
	out, err := base64.StdEncoding.Strict().AppendDecode(nil, text)
	if err != nil || bytes.ContainsAny(text, "\r\n") {
		return nil, &OpError{Detail: "must be padded base64 (RFC 4648 section 4)"}
	}
	return out, nil
}

// raw gives a copy of the JSON object that comes next.
func (r *reader) raw() ([]byte, *OpError) {
	if err := r.expect('{', "an object"); err != nil {
		return nil, err
	}
	v, err := r.dec.ReadValue()
	if err != nil {
		return nil, syntax(err)
	}
	return bytes.Clone(v), nil
}

// expect says what is wrong when something else than kind comes next.
func (r *reader) expect(kind jsontext.Kind, want string) *OpError {
	switch got := r.dec.PeekKind(); got {
	case kind:
		return nil
	case 0:
		return r.broken()
	default:
		return &OpError{Detail: "must be " + want + ", is " + kindName(got)}
	}
}

// broken gives the syntax error at the decoder's place.
func (r *reader) broken() *OpError {
	if _, err := r.dec.ReadToken(); err != nil {
		return syntax(err)
	}
	return &OpError{Detail: "is not JSON"}
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "the end"
}

func syntax(err error) *OpError {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &OpError{Detail: "is cut short: must be one JSON object"}
	}
	var s *jsontext.SyntacticError
	if errors.As(err, &s) {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return &OpError{Detail: "has the member " + quoted(s.JSONPointer.LastToken()) + " twice"}
		}
		return &OpError{Detail: "is not strict JSON at byte " + strconv.FormatInt(s.ByteOffset, 10) + ": " + s.Err.Error()}
	}
	return &OpError{Detail: "is not strict JSON: " + err.Error()}
}

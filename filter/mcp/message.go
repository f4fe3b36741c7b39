package mcp

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"idem/canon"
)

// Request is a tools/call request, as far as its reply depends on it.
type Request struct {
	ID    []byte // the JSON-RPC id as written: a string or a number
	Event bool   // the caller takes event streams only, no plain JSON
	Typed bool   // the caller wants to read in every result of which type it is: revision 2026-07-28 or later

	idEnd int64 // where the id ends in the body
}

const methodCall = "tools/call"

// Read reads a POSTed message. It gives the request where the message is a tools/call, and nil where it is anything
// else that may pass: another method, a notification, a response, or a batch of such. An error says why the message
// must be refused: it is no JSON-RPC, it is a batch that holds a tools/call, or a tools/call without an id, whose
// result nobody could be given. A message with "Method": "tools/call" counts as a tools/call, which package canon then
// refuses: servers that read names without heed of letter case, as Go's encoding/json does, would execute it. Half a
// surrogate pair, which is what JavaScript leaves of one when it cuts a text, is refused there too, and passes in
// anything else. accept and revision are the values of the headers Accept and MCP-Protocol-Version.
func Read(body []byte, accept, revision []string) (*Request, *canon.Error) {
	if at := invalidUTF8(body); at >= 0 {
		return nil, malformed(int64(at), "", "the body is no strict JSON: invalid UTF-8")
	}
	dec := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowInvalidUTF8(true))
	var (
		request *Request
		err     error
	)
	switch dec.PeekKind() {
	case '{':
		var m member
		if m, err = readMember(dec); err == nil && m.call {
			if len(m.id) == 0 {
				return nil, malformed(0, "/id", "a tools/call must have an id that is a string or a number: its result belongs to it")
			}
			request = &Request{ID: m.id, Event: !takesJSON(accept), Typed: hasTypes(revision), idEnd: m.idEnd}
		}
	case '[':
		var calls bool
		if calls, err = readBatch(dec); err == nil && calls {
			return nil, malformed(0, "", "a batch that holds a tools/call cannot be guarded as one call; send each tools/call by itself")
		}
	default:
		if _, err = dec.ReadToken(); err == nil {
			return nil, malformed(0, "", "the body must be a JSON-RPC message: an object")
		}
	}
	if err == nil {
		if _, err = dec.ReadToken(); err == nil {
			return nil, malformed(dec.InputOffset(), "", "there is more after the message; send one JSON-RPC message")
		}
	}
	if err == nil || errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		if len(bytes.TrimSpace(body)) == 0 {
			return nil, malformed(0, "", "the body is empty; send one JSON-RPC message")
		}
		return request, nil
	}
	return nil, syntax(err, int64(len(body)))
}

// member is what a JSON-RPC message says of itself.
type member struct {
	call  bool // by its method, however that member is written
	id    []byte
	idEnd int64
}

// readMember reads a whole object. A duplicate name is an error of the decoder.
func readMember(dec *jsontext.Decoder) (m member, err error) {
	if _, err = dec.ReadToken(); err != nil {
		return m, err
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return m, err
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return m, err
		}
		switch {
		case strings.EqualFold(key, "method"):
			if value.Kind() == '"' {
				text, _ := jsontext.AppendUnquote(nil, value)
				m.call = m.call || string(text) == methodCall
			}
		case key == "id":
			if k := value.Kind(); k == '"' || k == '0' {
				m.id, m.idEnd = bytes.Clone(value), dec.InputOffset()
			}
		}
	}
	_, err = dec.ReadToken()
	return m, err
}

// readBatch reads a whole array and says whether one of its messages is a tools/call. What an array inside of it holds
// counts too: some servers take such apart.
func readBatch(dec *jsontext.Decoder) (calls bool, err error) {
	for depth := 0; ; {
		switch dec.PeekKind() {
		case '{':
			m, err := readMember(dec)
			if err != nil {
				return false, err
			}
			calls = calls || m.call
			continue
		case '[':
			depth++
		case ']':
			depth--
		}
		if _, err = dec.ReadToken(); err != nil || depth == 0 {
			return calls, err
		}
	}
}

// takesJSON says whether the Accept headers allow application/json. A caller that says nothing takes it.
func takesJSON(accept []string) bool {
	said := false
	for _, line := range accept {
		for part := range strings.SplitSeq(line, ",") {
			media, parameters, _ := strings.Cut(part, ";")
			media = strings.ToLower(strings.TrimSpace(media))
			if media == "" {
				continue
			}
			said = true
			none := strings.ReplaceAll(parameters, " ", "")
			if (media == "application/json" || media == "application/*" || media == "*/*") && none != "q=0" && none != "q=0.0" {
				return true
			}
		}
	}
	return !said
}

// hasTypes says whether the revision of the protocol is one that has a resultType in every result. Revisions are dates;
// what is none is none that we know.
func hasTypes(revision []string) bool {
	const since = "2026-07-28"
	return len(revision) == 1 && len(revision[0]) == len(since) && revision[0][0] <= '9' && revision[0] >= since
}

// invalidUTF8 gives the offset of the first byte that is no UTF-8; negative: there is none.
func invalidUTF8(body []byte) int {
	for i := 0; i < len(body); {
		r, size := utf8.DecodeRune(body[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

func malformed(offset int64, pointer, detail string) *canon.Error {
	return &canon.Error{Code: "malformed_body", Pointer: pointer, Offset: offset, Detail: detail}
}

// syntax turns a decoder's error into one that says where.
func syntax(err error, size int64) *canon.Error {
	var at *jsontext.SyntacticError
	if errors.As(err, &at) {
		return malformed(at.ByteOffset, string(at.JSONPointer), "the body is no strict JSON: "+at.Err.Error())
	}
	return malformed(size, "", "the body ends too early: "+err.Error())
}

package mcp

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// ContentJSON is the media type of a single message.
const ContentJSON = "application/json"

// Codes of JSON-RPC errors (JSON-RPC 2.0 section 5.1).
const (
	codeParse   = -32700
	codeInvalid = -32600
)

// Respond gives a stored final to a request, under its id and in the form that its caller takes.
func (r *Request) Respond(stored []byte) (contentType string, body []byte) {
	out := append(make([]byte, 0, len(stored)+len(r.ID)+64), `{"jsonrpc":"2.0","id":`...)
	out = append(out, r.ID...)
	out = append(out, ',')
	if rest, ok := r.untyped(stored); ok {
		out = append(out, `"result":{"resultType":"complete"`...)
		if rest[0] != '}' {
			out = append(out, ',')
		}
		return r.form(append(out, rest...))
	}
	return r.form(append(out, stored[1:]...)) // the object's opening brace is ours
}

// untyped says whether a stored result lacks the type that this caller wants to read in it, because the tool gave it to
// a caller of an earlier revision; absent means complete there. rest is what follows the result's opening brace.
func (r *Request) untyped(stored []byte) (rest []byte, ok bool) {
	result, isResult := bytes.CutPrefix(stored, []byte(`{"result":`))
	if !r.Typed || !isResult {
		return nil, false
	}
	result = bytes.TrimLeft(result, " \t\r\n")
	if result[0] != '{' {
		return nil, false
	}
	if _, _, typed := readResult(result); typed {
		return nil, false
	}
	return bytes.TrimLeft(result[1:], " \t\r\n"), true
}

// Refuse gives a request a tool result that is an error: text for the model, and problem, a JSON object, for programs.
// It stands in _meta: clients hold a structuredContent, of an error too, against the tool's output schema.
func (r *Request) Refuse(text string, problem []byte) (contentType string, body []byte) {
	stored := append(make([]byte, 0, len(problem)+len(text)+128), `{"result":{"content":[{"type":"text","text":`...)
	stored, _ = jsontext.AppendQuote(stored, text)
	stored = append(stored, `}],"isError":true,"_meta":{"`+MetaProblem+`":`...)
	stored = append(append(stored, problem...), `}}}`...)
	return r.Respond(stored)
}

// MetaProblem is the member of a refusal's _meta that holds the problem.
const MetaProblem = "idem/problem"

func (r *Request) form(message []byte) (contentType string, body []byte) {
	if r.Event {
		return ContentEvents, event(message)
	}
	return ContentJSON, message
}

// Unreadable is the answer to a message that cannot be read, and so has no id: a JSON-RPC error with problem as data.
func Unreadable(parsed bool, message string, problem []byte) []byte {
	code := codeParse
	if parsed {
		code = codeInvalid
	}
	out := append(make([]byte, 0, len(problem)+len(message)+96), `{"jsonrpc":"2.0","id":null,"error":{"code":`...)
	out = strconv.AppendInt(out, int64(code), 10)
	out = append(out, `,"message":`...)
	out, _ = jsontext.AppendQuote(out, message)
	return append(append(append(out, `,"data":`...), problem...), `}}`...)
}

package mcp

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Final is the end of a tools/call: the member of the JSON-RPC response that says how it ended.
type Final struct {
	Member  string // "result" or "error"
	Value   []byte // as the tool wrote it
	Failed  bool   // an error, or a result with isError
	Asks    bool   // a result that asks the caller for input: not the end of the call
	Present bool   // there is one
}

// ReadFinal finds the response in the body of the tool's reply, JSON or event stream. What the stream holds besides
// (progress, requests of the server) is not part of the result. Where there is no response, the stream was cut short.
func ReadFinal(contentType string, body []byte) Final {
	if isEventStream(contentType) {
		var last Final
		for e := range events(body) {
			if f := readResponse(e.data); f.Present && !e.cut {
				last = f
			}
		}
		return last
	}
	return readResponse(body)
}

// readResponse reads one JSON-RPC message, and gives the end that it tells where it is a response.
func readResponse(message []byte) (f Final) {
	dec := jsontext.NewDecoder(bytes.NewReader(message), jsontext.AllowDuplicateNames(true))
	if dec.PeekKind() != '{' {
		return Final{}
	}
	_, _ = dec.ReadToken()
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return Final{}
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return Final{}
		}
		switch key {
		case "method":
			return Final{} // a request or notification of the server
		case "result", "error":
			f = Final{Member: key, Value: bytes.Clone(value), Present: true}
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return Final{}
	}
	if f.Member == "error" {
		f.Failed = true
	} else if f.Present {
		f.Failed, f.Asks, _ = readResult(f.Value)
	}
	return f
}

// readResult says whether a tool result is an error, whether it asks for input (revision 2026-07-28: resultType
// input_required), and whether it says its type. A result of a type that we do not know, such as the handle of a task,
// does not ask: the tool took the call, and a second one would be a second execution.
func readResult(result []byte) (failed, asks, typed bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(result), jsontext.AllowDuplicateNames(true))
	if dec.PeekKind() != '{' {
		return false, false, false
	}
	_, _ = dec.ReadToken()
	wants := false
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return false, false, false
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return false, false, false
		}
		switch key {
		case "isError":
			failed = string(value) == "true"
		case "inputRequests":
			wants = value.Kind() != 'n'
		case "resultType":
			typed = true
			asks = string(value) == `"input_required"`
		}
	}
	return failed, asks || wants && !typed, typed
}

// Stored gives the final as it is kept: a JSON object with the one member.
func (f Final) Stored() []byte {
	out := append(make([]byte, 0, len(f.Value)+16), `{"`...)
	out = append(append(out, f.Member...), `":`...)
	return append(append(out, f.Value...), '}')
}

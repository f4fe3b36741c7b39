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
	Twofold bool   // there are two in one place, so that nobody knows which one it is: none is present
}

// ReadFinal finds the response to id in the body of the tool's reply, JSON or event stream. What the stream holds besides
// (progress, requests of the server) is not part of the result, nor what comes after the response. Where there is no
// response, the stream was cut short.
func ReadFinal(contentType string, body, id []byte) Final {
	if !isEventStream(contentType) {
		return readFinal(body, id)
	}
	for e := range events(body) {
		if e.cut {
			break
		}
		if f := readFinal(e.data, id); f.Present || f.Twofold {
			return f
		}
	}
	return Final{}
}

// readFinal finds the response to id in one message, or in the several of a batch (2025-03-26: a server may answer with
// an array, and have one as an event's data).
func readFinal(message, id []byte) (final Final) {
	if kind := (jsontext.Value)(message).Kind(); kind != '[' {
		if f, of := readResponse(message); f.answers(of, id) {
			return f
		}
		return Final{}
	}
	whole := batch(message, func(_ int64, part []byte) {
		f, of := readResponse(part)
		switch {
		case !f.Present || !sameID(of, id):
		case final.Present || final.Twofold:
			final = Final{Twofold: true}
		default:
			final = f
		}
	})
	if !whole {
		return Final{}
	}
	return final
}

// answers says whether a response of this end, under an id, is the one to the only request that there was. An error
// without an id is a server's that could not read the request's.
func (f Final) answers(of, id []byte) bool {
	return f.Present && (sameID(of, id) || f.Member == "error" && (len(of) == 0 || string(of) == "null"))
}

// batch gives each message of a JSON array with its place there. It says whether the array is whole: objects alone, and
// nothing after it.
func batch(array []byte, each func(at int64, message []byte)) (whole bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(array), jsontext.AllowDuplicateNames(true))
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	for dec.PeekKind() == '{' {
		message, err := dec.ReadValue()
		if err != nil {
			return false
		}
		each(dec.InputOffset()-int64(len(message)), message)
	}
	end, err := dec.ReadToken()
	return err == nil && end.Kind() == ']' && len(bytes.TrimSpace(array[dec.InputOffset():])) == 0
}

// readResponse reads one JSON-RPC message, and gives the end that it tells, and of which request, where it is a response.
func readResponse(message []byte) (f Final, id []byte) {
	dec := jsontext.NewDecoder(bytes.NewReader(message), jsontext.AllowDuplicateNames(true))
	if dec.PeekKind() != '{' {
		return Final{}, nil
	}
	_, _ = dec.ReadToken()
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return Final{}, nil
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return Final{}, nil
		}
		switch key {
		case "method":
			return Final{}, nil // a request or notification of the server
		case "id":
			id = bytes.Clone(value)
		case "result", "error":
			f = Final{Member: key, Value: bytes.Clone(value), Present: true}
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return Final{}, nil
	}
	if f.Member == "error" {
		f.Failed = true
	} else if f.Present {
		f.Failed, f.Asks, _ = readResult(f.Value)
	}
	return f, id
}

// responds says whether a message is a response, or a batch that holds one.
func responds(message []byte) (is bool) {
	if jsontext.Value(message).Kind() != '[' {
		f, _ := readResponse(message)
		return f.Present
	}
	batch(message, func(_ int64, part []byte) {
		f, _ := readResponse(part)
		is = is || f.Present
	})
	return is
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

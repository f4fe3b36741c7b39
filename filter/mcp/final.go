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
	Lost    bool   // an error by which a gateway says that it lost the tool: it may have happened
	Asks    bool   // a result that asks the caller for input: not the end of the call
	Present bool   // there is one
	Twofold bool   // there are two in one place, so that nobody knows which one it is: none is present
}

// Told says whether there is an end, or more than one.
func (f Final) Told() bool { return f.Present || f.Twofold }

// lenient is how a tool's reply is read: as clients read it. Its texts may hold half a surrogate pair, which is what
// JavaScript leaves of one when it cuts a text.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// byteOrderMark may stand before a text in UTF-8; it is no part of it.
var byteOrderMark = []byte("\xef\xbb\xbf")

// ReadFinal finds the response to id in the body of the tool's reply, JSON or event stream. What the stream holds besides
// (progress, requests of the server) is not part of the result, nor what comes after the response. Where there is no
// response, the stream was cut short.
func ReadFinal(contentType string, body, id []byte) Final {
	if !IsEvents(contentType) {
		body = bytes.TrimPrefix(body, byteOrderMark)
		if f := readFinal(body, id); f.Told() {
			return f
		}
		return unreadError(body)
	}
	for e := range events(body) {
		if e.cut {
			break
		}
		if f := readFinal(e.data, id); f.Told() {
			return f
		}
	}
	return Final{}
}

// unreadError finds the error of a server that could not read the request, and so has no id for it. There is none in an
// event stream: a server that opened one has read the request, and what it says there without an id is about another.
func unreadError(message []byte) Final {
	if f, id := readResponse(message); f.Member == "error" && (len(id) == 0 || string(id) == "null") {
		return f
	}
	return Final{}
}

// readFinal finds the response to id in one message, or in the several of a batch (2025-03-26: a server may answer with
// an array, and have one as an event's data).
func readFinal(message, id []byte) (final Final) {
	if kind := (jsontext.Value)(message).Kind(); kind != '[' {
		if f, of := readResponse(message); sameID(of, id) {
			return f
		}
		return Final{}
	}
	whole := batch(message, func(_ int64, part []byte) {
		f, of := readResponse(part)
		switch {
		case !f.Told() || !sameID(of, id):
		case final.Told():
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

// batch gives each message of a JSON array with its place there. It says whether the array is whole: objects alone, and
// nothing after it.
func batch(array []byte, each func(at int64, message []byte)) (whole bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(array), lenient...)
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
	dec := jsontext.NewDecoder(bytes.NewReader(message), lenient...)
	if dec.PeekKind() != '{' {
		return Final{}, nil
	}
	_, _ = dec.ReadToken()
	var result, failure []byte
	twice := false
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
		case "result":
			twice = twice || result != nil
			result = bytes.Clone(value)
		case "error":
			twice = twice || failure != nil
			failure = bytes.Clone(value)
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return Final{}, nil
	}
	if twice {
		return Final{Twofold: true}, id
	}
	return ended(result, failure), id
}

// ended is the end that a response's members tell; nil is one that is not there. Servers that write both, one of them
// null (JSON-RPC 1.0), mean the other.
func ended(result, failure []byte) (f Final) {
	switch none := "null"; {
	case failure != nil && string(failure) != none && result != nil && string(result) != none:
		return Final{Twofold: true}
	case failure != nil && string(failure) != none:
		return Final{Member: "error", Value: failure, Present: true, Failed: true, Lost: saysLost(failure)}
	case result != nil:
		f = Final{Member: "result", Value: result, Present: true}
		f.Failed, f.Asks, _ = readResult(result)
	}
	return f
}

// responds says whether a message is a response, or a batch that holds one.
func responds(message []byte) (is bool) {
	if jsontext.Value(message).Kind() != '[' {
		f, _ := readResponse(message)
		return f.Told()
	}
	batch(message, func(_ int64, part []byte) {
		f, _ := readResponse(part)
		is = is || f.Told()
	})
	return is
}

// readResult says whether a tool result is an error, whether it asks for input (revision 2026-07-28: resultType
// input_required), and whether it says its type. A result of a type that we do not know, such as the handle of a task,
// does not ask: the tool took the call, and a second one would be a second execution.
func readResult(result []byte) (failed, asks, typed bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(result), lenient...)
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

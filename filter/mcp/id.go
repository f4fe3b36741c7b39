package mcp

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// OwnID makes of random, a text that nobody else has, an id of the same kind as the caller's, a string or a number.
//
// What executes a call on the worker's behalf goes to the tool under an id of its own: a client that gives up says so by
// notifications/cancelled, and a tool that knew the call by that client's id would drop the result of an execution that
// others wait for, or that the client's own retry is to be given.
func (r *Request) OwnID(random string) []byte {
	if r.ID[0] == '"' {
		id, _ := jsontext.AppendQuote(nil, random)
		return id
	}
	const exact = 1<<53 - 1 // what every JSON reader keeps
	sum := uint64(14695981039346656037)
	for i := range len(random) { // FNV-1a
		sum = (sum ^ uint64(random[i])) * 1099511628211
	}
	return strconv.AppendUint(nil, (sum^sum>>53)&exact|1<<52, 10)
}

// Under gives the request's body with another id. The body is the one that was read.
func (r *Request) Under(id, body []byte) []byte {
	begin := int(r.idEnd) - len(r.ID)
	return slices.Concat(body[:begin], id, body[r.idEnd:])
}

// Returned gives the reply to a body that bore id as the caller is to read it: the response bears the caller's own id,
// and everything else is as the tool wrote it.
func (r *Request) Returned(id []byte, contentType string, body []byte) []byte {
	if !IsEvents(contentType) {
		return r.renamed(id, bytes.TrimPrefix(body, byteOrderMark))
	}
	out := make([]byte, 0, len(body)+len(r.ID))
	for e := range events(body) {
		if message := r.renamed(id, e.data); !e.cut && !bytes.Equal(message, e.data) {
			out = appendData(append(out, e.other...), message)
		} else {
			out = append(out, e.raw...)
		}
	}
	return out
}

// renamed gives the response to id, alone or in a batch, the caller's id. Any other message stays.
func (r *Request) renamed(id, message []byte) []byte {
	if jsontext.Value(message).Kind() != '[' {
		return r.renamedOne(id, message)
	}
	out, copied := make([]byte, 0, len(message)+len(r.ID)), int64(0)
	whole := batch(message, func(at int64, part []byte) {
		out = append(append(out, message[copied:at]...), r.renamedOne(id, part)...)
		copied = at + int64(len(part))
	})
	if !whole {
		return message
	}
	return append(out, message[copied:]...)
}

func (r *Request) renamedOne(id, message []byte) []byte {
	dec := jsontext.NewDecoder(bytes.NewReader(message), lenient...)
	if dec.PeekKind() != '{' {
		return message
	}
	_, _ = dec.ReadToken()
	var begin, end int64
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return message
		}
		key := name.String()
		value, err := dec.ReadValue()
		switch {
		case err != nil || key == "method":
			return message
		case key == "id" && sameID(value, id):
			begin, end = dec.InputOffset()-int64(len(value)), dec.InputOffset()
		}
	}
	if end == 0 {
		return message
	}
	return slices.Concat(message[:begin], r.ID, message[end:])
}

// sameID reports whether a response's id is one of ours. A server may write a number in its own way (4.5e15).
func sameID(got, own []byte) bool {
	if bytes.Equal(got, own) || len(got) == 0 || own[0] == '"' || got[0] == '"' {
		return bytes.Equal(got, own)
	}
	n, err := strconv.ParseFloat(string(got), 64)
	m, _ := strconv.ParseFloat(string(own), 64) // exact: see OwnID
	return err == nil && n == m
}

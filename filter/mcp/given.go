package mcp

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Given gives the final of what a person wrote down as the result of a tools/call: a whole response, a tool result
// (content is a list), any other object, which is structured content, or a text.
func Given(body []byte) Final {
	value := jsontext.Value(body)
	if !value.IsValid() || value.Kind() != '{' {
		return result(body, nil)
	}
	switch response, content := described(body); {
	case response:
		if f, _ := readResponse(body); f.Present {
			return f
		}
		return result(body, body)
	case content:
		return Final{Member: "result", Value: bytes.TrimSpace(body), Present: true}
	default:
		return result(body, body)
	}
}

// result makes a tool result of a text and, where it is an object, of that object.
func result(text, object []byte) Final {
	value := []byte(`{"content":[{"type":"text","text":`)
	value, _ = jsontext.AppendQuote(value, text) // what is no UTF-8 becomes U+FFFD
	value = append(value, `}]`...)
	if object != nil {
		value = append(append(value, `,"structuredContent":`...), bytes.TrimSpace(object)...)
	}
	return Final{Member: "result", Value: append(value, '}'), Present: true}
}

// described says of a valid object whether it is a JSON-RPC message, and whether it has a list of content.
func described(object []byte) (message, content bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(object))
	_, _ = dec.ReadToken()
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return false, false
		}
		key := name.String()
		switch dec.PeekKind() {
		case '"':
			message = message || key == "jsonrpc"
		case '[':
			content = content || key == "content"
		}
		if dec.SkipValue() != nil {
			return false, false
		}
	}
	return message, content
}

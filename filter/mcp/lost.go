package mcp

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// An MCP server is often a gateway to others: it is their client, and passes on to its own clients what its SDK tells it
// of a call. Of one that was sent and not answered, because the time was over or the connection closed, an SDK makes an
// error, and that reaches us as a JSON-RPC error like any other. It is what 504 and 502 are in HTTP: a gateway's word
// about a tool that it lost, and no word that nothing happened.

// lostWords are the official SDKs' messages for a call that was sent and not answered, in lower case.
var lostWords = []string{
	"request timed out", "maximum total timeout exceeded", // TypeScript
	"timed out while waiting for response", // Python
	"connection closed",                    // all
}

const (
	codeTimeout     = -32001 // RequestTimeout of the SDKs. Others use the number for other things, so that the message has to say so
	codeHTTPTimeout = 408    // that of the Python SDK, version 1
)

// saysLost says whether a JSON-RPC error is a gateway's word about a tool that it lost.
func saysLost(failure []byte) bool {
	code, message := readError(failure)
	message = strings.ToLower(message)
	if rest, ok := strings.CutPrefix(message, "mcp error "); ok { // TypeScript: "MCP error -32001: Request timed out"
		_, message, _ = strings.Cut(rest, ": ")
	}
	for _, words := range lostWords {
		if strings.HasPrefix(message, words) {
			return true
		}
	}
	return code == codeHTTPTimeout || code == codeTimeout && (strings.Contains(message, "timed out") || strings.Contains(message, "timeout"))
}

// readError gives the code and the message of a JSON-RPC error; 0 and nothing where it has none.
func readError(failure []byte) (code int64, message string) {
	dec := jsontext.NewDecoder(bytes.NewReader(failure), lenient...)
	if dec.PeekKind() != '{' {
		return 0, ""
	}
	_, _ = dec.ReadToken()
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return 0, ""
		}
		key, kind := name.String(), dec.PeekKind()
		if key != "code" && key != "message" || kind != '0' && kind != '"' {
			if dec.SkipValue() != nil {
				return 0, ""
			}
			continue
		}
		value, err := dec.ReadToken()
		switch {
		case err != nil:
			return 0, ""
		case key == "code" && kind == '0':
			code, _ = value.Int() // what is no whole number is none of ours
		case key == "message" && kind == '"':
			message = value.String()
		}
	}
	return code, message
}

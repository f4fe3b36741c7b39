package exchange

import (
	"encoding/base64"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"idem/filter/mcp"
	"idem/ledgerd/wire"
)

// The outcomes: what a caller is told, in x-idem-outcome, the envelope, problems, metrics and access logs.
const (
	outcomeExecuted    = "executed"
	outcomeCoalesced   = "coalesced"
	outcomeReplay      = "replay"
	outcomeHeld        = "held"
	outcomeInFlight    = "in_flight"
	outcomeInDoubt     = "in_doubt"
	outcomeDenied      = "denied"
	outcomeFailed      = "failed"
	outcomeNotSent     = "not_sent"
	outcomeUnavailable = "unavailable"
	outcomeRefused     = "refused"
)

// resultReply gives the caller a stored reply of the tool: as it is, in the rule's envelope, or as the response to the
// caller's own tools/call.
func (c *Call) resultReply(r wire.Result, outcome string) Reply {
	reply := Reply{Status: r.Status, Outcome: outcome, Headers: slices.Clone(r.Headers), Body: r.Body}
	reply.Traceparent = header(r.Headers, headerTrace)
	switch {
	case c.MCP != nil && isFinal(r):
		reply.Headers, reply.Body = c.respond(r)
	case c.MCP != nil && outcome != outcomeFailed:
		reply.Status = 200
		reply.Headers, reply.Body = c.respondGiven(r)
	case c.Rule.Envelope && !bodiless(r.Status):
		reply.Headers = typed(r.Headers, mcp.ContentJSON)
		reply.Body = envelope(r, outcome, c.Action.Fingerprint)
	}
	reply.Headers = c.withOutcome(reply.Headers, outcome)
	if outcome == outcomeReplay || outcome == outcomeCoalesced {
		reply.Headers = append(reply.Headers, [2]string{headerReplayed, "true"})
	}
	return reply
}

// bodiless says whether a reply of this status has no body (RFC 9110 section 6.4.1): bytes after one would be taken for
// the next reply of the connection, so that not even an envelope is sent; the headers tell what Idem did.
func bodiless(status int) bool {
	return status < 200 || status == 204 || status == 205 || status == 304
}

// executorReply gives the caller that executed the tool's reply. An MCP caller gets it as the tool sent it, progress
// and all: it bears this caller's id.
func (c *Call) executorReply(own wire.Result, outcome string) Reply {
	if c.MCP == nil {
		return c.resultReply(own, outcome)
	}
	return Reply{Status: own.Status, Outcome: outcome, Headers: c.withOutcome(slices.Clone(own.Headers), outcome), Body: own.Body}
}

// failureReply tells of an execution that did not succeed. r is the tool's own failure, where there was one.
func (c *Call) failureReply(class wire.Class, r *wire.Result) Reply {
	switch {
	case class == wire.ClassDefinite && r != nil:
		return c.resultReply(*r, outcomeFailed)
	case class == wire.ClassNotSent:
		return c.problemReply(problem{code: codeNotSent, detail: "the request never reached the tool"})
	case class == wire.ClassDefinite:
		return c.problemReply(problem{code: codeFailed, detail: "its answer is no longer stored; the call did not happen"})
	default:
		return c.problemReply(problem{code: codeInDoubt, status: 504, detail: detailInDoubt})
	}
}

// withOutcome adds the headers that say what Idem did.
func (c *Call) withOutcome(headers [][2]string, outcome string) [][2]string {
	headers = append(headers, [2]string{headerOutcome, outcome})
	if c.Action.Fingerprint != "" {
		headers = append(headers, [2]string{headerFingerprint, c.Action.Fingerprint})
	}
	return headers
}

// describesBody are the headers that say what a body is.
var describesBody = []string{"content-type", "content-encoding", "content-language", "content-md5", "content-digest", "repr-digest", "digest", "etag", "last-modified", "accept-ranges"}

// typed keeps the tool's headers but those that describe the body, which another one of contentType replaces.
func typed(headers [][2]string, contentType string) [][2]string {
	kept := slices.DeleteFunc(slices.Clone(headers), func(h [2]string) bool { return slices.Contains(describesBody, h[0]) })
	return append(kept, [2]string{"content-type", contentType})
}

// envelope wraps a result: JSON as it is, text as a string, anything else as base64.
func envelope(r wire.Result, outcome, fingerprint string) []byte {
	out := append(make([]byte, 0, len(r.Body)+192), `{"outcome":`...)
	out = quoted(out, outcome)
	switch outcome {
	case outcomeCoalesced:
		out = append(out, `,"coalesced":true`...)
	case outcomeReplay:
		out = append(out, `,"replay":true`...)
	}
	out = append(out, `,"fingerprint":`...)
	out = quoted(out, fingerprint)
	switch {
	case isJSON(r.Body):
		out = append(append(out, `,"result":`...), r.Body...)
	case utf8.Valid(r.Body):
		out = quoted(append(out, `,"result":`...), string(r.Body))
	default:
		out = append(out, `,"result_encoding":"base64","result":"`...)
		out = append(base64.StdEncoding.AppendEncode(out, r.Body), '"')
	}
	return append(out, '}')
}

// isJSON says whether a body is one JSON value, whatever its type is called.
func isJSON(body []byte) bool {
	return len(body) > 0 && jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true))
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

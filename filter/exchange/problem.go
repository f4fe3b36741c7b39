package exchange

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"idem/canon"
	"idem/filter/mcp"
	"idem/ledgerd/wire"
)

// The codes of refusals (the README lists them for callers). The codes of calls that cannot be read come from package
// canon.
const (
	codeHeld              = "held"
	codeInFlight          = "in_flight"
	codeInDoubt           = "in_doubt"
	codeDenied            = "denied"
	codeFailed            = "failed"
	codeResultUnavailable = "result_unavailable"
	codeNotSent           = "not_sent"
	codeLedgerUnavailable = "ledger_unavailable"
	codeOverloaded        = "overloaded"
	codeMisconfigured     = "misconfigured"
)

const detailInDoubt = "the tool was called and its answer was lost; it is not executed again until a person says so"

// problem is a refusal (RFC 9457).
type problem struct {
	code       string
	status     int // 0: the code's own
	detail     string
	hold       *wire.Hold
	retryAfter time.Duration
	since      int64 // in_flight_since, Unix ms
	pointer    string
	offset     int64 // into the body; counts only where hasOffset
	hasOffset  bool
}

// problemKind is what a code means to a caller. A problem's detail goes on from the title without saying it again: a
// model reads "title: detail." as one text.
type problemKind struct {
	status    int
	title     string
	retryable bool
	outcome   string
}

var problemKinds = map[string]problemKind{
	codeHeld:                 {409, "A person must answer first", false, outcomeHeld},
	codeInFlight:             {409, "The same call is still being executed", true, outcomeInFlight},
	codeInDoubt:              {409, "It may have happened", false, outcomeInDoubt},
	codeDenied:               {403, "A person said no", false, outcomeDenied},
	codeFailed:               {502, "The tool failed", true, outcomeFailed},
	codeResultUnavailable:    {409, "It happened; its result is not stored", false, outcomeRefused},
	codeNotSent:              {502, "It surely did not happen", true, outcomeNotSent},
	codeLedgerUnavailable:    {503, "The ledger is not available", true, outcomeUnavailable},
	codeOverloaded:           {429, "A limit is reached", true, outcomeRefused},
	codeMisconfigured:        {500, "The proxy is set up wrongly", false, outcomeRefused},
	"malformed_body":         {400, "The body cannot be read", false, outcomeRefused},
	"unsupported_media_type": {415, "The body's media type cannot be read", false, outcomeRefused},
	"body_too_large":         {413, "The body is too large", false, outcomeRefused},
	"unstable_scope":         {400, "The credentials do not say whose call it is", false, outcomeRefused},
}

// Unreadable is the refusal of a matched call that cannot be read, and counts it. Nothing was reserved. Where the rule
// speaks MCP it is a JSON-RPC error too, with a null id: the message's own could not be relied on. A stream's callback
// may call it.
func (w *Worker) Unreadable(err *canon.Error, protocol canon.Protocol, body []byte) Reply {
	p := problem{code: err.Code, detail: err.Detail, pointer: err.Pointer, offset: err.Offset, hasOffset: err.Offset >= 0}
	r := (&Call{}).problemReply(p)
	if protocol == canon.MCP {
		r.Headers = typed(r.Headers, mcp.ContentJSON)
		r.Body = mcp.Unreadable(jsontext.Value(body).IsValid(), p.detail, r.Body)
	}
	w.count(r)
	return r
}

// problemReply renders a refusal.
func (c *Call) problemReply(p problem) Reply {
	kind, known := problemKinds[p.code]
	if !known {
		kind = problemKind{400, "The call cannot be read", false, outcomeRefused}
	}
	if p.status != 0 {
		kind.status = p.status
	}
	headers := [][2]string{{"content-type", "application/problem+json"}}
	if p.retryAfter > 0 {
		seconds := int64((p.retryAfter + time.Second - 1) / time.Second)
		headers = append(headers, [2]string{"retry-after", strconv.FormatInt(seconds, 10)})
	}
	r := Reply{
		Status: kind.status, Outcome: kind.outcome, Code: p.code, Hold: p.holdID(),
		Headers: c.withOutcome(headers, kind.outcome),
		Body:    p.body(kind, c.Action.Fingerprint),
	}
	if c.MCP != nil {
		var contentType string
		contentType, r.Body = c.MCP.Refuse(p.forModel(kind), r.Body)
		r.Status, r.Headers = 200, typed(r.Headers, contentType)
	}
	return r
}

// holdID is the id of the hold that the refusal tells of; empty: of none.
func (p problem) holdID() string {
	if p.hold == nil {
		return ""
	}
	return p.hold.ID
}

// forModel says a refusal to the model that made the call: what happened, and whether to try again.
func (p problem) forModel(kind problemKind) string {
	text := kind.title + ": " + p.detail + "."
	if id := p.holdID(); id != "" {
		text += " The hold's id is " + id + "."
	}
	switch {
	case p.code == codeHeld:
		text += " Do not retry this call before that."
	case !kind.retryable:
		text += " Do not retry this call."
	case p.retryAfter > 0:
		text += " The same call may be tried again after " + strconv.FormatInt(p.retryAfter.Milliseconds(), 10) + " ms."
	default:
		text += " The same call may be tried again."
	}
	return text
}

func (p problem) body(kind problemKind, fingerprint string) []byte {
	out := append(make([]byte, 0, 512), `{"type":`...)
	out = quoted(out, "urn:idem:problem:"+p.code)
	out = quoted(append(out, `,"title":`...), kind.title)
	out = appendInt(append(out, `,"status":`...), int64(kind.status))
	out = quoted(append(out, `,"detail":`...), p.detail)
	out = quoted(append(out, `,"code":`...), p.code)
	out = quoted(append(out, `,"outcome":`...), kind.outcome)
	out = strconv.AppendBool(append(out, `,"retryable":`...), kind.retryable)
	if fingerprint != "" {
		out = quoted(append(out, `,"fingerprint":`...), fingerprint)
	}
	if p.hold != nil {
		out = quoted(append(out, `,"hold":{"id":`...), p.hold.ID)
		out = quoted(append(out, `,"reason":`...), p.hold.Reason)
		if p.hold.Of != "" {
			out = quoted(append(out, `,"of":`...), p.hold.Of)
		}
		out = append(out, '}')
	}
	if p.retryAfter > 0 {
		out = appendInt(append(out, `,"retry_after_ms":`...), p.retryAfter.Milliseconds())
	}
	if p.since > 0 {
		at := time.UnixMilli(p.since).UTC().Format("2006-01-02T15:04:05.000Z")
		out = quoted(append(out, `,"in_flight_since":`...), at)
	}
	if p.hasOffset || p.pointer != "" {
		out = quoted(append(out, `,"pointer":`...), p.pointer)
	}
	if p.hasOffset {
		out = appendInt(append(out, `,"offset":`...), p.offset)
	}
	return append(out, '}')
}

// holdReasons say to the caller what the hold asks.
var holdReasons = map[string]string{
	"new_run":     "the same call was executed before in another run: a person must say whether this is a repeat or a new intent",
	"same_intent": "a call for the same customer and amount was made before and something else in it differs: a person must say whether this is a repeat or a new intent",
	"in_doubt":    "a call for the same customer and amount may or may not have happened: a person must look before this one is executed",
	"absent_run":  "a call for the same customer and amount was made before, and this one names no run: a person must say whether it is a repeat or a new intent",
}

func heldProblem(hold *wire.Hold) problem {
	if hold == nil {
		hold = &wire.Hold{}
	}
	detail := holdReasons[hold.Reason]
	if detail == "" {
		detail = "a person must answer before this is executed"
	}
	return problem{code: codeHeld, hold: hold, detail: detail + "; do not send it in other words: once it is released, send the same call again"}
}

// overloadedProblem tells of a limit of the ledger.
func overloadedProblem(a wire.Answer) problem {
	after := time.Duration(a.RetryAfterMS) * time.Millisecond
	return problem{code: codeOverloaded, retryAfter: max(after, time.Second), detail: a.Detail}
}

func inFlightProblem(since int64) problem {
	return problem{code: codeInFlight, since: since, retryAfter: time.Second,
		detail: "the wait for it is over, and the execution goes on; ask again for its result"}
}

var missingReasons = map[string]string{
	wire.MissingTooLarge: "it was larger than max_result_bytes",
	wire.MissingErased:   "it was erased",
	wire.MissingResolved: "a person resolved the call as done and gave none",
}

func missingProblem(why string) problem {
	said := missingReasons[why]
	if said == "" {
		said = "the ledger does not say why"
	}
	return problem{code: codeResultUnavailable, detail: said}
}

// Fault is the refusal of a call that the filter could not handle because of a fault of its own, and counts it. The
// tool was not called. A stream's callback may call it.
func (w *Worker) Fault() Reply {
	r := (&Call{}).problemReply(problem{code: codeLedgerUnavailable, retryAfter: time.Second,
		detail: "the filter could not handle this call; the tool was not called"})
	w.count(r)
	return r
}

// Misconfigured is the refusal of a call that nobody can say whether to guard, because of what the proxy's own
// configuration says, and counts it. The tool was not called. A stream's callback may call it.
func (w *Worker) Misconfigured(detail string) Reply {
	r := (&Call{}).problemReply(problem{code: codeMisconfigured, detail: detail + "; the tool was not called"})
	w.count(r)
	return r
}

// count counts what a caller is told.
func (w *Worker) count(r Reply) { w.host.Count("calls."+r.Outcome, 1) }

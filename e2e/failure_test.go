package e2e_test

import (
	"net/http"
	"slices"
	"strconv"

	"idem/e2e/envoytest"
)

// ending is what is known of an execution when it is over.
type ending string

const (
	succeeded ending = "success"
	definite  ending = "definite" // the tool says that it did not happen
	notSent   ending = "not_sent" // it surely did not happen
	unknown   ending = "unknown"  // it may have happened
)

// failure is one way in which an execution can end, and what Envoy makes of it.
type failure struct {
	name string

	// How it is brought about.
	route string              // of the executions; "tool" by default
	tool  envoytest.Behaviour // 200 by default
	rules string              // a set of rules other than the usual: strict, moved, brief, short, hasty
	only  string              // where alone it can happen: "mcp", "http" (not MCP)
	how   string              // by which execution alone: "detached", "inline"

	seen    seen
	end     ending
	reached int  // how often the tool was reached
	anew    bool // it is the executor's alone: of those who waited one executes

	past      int    // the status of the tool's reply, or of Envoy's
	breaks    bool   // its body breaks off
	inlineEnd ending // by execution "inline", where that is something else than detached
}

// seen is what Envoy writes on the reply of an execution: its response flags, how its response code details begin, and
// the number of attempts.
type seen struct{ flags, details, attempts string }

var byTool = seen{"-", "via_upstream", "1"} // the tool answered

// before is what Envoy sees where the request broke off before the reply began, after is later.
func before(flags, why string) seen {
	return seen{flags, "upstream_reset_before_response_started{" + why, "1"}
}

func after(flags, why string) seen {
	return seen{flags, "upstream_reset_after_response_started{" + why, "1"}
}

// answered are the statuses of a tool that come to one end.
func answered(end ending, statuses ...int) (all []failure) {
	for _, status := range statuses {
		name := strconv.Itoa(status)
		f := failure{name: name, tool: envoytest.Behaviour(name), seen: byTool, end: end, reached: 1, past: status}
		if end == succeeded && status != http.StatusOK || status == http.StatusBadRequest || status == http.StatusNotFound {
			f.only = "http"
		}
		all = append(all, f)
	}
	return all
}

// failures is all that can become of an execution, beginning with what is no failure.
var failures = slices.Concat(
	answered(succeeded, 200, 201, 204, 303),
	answered(definite, 400, 401, 403, 404, 409, 410, 422, 429, 500, 501, 503, 505, 530, 599),
	answered(unknown, 408, 502, 504, 520, 524, 529), // a gateway's word about a tool that it lost
	[]failure{
		// In MCP these two are about the caller's session: who waited has another, and asks anew.
		{name: "400 of a session", tool: "400", only: "mcp", seen: byTool, end: definite, reached: 1, past: 400, anew: true},
		{name: "404 of a session", tool: "404", only: "mcp", seen: byTool, end: definite, reached: 1, past: 404, anew: true},

		{name: "isError", tool: envoytest.MCPError, only: "mcp", seen: byTool, end: definite, reached: 1, past: 200},
		{name: "JSON-RPC error", tool: envoytest.RPCError, only: "mcp", seen: byTool, end: definite, reached: 1, past: 200},
		{name: "MCP without a response", tool: envoytest.MCPMute, only: "mcp", seen: byTool, end: unknown, reached: 1, past: 200},

		// It never left Envoy, or whom it came to did not look at it.
		{name: "no route", route: "none", seen: seen{"NR", "route_not_found", "0"}, end: notSent, past: 404},
		{name: "no cluster", route: "nonsense", seen: seen{"NC", "cluster_not_found", "0"}, end: notSent, past: 503, inlineEnd: unknown},
		{name: "no healthy host", route: "empty", seen: seen{"UH", "no_healthy_upstream", "1"}, end: notSent, past: 503},
		{name: "connection refused", route: "nowhere", seen: before("UF", "remote_connection_failure"), end: notSent, past: 503},
		{name: "TLS fails", route: "tls", seen: before("UF", "remote_connection_failure"), end: notSent, past: 503},
		{name: "over a limit", route: "full", seen: before("UO", "overflow"), end: notSent, past: 503},
		{name: "refused stream", route: "http2", tool: envoytest.RefuseStream, seen: before("UR", "remote_refused_stream_reset"), end: notSent, past: 503},
		{name: "goes away before it", route: "http2", tool: envoytest.GoAwayBefore, seen: before("UR", "remote_refused_stream_reset"), end: notSent, past: 503},

		// It broke off when the tool had it.
		{name: "reset", tool: envoytest.Reset, seen: before("UC", "connection_termination"), end: unknown, reached: 1, past: 503},
		{name: "closed", tool: envoytest.HangUp, seen: before("UC", "connection_termination"), end: unknown, reached: 1, past: 503},
		{name: "reset in the head", tool: envoytest.CutHead, seen: before("UPE", "protocol_error"), end: unknown, reached: 1, past: 502},
		{name: "no HTTP", tool: envoytest.Nonsense, seen: before("UPE", "protocol_error"), end: unknown, reached: 1, past: 502},
		{name: "a head too long", tool: envoytest.LongHead, seen: before("UPE", "protocol_error"), end: unknown, reached: 1, past: 502},
		{name: "reset after the head", tool: envoytest.CutAfterHead, seen: after("UPE", "protocol_error"), end: unknown, reached: 1, past: 200, breaks: true},
		{name: "reset in the body", tool: envoytest.Cut, seen: after("UPE", "protocol_error"), end: unknown, reached: 1, past: 200, breaks: true},
		{name: "a body too short", tool: envoytest.Short, seen: after("UPE", "protocol_error"), end: unknown, reached: 1, past: 200, breaks: true},
		{name: "no last chunk", tool: envoytest.CutChunks, seen: after("UPE", "protocol_error"), end: unknown, reached: 1, past: 200, breaks: true},
		{name: "HTTP/2 reset", route: "http2", tool: envoytest.ResetStream, seen: before("UR", "remote_reset"), end: unknown, reached: 1, past: 503},
		{name: "HTTP/2 reset in the body", route: "http2", tool: envoytest.CutStream, seen: after("UR", "remote_reset"), end: unknown, reached: 1, past: 200, breaks: true},
		{name: "goes away after it", route: "http2", tool: envoytest.GoAwayAfter, seen: before("UC", "connection_termination"), end: unknown, reached: 1, past: 503},
		{name: "over the buffer", tool: envoytest.LargeBody, how: "detached", end: unknown, reached: 1}, // the filter's call is ended, by Envoy

		// It took too long.
		{name: "the route's timeout", route: "impatient", tool: envoytest.Timeout, seen: seen{"UT", "response_timeout", "1"}, end: unknown, reached: 1, past: 504},
		{name: "the rule's timeout", rules: "brief", tool: envoytest.Timeout, end: unknown, reached: 1},

		// Envoy tried again, against our advice: what came of the first attempt is not known.
		{name: "a retry hides a reset", how: "detached", route: "twofold", tool: envoytest.Reset, seen: seen{"URX,UF", "upstream_reset_before_response_started{", "2"}, end: unknown, reached: 1, past: 503},
		{name: "a retry hides a reset behind a failure", how: "detached", route: "retrying", tool: envoytest.ResetFirstPrefix + "422", seen: seen{"-", "via_upstream", "2"}, end: unknown, reached: 2, past: 422},
		{name: "a retry hides a reset behind an isError", how: "detached", route: "retrying", tool: envoytest.ResetFirstPrefix + envoytest.MCPError, only: "mcp", seen: seen{"-", "via_upstream", "2"}, end: unknown, reached: 2, past: 200},
		{name: "a retry that succeeds", how: "detached", route: "retrying", tool: envoytest.ResetFirstPrefix + "200", seen: seen{"-", "via_upstream", "2"}, end: succeeded, reached: 2, past: 200},

		// The caller's route would try again, and the filter does not let it.
		{name: "no retry of a reset", how: "inline", route: "retrying", tool: envoytest.Reset, seen: seen{"URX,UC", "upstream_reset_before_response_started{connection_termination", "1"}, end: unknown, reached: 1, past: 503},
		{name: "no retry of a failure", how: "inline", route: "retrying", tool: "503", seen: seen{"URX", "via_upstream", "1"}, end: definite, reached: 1, past: 503},
		{name: "no retry of a refused connection", how: "inline", route: "unreached", seen: seen{"URX,UF", "upstream_reset_before_response_started{remote_connection_failure", "1"}, end: notSent, past: 503},

		// The tool tells the proxy's stories.
		{name: "200 that pretends", tool: envoytest.PretendPrefix + "200", seen: byTool, end: succeeded, reached: 1, past: 200},
		{name: "503 that pretends", tool: envoytest.PretendPrefix + "503", seen: byTool, end: definite, reached: 1, past: 503},
		{name: "504 that pretends", tool: envoytest.PretendPrefix + "504", seen: byTool, end: unknown, reached: 1, past: 504},

		// What the rule says of a status.
		{name: "404 that is a success", rules: "moved", only: "http", tool: "404", seen: byTool, end: succeeded, reached: 1, past: 404},
		{name: "504 that is definite", rules: "moved", tool: "504", seen: byTool, end: definite, reached: 1, past: 504},
		{name: "422 that is unknown", rules: "moved", tool: "422", seen: byTool, end: unknown, reached: 1, past: 422},
		{name: "202 that is unknown", rules: "moved", tool: "202", seen: byTool, end: unknown, reached: 1, past: 202},
		{name: "500 where that is strict", rules: "strict", tool: "500", seen: byTool, end: unknown, reached: 1, past: 500},
		{name: "422 where that is strict", rules: "strict", tool: "422", seen: byTool, end: definite, reached: 1, past: 422},
	},
)

// ruleSets are what the rules of each set say besides.
var ruleSets = map[string]string{
	"usual":  `,"lease":"60s","near_duplicates":{"window":"10m"}`, // other runs join, however late they are
	"moved":  `,"lease":"60s","failures":{"success":[404],"definite":[504],"unknown":[202,422]}`,
	"strict": `,"lease":"60s","failures":{"strict":true}`,
	"brief":  `,"lease":"60s","execution_timeout":"8s"`,
	"short":  `,"lease":"9s"`,
	"hasty":  `,"lease":"5s","execution_timeout":"1s"`,
}

// told is what a caller learns, in whatever protocol.
type told struct {
	status  int
	outcome string
	code    string // of a refusal
}

// toExecutor is what the caller that executed is told.
func (f failure) toExecutor() told {
	switch f.end {
	case succeeded:
		return told{f.past, "executed", ""}
	case definite:
		return told{f.past, "failed", ""}
	case notSent:
		return told{http.StatusBadGateway, "not_sent", "not_sent"}
	default:
		return told{http.StatusGatewayTimeout, "in_doubt", "in_doubt"}
	}
}

// toWaiter is what whoever waited meanwhile is told: the same, but for the word about a success.
func (f failure) toWaiter() told {
	switch {
	case f.anew:
		return told{http.StatusOK, "executed", ""}
	case f.end == succeeded:
		return told{f.past, "coalesced", ""}
	}
	return f.toExecutor()
}

// toNext is what the same call gets afterwards.
func (f failure) toNext() told {
	switch f.end {
	case succeeded:
		return told{f.past, "replay", ""}
	case unknown:
		return told{http.StatusConflict, "in_doubt", "in_doubt"}
	default:
		return told{http.StatusOK, "executed", ""}
	}
}

// meets says whether what a caller was told is what it should be. Where one of those who waited executed, the others
// joined it.
func (f failure) meets(saw, want told) bool {
	if f.anew && want.outcome == "executed" && (saw.outcome == "coalesced" || saw.outcome == "replay") {
		saw.outcome = want.outcome
	}
	return saw == want
}

// inline is the same failure by execution "inline".
func (f failure) inline() failure {
	if f.inlineEnd != "" {
		f.end = f.inlineEnd
	}
	return f
}

// row is the state that the row is left in.
func (f failure) row() string {
	return map[ending]string{succeeded: "committed", definite: "released", notSent: "released", unknown: "in_doubt"}[f.end]
}

// executions is how often the tool has been reached after the next call.
func (f failure) executions() int {
	if f.end == definite || f.end == notSent {
		return f.reached + 1
	}
	return f.reached
}

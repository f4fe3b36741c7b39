package exchange

import (
	"slices"
	"strings"

	"idem/ledgerd/wire"
)

// The caller's trace goes on in its execution: traceparent, tracestate, baggage and b3 reach the tool as they came. Who
// is given another call's result cannot be in that call's trace, for its own span is in its own; it is told which trace
// the execution is in, so that the two can be linked.

// headerTrace is the traceparent that the execution of a reply ran under. It is kept with the stored reply.
const headerTrace = "x-idem-traceparent"

// traced notes in a stored reply which trace its execution was in. request is the executing caller's.
func traced(r wire.Result, request [][2]string) *wire.Result {
	if parent := header(request, "traceparent"); isTraceparent(parent) {
		r.Headers = append(slices.Clip(r.Headers), [2]string{headerTrace, parent})
	}
	return &r
}

// isTraceparent says whether a text is a traceparent (W3C Trace Context, section 3.2): version, trace id, parent id and
// flags in lower-case hex. What is none was nobody's trace.
func isTraceparent(text string) bool {
	if len(text) != 55 || text[2] != '-' || text[35] != '-' || text[52] != '-' || strings.HasPrefix(text, "ff") {
		return false
	}
	for _, part := range [...]string{text[:2], text[3:35], text[36:52], text[53:]} {
		if strings.Trim(part, "0123456789abcdef") != "" {
			return false
		}
	}
	return strings.Trim(text[3:35], "0") != "" && strings.Trim(text[36:52], "0") != ""
}

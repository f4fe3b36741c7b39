package exchange

import (
	"strconv"
	"strings"

	"idem/filter/policy"
	"idem/ledgerd/wire"
)

// The headers that the execution route writes on every reply, also on those that the proxy makes itself. They are the
// only word that is taken for how far a request came.
const (
	headerFlags    = "x-idem-flags"    // %RESPONSE_FLAGS%
	headerDetails  = "x-idem-details"  // %RESPONSE_CODE_DETAILS%
	headerAttempts = "x-idem-attempts" // %UPSTREAM_REQUEST_ATTEMPT_COUNT%
)

// viaUpstream is the detail of a reply that an upstream gave, rather than the proxy.
const viaUpstream = "via_upstream"

// notSentFlags are the response flags of a request that never left the proxy: no connection, no healthy host, no route,
// over a limit, no cluster.
const notSentFlags = "UF,UH,NR,UO,NC"

// flagUnrouted is the flag of a request that no route matched.
const flagUnrouted = "NR"

// refusedStream is how the details begin where the upstream refused the stream, or announced (GOAWAY) that it would not
// serve it: so it promises that it processed nothing of it (RFC 9113 section 8.7). The flag of such a reply, resetFlag,
// is that of every reset.
const (
	refusedStream = "upstream_reset_before_response_started{remote_refused_stream_reset"
	resetFlag     = "UR"
)

// classify says what is known of an execution by its reply; empty: it succeeded.
//
//	no reply at all                                          unknown: reset, cut short, over the buffer
//	the tool's own (details via_upstream)                    by its status, as the rule says
//	  a failure after another attempt                        unknown: that one's end is not known
//	the proxy's, one attempt at most, all flags in the list  not sent
//	a stream that was refused, one attempt                   not sent
//	anything else                                            unknown
func classify(r HTTPReply, failures policy.Failures) wire.Class {
	if r.Status == 0 {
		return wire.ClassUnknown
	}
	if header(r.Headers, headerDetails) == viaUpstream {
		return ofAttempts(byStatus[failures.Classify(r.Status)], r)
	}
	if neverSent(header(r.Headers, headerFlags), header(r.Headers, headerDetails)) {
		return ofAttempts(wire.ClassNotSent, r)
	}
	return wire.ClassUnknown
}

// byStatus says in the ledger's words what a rule makes of a status.
var byStatus = map[policy.Class]wire.Class{
	policy.Success:  "",
	policy.Definite: wire.ClassDefinite,
	policy.Unknown:  wire.ClassUnknown,
}

// ofAttempts gives what the class of the last attempt says of all of them. The route that we ship makes one; a retry
// hides the end of the attempt before it, so that a failure of the last proves nothing. A success is one whatever was
// before.
func ofAttempts(last wire.Class, r HTTPReply) wire.Class {
	if last != "" && !once(r) {
		return wire.ClassUnknown
	}
	return last
}

// once says whether the proxy made one attempt at most.
func once(r HTTPReply) bool {
	attempts := header(r.Headers, headerAttempts)
	n, err := strconv.Atoi(attempts)
	return attempts == "-" || err == nil && n <= 1
}

// lookAtAttempts counts an execution that the proxy has tried more than once, and warns of the first: the tool may have
// done it as often, whatever it answered in the end.
func (w *Worker) lookAtAttempts(r HTTPReply) {
	if r.Status == 0 || header(r.Headers, headerAttempts) == "" || once(r) {
		return
	}
	w.host.Count("executions.retried", 1)
	if !w.retried {
		w.retried = true
		w.host.Warn("Envoy's route retried an execution, so that the tool may have done it more than once: take the retries from the execution listener's routes")
	}
}

// neverSent says whether flags and details prove that the last attempt was not made, or not looked at.
func neverSent(flags, details string) bool {
	if flags == "" {
		return false
	}
	for flag := range strings.SplitSeq(flags, ",") {
		if !listed(notSentFlags, flag) && (flag != resetFlag || !strings.HasPrefix(details, refusedStream)) {
			return false
		}
	}
	return true
}

// listed says whether word is one of the comma-separated words of list.
func listed(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// header gives the first value of a header by its lower-case name.
func header(headers [][2]string, name string) string {
	for _, h := range headers {
		if h[0] == name {
			return h[1]
		}
	}
	return ""
}

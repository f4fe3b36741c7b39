package exchange

import (
	"slices"
	"strings"

	"idem/filter/policy"
	"idem/ledgerd/wire"
)

// What is told about a call in headers of the reply.
const (
	headerOutcome     = "x-idem-outcome"
	headerFingerprint = "x-idem-fingerprint"
	headerCommitted   = "x-idem-committed" // "false": the ledger has not acknowledged what the reply says
	headerReplayed    = "idempotent-replayed"
)

// SoundsLikeIdem says whether a header of a tool's reply would pass for Idem's word about the call.
func SoundsLikeIdem(name string) bool {
	return strings.HasPrefix(name, "x-idem-") || name == headerReplayed
}

// endToEnd gives the headers that may be passed on: no pseudo headers, nothing of this hop, nothing of the proxy's.
func endToEnd(headers [][2]string) [][2]string {
	named := connectionNames(headers, "connection")
	out := make([][2]string, 0, len(headers))
	for _, h := range headers {
		name := h[0]
		if name == "" || name[0] == ':' || policy.ProxyHeader(name) || wire.HopByHop(name) || slices.Contains(named, name) {
			continue
		}
		out = append(out, h)
	}
	return out
}

// headerConnection is what the execution route tells of the tool's Connection header, which the proxy drops.
const headerConnection = "x-idem-connection"

// OfConnection are the headers of a tool's reply that are for its own connection by its word.
func OfConnection(headers [][2]string) []string { return connectionNames(headers, "connection") }

// connectionNames are the further hop-by-hop headers that Connection, or what bears it, names.
func connectionNames(headers [][2]string, connection string) []string {
	var names []string
	for _, h := range headers {
		if h[0] != connection {
			continue
		}
		for name := range strings.SplitSeq(h[1], ",") {
			names = append(names, strings.ToLower(strings.TrimSpace(name)))
		}
	}
	return names
}

// ownResult is the tool's reply as the caller that executed is given it.
func ownResult(r HTTPReply) *wire.Result {
	named := connectionNames(r.Headers, headerConnection)
	headers := slices.DeleteFunc(endToEnd(r.Headers), func(h [2]string) bool {
		return h[0] == "server" || SoundsLikeIdem(h[0]) || slices.Contains(named, h[0])
	})
	return &wire.Result{Status: r.Status, Headers: headers, Body: r.Body}
}

// storedResult is the tool's own reply as others are given it: without what belongs to one moment or one caller.
func storedResult(own wire.Result, keep []string) *wire.Result {
	own.Headers = slices.DeleteFunc(slices.Clone(own.Headers), func(h [2]string) bool {
		return (h[0] == "date" || h[0] == "set-cookie") && !slices.Contains(keep, h[0])
	})
	return &own
}

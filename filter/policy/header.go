package policy

import (
	"slices"
	"strings"

	"idem/ledgerd/wire"
)

const wantHeader = `a header's name, such as "stripe-account"`

// headerNames reads a list of header names, in lower case. check says what is wrong with one; empty: nothing.
func headerNames(f field, check func(string) string) []string {
	var names []string
	for _, it := range f.items("a list, each item " + wantHeader) {
		name := headerName(it, check)
		switch {
		case name == "":
		case slices.Contains(names, name):
			it.wrong("is in this list twice; give it once")
		default:
			names = append(names, name)
		}
	}
	return names
}

func headerName(f field, check func(string) string) string {
	text, ok := f.text(wantHeader)
	if !ok {
		return ""
	}
	if !wire.Token(text) {
		f.wrong("is not the name of a header (RFC 9110 section 5.1); use " + wantHeader)
		return ""
	}
	name := lower(text)
	if check != nil {
		if detail := check(name); detail != "" {
			f.wrong(detail)
			return ""
		}
	}
	return name
}

// lower folds ASCII letters only: what is not ASCII must not become ASCII.
func lower(text string) string {
	return strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}, text)
}

// ProxyHeader says whether a header, in lower case, is Envoy's or Idem's own: it passes neither from a caller nor from a
// tool.
func ProxyHeader(name string) bool {
	return strings.HasPrefix(name, "x-envoy-") || strings.HasPrefix(name, "x-idem-")
}

// neverStored says why a rule cannot keep a header of the reply.
func neverStored(name string) string {
	switch {
	case wire.HopByHop(name):
		return "belongs to one connection and is never stored; leave it out"
	case ProxyHeader(name), name == "server", name == "idempotent-replayed":
		return "is written by the proxy itself and is never stored; leave it out"
	}
	return ""
}

// neverSent says why a header cannot carry the provider's key.
func neverSent(name string) string {
	switch {
	case ProxyHeader(name):
		return "is never passed on to the tool; use another header, such as \"idempotency-key\""
	case wire.HopByHop(name), hasMeaning(name), perTry(name) && !strings.Contains(name, "idempotency") && name != "paypal-request-id":
		return `has a meaning of its own; use the header that the tool reads its key from, such as "idempotency-key"`
	}
	return ""
}

// hasMeaning says whether HTTP, MCP or a proxy on the way gives a header a meaning.
func hasMeaning(name string) bool {
	for _, beginning := range [...]string{"content-", "accept", "if-", "mcp-", "x-forwarded-", "sec-", "access-control-", "x-http-method", "x-method-"} {
		if strings.HasPrefix(name, beginning) {
			return true
		}
	}
	switch name {
	case "host", "authorization", "x-api-key", "cookie", "expect", "range", "via", "forwarded", "from", "origin", "referer", "user-agent",
		"date", "pragma", "cache-control", "max-forwards", "prefer", "priority", "last-event-id", "x-real-ip", "server",
		"digest", "repr-digest", "want-digest", "stripe-account", "x-tenant-id", "x-org-id":
		return true
	}
	return false
}

// perTry says whether a header is another with every attempt of one call: the names that package canon knows as volatile,
// and what proxies and signatures write anew.
func perTry(name string) bool {
	for _, beginning := range [...]string{"x-b3-", "x-datadog-", "x-idem-", "x-envoy-", "uber-trace-"} {
		if strings.HasPrefix(name, beginning) {
			return true
		}
	}
	switch name {
	case "idempotency-key", "x-idempotency-key", "idempotency-token", "client-request-token", "paypal-request-id",
		"trace-id", "x-trace-id", "x-amzn-trace-id", "x-cloud-trace-context", "sentry-trace", "span-id", "traceparent", "tracestate",
		"baggage", "b3", "correlation-id", "x-correlation-id", "request-id", "x-request-id", "x-amzn-requestid", "timestamp", "x-timestamp", "run-id",
		"date", "x-amz-date", "signature", "signature-input", "dpop", "nonce", "x-nonce", "age", "retry-after", "last-event-id":
		return true
	}
	return false
}

// neverWhom says why a header cannot say whose call it is, or for whom.
func neverWhom(name string) string {
	const instead = `use a header that says who calls, such as "authorization" or "x-api-key"`
	switch {
	case perTry(name):
		return "is another with every attempt of one call, so that no retry would be recognized; " + instead
	case wire.HopByHop(name) && name != "proxy-authorization":
		return "belongs to one connection or message and says nothing of who calls; " + instead
	}
	return ""
}

// neverRun says why a header cannot name the run: the run is not passed on to the tool, and what the tool must see, or
// what says whose call it is, must not be lost that way.
func neverRun(name string) string {
	switch {
	case wire.HopByHop(name), strings.HasPrefix(name, "content-"), strings.HasPrefix(name, "accept"),
		name == "host", name == "authorization", name == "x-api-key", name == "cookie", name == "traceparent", name == "tracestate":
		return "has a meaning of its own, and the run's header is not passed on to the tool; use a header that names the run and nothing else, such as \"" + defaultRunHeader + "\""
	}
	return ""
}

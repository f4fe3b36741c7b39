package exchange

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"idem/canon"
)

// Request is the caller's request as it came.
type Request struct {
	Method, Authority, Path string
	Headers                 [][2]string // names in lower case, pseudo headers included
	Body                    []byte
}

// maxShownBytes bounds what the ledger is told of a call for people; a longer one is shown by its size alone.
const maxShownBytes = 16 << 10

// toTool is the call that executes an attempt.
func (c *Call) toTool(cluster, approvedBy string) HTTPCall {
	return HTTPCall{Cluster: cluster, Headers: c.toolHeaders(approvedBy), Body: c.underOwnID(), Timeout: c.Rule.ExecutionTimeout,
		Room: c.worker.roomForReply}
}

// toolHeaders are the caller's headers without what belongs to the caller's hop or to Idem. The tool is asked for a
// plain body, so that its reply fits every caller that gets it.
func (c *Call) toolHeaders(approvedBy string) [][2]string {
	r := c.Request
	headers := [][2]string{{":method", r.Method}, {":path", r.Path}, {":authority", r.Authority}}
	for _, h := range endToEnd(r.Headers) {
		switch h[0] {
		case "host", "accept-encoding", "expect":
			continue
		}
		if slices.Contains(c.Rule.RunHeaders, h[0]) && !c.ofSession(h[0]) {
			continue
		}
		if key := c.Rule.ProviderKey; key != nil && mayBeHeader(h[0], key.Header) {
			continue
		}
		headers = append(headers, h)
	}
	headers = append(headers, [2]string{"accept-encoding", "identity"})
	if key := c.Rule.ProviderKey; key != nil {
		headers = append(headers, [2]string{key.Header, providerKey(cmp.Or(c.recordedAs, c.Action.Fingerprint), approvedBy)})
	}
	return headers
}

// mayBeHeader says whether a tool may take a header for another: gateways to CGI, WSGI and Rack write - and _ alike.
func mayBeHeader(name, other string) bool {
	if len(name) != len(other) {
		return false
	}
	for i := range len(name) {
		if a, b := name[i], other[i]; a != b && !(a == '_' && b == '-' || a == '-' && b == '_') {
			return false
		}
	}
	return true
}

// ofSession says whether a header is the MCP transport's own: the tool needs it, also where a rule takes it for the run.
func (c *Call) ofSession(name string) bool { return c.MCP != nil && strings.HasPrefix(name, "mcp-") }

// forPeople is the call as written, for the one who answers a hold: a JSON object with method, path and args.
// Credentials in the query are left out.
func (r Request) forPeople(a canon.Action) []byte {
	out := append([]byte(nil), `{"method":`...)
	out = quoted(out, r.Method)
	out = append(out, `,"path":`...)
	out = quoted(out, shownPath(r.Path))
	if len(a.Args) > maxShownBytes {
		out = append(out, `,"args_bytes":`...)
		return append(appendInt(out, int64(len(a.Args))), '}')
	}
	if len(a.Args) > 0 {
		out = append(out, `,"args":`...)
		out = append(out, a.Args...)
	}
	return append(out, '}')
}

// quoted appends a JSON string; what is no UTF-8 is replaced, because it is only shown.
func quoted(dst []byte, s string) []byte {
	out, _ := jsontext.AppendQuote(dst, s)
	return out
}

package exchange

import (
	"slices"
	"strings"

	"idem/filter/mcp"
	"idem/ledgerd/wire"
)

// finalHeader marks a stored reply whose body is the final of a tools/call, without id and shape. It is written by this
// package alone: a tool's own is removed with every other x-idem- header, and it is never passed on.
const finalHeader = "x-idem-mcp"

// finalResult reads the end of a tools/call out of the tool's reply: what is stored of it and what it means. class is
// what the status says. A reply that holds no response keeps its own form where it is a failure by its status; a
// success without a response was cut short, and one with two answers says nothing; so does a gateway's error about a tool
// that it lost. id is what the tool was asked under.
func finalResult(class wire.Class, r wire.Result, id []byte) (wire.Class, *wire.Result) {
	final := mcp.ReadFinal(header(r.Headers, "content-type"), r.Body, id)
	switch {
	case class == "" && (!final.Present || final.Lost):
		return wire.ClassUnknown, nil
	case !final.Present:
		return class, &r
	case class == "" && (final.Failed || final.Asks):
		// A result that asks for input is passed on, but it is not the end of the call: nothing is committed, and the
		// continuation is a call of its own.
		class = wire.ClassDefinite
	}
	return class, &wire.Result{
		Status:  r.Status,
		Headers: append(withoutSession(r.Headers), [2]string{finalHeader, "final"}),
		Body:    final.Stored(),
	}
}

// withoutSession drops the headers of one client's session: they are nobody else's.
func withoutSession(headers [][2]string) [][2]string {
	kept := make([][2]string, 0, len(headers)+1)
	for _, h := range typed(headers, mcp.ContentJSON) {
		if h[0] != "mcp-session-id" {
			kept = append(kept, h)
		}
	}
	return kept
}

// respond gives a stored final to an MCP caller.
func (c *Call) respond(r wire.Result) (headers [][2]string, body []byte) {
	contentType, body := c.MCP.Respond(r.Body)
	headers = slices.DeleteFunc(typed(r.Headers, contentType), func(h [2]string) bool { return h[0] == finalHeader })
	return headers, body
}

// underOwnID puts the call's body under an id of this worker's own. A body whose bytes somebody has signed or summed
// stays as it is.
func (c *Call) underOwnID() []byte {
	if c.MCP == nil || sealed(c.Request.Headers) {
		return c.Request.Body
	}
	c.toolID = c.MCP.OwnID(c.worker.host.NewID())
	return c.MCP.Under(c.toolID, c.Request.Body)
}

// askedUnder is the JSON-RPC id under which the tool knows the call.
func (c *Call) askedUnder() []byte {
	if c.toolID != nil {
		return c.toolID
	}
	return c.MCP.ID
}

// returned is the body of the tool's reply with the response under the caller's id.
func (c *Call) returned(r wire.Result) []byte {
	if c.toolID == nil {
		return r.Body
	}
	return c.MCP.Returned(c.toolID, header(r.Headers, "content-type"), r.Body)
}

// sealed says whether a header vouches for the very bytes of the body.
func sealed(headers [][2]string) bool {
	return slices.ContainsFunc(headers, func(h [2]string) bool {
		switch h[0] {
		case "content-digest", "content-md5", "digest", "repr-digest", "signature", "x-amz-content-sha256":
			return true
		case "authorization":
			scheme, _, _ := strings.Cut(h[1], " ")
			return strings.HasPrefix(scheme, "AWS4-") || strings.EqualFold(scheme, "Signature")
		}
		return false
	})
}

// ofExecutor says whether a failure is about the caller that executed and not about the call: its session has ended, or
// its transport was at fault. Who waited has a session of its own, and asks the ledger anew.
func (c *Call) ofExecutor(class wire.Class, r *wire.Result) bool {
	return c.MCP != nil && class == wire.ClassDefinite && r != nil && (r.Status == 400 || r.Status == 404)
}

// respondGiven gives an MCP caller a result that a person wrote down: of a tool's success only the final is stored.
func (c *Call) respondGiven(r wire.Result) (headers [][2]string, body []byte) {
	contentType, body := c.MCP.Respond(mcp.Given(r.Body).Stored())
	return typed(r.Headers, contentType), body
}

// isFinal says whether a stored reply is the final of a tools/call.
func isFinal(r wire.Result) bool { return header(r.Headers, finalHeader) != "" }

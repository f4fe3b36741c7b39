package exchange

import (
	"slices"
	"strings"
	"time"

	"idem/filter/mcp"
	"idem/ledgerd/wire"
)

// A tools/call's reply that is an event stream may come in parts (MCP revisions before 2026-07-28, "Resumability and
// Redelivery"): a server may end the connection before the response, so as to be polled, and a connection may break. Under
// detached execution Idem is the server's client, and asks for the rest by GET, with the id of the last event that it has.
// That repeats nothing: the call itself is sent once. Where the stream cannot be resumed, the execution is in doubt.

const (
	usualPause = time.Second            // where the server says nothing: what the official clients wait
	leastPause = 100 * time.Millisecond // a tick: below it a server that ends every stream at once would be asked in a loop
	mostPause  = 10 * time.Second       // between tries that bring nothing; a server that restarts is back by then
	// endPatience is how long a stream may stay open after the response has passed. Servers end it with the response; but
	// some leave it open where the response had been waiting to be asked for.
	endPatience = 500 * time.Millisecond
)

// stream follows the reply of one execution.
type stream struct {
	execution *execution
	begun     HTTPReply // the reply to the call itself: status and headers
	events    mcp.Stream
	part      part
	pauseEnds time.Duration // when the rest is asked for; 0: nothing is to be asked for
	passedAt  time.Duration // when the response had passed, if it has
	resumed   bool          // the rest has been asked for
	barren    int           // tries in a row that failed, or brought nothing
	size      int64         // what it keeps of the room for replies
	full      bool          // there was no room for more of it
}

// part is one connection's share of the stream.
type part struct {
	seen   bool // its beginning has passed
	taken  bool // it is an event stream, and is kept
	before int  // events that had come before it
}

// follow has the reply to the call that executes followed where it may come in parts: not in revision 2026-07-28, in which
// a stream that breaks has ended.
func (e *execution) follow(call *HTTPCall) {
	if m := e.caller.MCP; m != nil && !m.Typed {
		e.stream = &stream{execution: e, events: mcp.Stream{ID: e.caller.askedUnder()}}
		call.Passing = e.stream.passing
	}
}

// passing takes a piece of the part that is under way. A stream's callback may call it.
func (s *stream) passing(begun HTTPReply, piece []byte) (enough bool) {
	if s.execution.ended {
		return true
	}
	s.begin(begun)
	if s.part.taken && !s.full && !s.decided() { // what follows the response is no part of the result
		s.write(piece)
	}
	return false
}

// begin takes down how a part begins, and how the reply to the call itself did.
func (s *stream) begin(r HTTPReply) {
	if s.part.seen {
		return
	}
	s.part.seen = true
	s.part.taken = header(r.Headers, headerDetails) == viaUpstream && r.Status/100 == 2 && mcp.IsEvents(header(r.Headers, "content-type"))
	if s.part.taken && !s.resumed {
		s.begun = HTTPReply{Status: r.Status, Headers: r.Headers}
	}
}

// write keeps a piece as long as there is room for it.
func (s *stream) write(piece []byte) {
	w := s.execution.worker
	if int64(s.events.Size()+len(piece)) > s.execution.caller.MostPassing() || !w.roomForReply(len(piece)) {
		s.full, s.events = true, mcp.Stream{}
		s.keep(0)
		return
	}
	s.events.Write(piece)
	s.keep(int64(s.events.Size()))
	if s.decided() {
		s.passedAt = w.host.Now()
	}
}

// decided says whether the stream has told how the call ended, or that nobody can know.
func (s *stream) decided() bool {
	return !s.full && s.events.Final.Told()
}

func (s *stream) keep(size int64) {
	s.execution.worker.replies += size - s.size
	s.size = size
}

// letGo lets go of what is kept: the execution has ended.
func (s *stream) letGo() {
	s.keep(0)
	s.pauseEnds, s.events = 0, mcp.Stream{}
}

// reply is the stream as if it had come in one part.
func (s *stream) reply() HTTPReply {
	return HTTPReply{Status: s.begun.Status, Headers: s.begun.Headers, Body: s.events.Body()}
}

// tick asks for the rest once the pause is over, and ends a stream that stays open after the response.
func (s *stream) tick(now time.Duration) {
	switch {
	case s.decided() && now >= s.passedAt+endPatience:
		s.execution.finished(s.reply())
	case s.pauseEnds > 0 && now >= s.pauseEnds:
		s.ask(now)
	}
}

// returned takes the end of the reply to the call itself.
func (s *stream) returned(r HTTPReply) {
	e := s.execution
	if e.ended {
		return
	}
	whole := s.partEnded(r)
	switch {
	case !whole && s.decided():
		e.finished(s.reply()) // the connection broke after the response
	case s.part.taken && (whole || r.Status == 0) && !s.decided() && s.resume(whole):
	default:
		e.finished(r)
	}
}

// partEnded takes what came of a part, and says whether it ended well.
func (s *stream) partEnded(r HTTPReply) (whole bool) {
	if r.Status != 0 && !r.Unread && !s.part.seen {
		if s.begin(r); s.part.taken {
			s.write(r.Body)
		}
	}
	s.events.Break()
	return s.part.taken && r.Status != 0 && !r.Unread && header(r.Headers, headerDetails) == viaUpstream
}

// resume lets the server have its pause before the rest is asked for. It says whether that is possible: there is an event
// to go on after, and time. whole: the server itself ended the part.
func (s *stream) resume(whole bool) bool {
	e := s.execution
	if s.full || !sendable(s.events.LastID) {
		return false
	}
	pause := usualPause
	if s.events.Told {
		pause = max(s.events.Retry, leastPause)
	}
	switch {
	case s.events.Events > s.part.before || whole && s.events.Told: // who says how often to ask is asked so often
		s.barren = 0
	default:
		s.barren++
	}
	for range min(s.barren, 8) {
		pause = max(pause, min(pause+pause/2, mostPause))
	}
	now := e.worker.host.Now()
	if now+pause >= e.deadline() {
		return false
	}
	s.pauseEnds = now + pause
	return true
}

// mostID is how long an event's id may be: beyond it a proxy or the server would refuse the header that bears it.
const mostID = 8 << 10

// sendable says whether an event's id can be the value of a header.
func sendable(id string) bool {
	return id != "" && len(id) <= mostID && strings.IndexFunc(id, func(c rune) bool { return c < ' ' || c == 0x7f }) < 0
}

// ask asks the server for the rest of the stream.
func (s *stream) ask(now time.Duration) {
	e := s.execution
	s.pauseEnds, s.resumed, s.part = 0, true, part{before: s.events.Events}
	e.worker.host.Count("executions.resumed", 1)
	sent := e.worker.host.Dispatch(HTTPCall{
		Cluster: e.worker.config.Execute.Cluster, Headers: e.caller.resumeHeaders(s.events.LastID),
		Timeout: e.deadline() - now, Room: e.worker.roomForReply, Passing: s.passing,
	}, func(r HTTPReply) {
		s.rest(r)
		e.worker.link.flush()
	})
	if !sent {
		s.rest(HTTPReply{})
	}
}

// rest takes the end of a part that was asked for.
func (s *stream) rest(r HTTPReply) {
	e := s.execution
	if e.ended {
		return
	}
	whole := s.partEnded(r)
	switch {
	case s.decided():
		e.finished(s.reply())
	case (s.part.taken || mayComeLater(r)) && !r.Unread && s.resume(whole):
	default:
		e.end(ending{class: wire.ClassUnknown})
	}
}

// mayComeLater says whether a reply that is not the rest of the stream leaves hope for it: nothing came of the server, or
// it is busy, restarting, or does not know yet that the connection before has ended (409).
func mayComeLater(r HTTPReply) bool {
	if header(r.Headers, headerDetails) != viaUpstream {
		return !listed(header(r.Headers, headerFlags), flagUnrouted) // a route that takes the call alone stays as it is
	}
	switch r.Status {
	case 408, 409, 425, 429, 502, 503, 504:
		return true
	}
	return false
}

// resumeHeaders are those of a request for the rest of the call's stream: the session's, the protocol's and the caller's
// credentials as the call itself carried them, without what is about the call's body or its execution.
func (c *Call) resumeHeaders(lastID string) [][2]string {
	headers := slices.DeleteFunc(c.toolHeaders(""), func(h [2]string) bool {
		switch name := h[0]; name {
		case ":method", "accept", "last-event-id", "digest", "repr-digest":
			return true
		case "mcp-session-id", "mcp-protocol-version":
			return false
		default:
			key := c.Rule.ProviderKey
			return strings.HasPrefix(name, "content-") || c.ofSession(name) || key != nil && name == key.Header
		}
	})
	return append([][2]string{{":method", "GET"}}, append(headers, [2]string{"accept", mcp.ContentEvents}, [2]string{"last-event-id", lastID})...)
}

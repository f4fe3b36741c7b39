package mcp

import (
	"bytes"
	"time"
)

// Stream gathers the event stream that answers one tools/call. It comes in pieces, and in several parts where the server,
// or the network, ends the connection before the response: then the client asks for the rest by GET, with the id of the
// last event that it has (revisions 2025-03-26 to 2025-11-25, "Resumability and Redelivery"). An event that was cut is
// none (WHATWG HTML, server-sent events): the server sends it again.
type Stream struct {
	ID     []byte        // of the request, as its response bears it
	Final  Final         // once the response has come
	LastID string        // of the last event that bears one; empty: the stream cannot be resumed
	Retry  time.Duration // how long the server wants to be left alone before; valid where Told
	Told   bool          // the server has said so
	Events int           // how many have come whole that say something

	whole []byte // the events that have come whole, in order
	begun []byte // the beginning of another
}

// Write takes another piece.
func (s *Stream) Write(piece []byte) {
	if len(s.begun) == 0 && len(s.whole) > 0 {
		piece = bytes.TrimPrefix(piece, byteOrderMark) // it may begin a stream, and this is the middle of one
	}
	looked := len(s.begun)
	s.begun = append(s.begun, piece...)
	if EndsEvent(s.begun, looked) {
		s.take()
	}
}

// take moves the events that are whole from what has begun.
func (s *Stream) take() {
	taken := 0
	for e := range events(s.begun) {
		if e.retry >= 0 {
			s.Retry, s.Told = e.retry, true
		}
		if e.cut {
			break
		}
		taken += len(e.raw)
		s.whole = append(s.whole, e.raw...)
		if e.id != nil || e.data != nil {
			s.Events++
		}
		if e.id != nil {
			s.LastID = *e.id
		}
		if !s.Final.Told() {
			s.Final = readFinal(e.data, s.ID)
		}
	}
	s.begun = append(s.begun[:0], s.begun[taken:]...)
}

// Break ends a part: what is not whole is dropped, but for the pause that it names.
func (s *Stream) Break() {
	s.take()
	s.begun = nil
}

// Body is the stream as far as it is whole, as if it had come in one part.
func (s *Stream) Body() []byte { return s.whole }

// Size is how many bytes it keeps.
func (s *Stream) Size() int { return len(s.whole) + len(s.begun) }

package wasmhost

// half is one direction of a stream, the request or the response, on its way through the filter. It keeps the rules of
// Envoy's filter manager for a chain of this one filter: what the filter lets pass goes to out.
type half struct {
	s         *Stream
	callbacks [3]string // for headers, body, trailers
	out       func(part)

	headers, trailers           *Headers
	headersShown, trailersShown bool    // the filter can read them now
	chunk                       *[]byte // the body as the filter sees it now; nil: it does not
	pause                       pause
	passed                      bool     // the headers have
	buffering                   bool     // the filter paused in the body: it is shown the whole buffer from then on
	buffered                    []byte   // nil: there is no buffer
	seenEnd                     bool     // the last part has come
	late                        *Headers // trailers that came while all was stopped
	limit                       int
	overflow                    func()
}

// part is a piece of a message. Exactly one of the members headers, body and trailers counts.
type part struct {
	headers, trailers *Headers
	body              []byte
	end               bool
}

// pause is how far a filter has stopped a half.
type pause int

const (
	flowing    pause = iota
	paused           // nothing passes, the filter is called on
	stoppedAll       // nothing passes, the filter is not called either
)

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// call runs a callback for a part. It gives the action, and false where the stream is not to go on: the VM has failed.
func (h *half) call(n int, args ...uint64) (action uint64, ok bool) {
	i := h.s.instance
	if i == nil {
		h.s.fail()
		return 0, false
	}
	action, ran := i.call(h.s.scope, h.callbacks[n], append([]uint64{uint64(h.s.scope.id)}, args...)...)
	if i.failed {
		h.s.fail()
	} else if !ran {
		action = 0 // the filter has no such callback
	}
	if i.stopped {
		action = stopNow
	}
	defer i.finishCall()
	return action, !i.failed
}

// stopNow is the action that stands for whatever the filter returned after a local reply.
const stopNow = 99

func (h *half) onHeaders(headers *Headers, end bool) {
	h.headers, h.headersShown, h.seenEnd = headers, true, end
	action, ok := h.call(0, uint64(len(*headers)), bit(end))
	switch {
	case !ok || h.s.ended:
		h.pause = stoppedAll
	case action == 0:
		h.headersShown = false
		h.pass()
	case action == 1 && !h.s.vm.host.o.StopAllOnHeaders:
		h.pause = paused
	default:
		h.pause = stoppedAll
	}
}

func (h *half) onBody(chunk []byte, end bool) {
	h.seenEnd = h.seenEnd || end
	if h.pause == stoppedAll {
		h.buffered = append(h.bufferOf(), chunk...)
		return
	}
	data := append([]byte{}, chunk...)
	if h.buffering {
		h.buffered = append(h.bufferOf(), data...)
		if h.tooMuch() {
			return
		}
		h.chunk = &h.buffered
	} else {
		h.chunk = &data
	}
	size := len(*h.chunk)
	wasBuffering := h.buffering
	action, ok := h.call(1, uint64(size), bit(end))
	h.buffering = false
	switch {
	case !ok || h.s.ended:
		h.chunk = nil
	case action == 0:
		h.chunk = nil
		if !wasBuffering {
			if h.pause == flowing {
				h.out(part{body: data, end: end})
				return
			}
			h.buffered = append(h.bufferOf(), data...)
		}
		h.pass()
	case action == 1:
		h.buffering, h.pause = true, paused
		if !wasBuffering {
			h.buffered = append(h.bufferOf(), data...)
			if !h.tooMuch() {
				h.chunk = &h.buffered
			}
		}
	default:
		h.pause = paused
	}
}

func (h *half) onTrailers(trailers *Headers) {
	h.seenEnd = true
	if h.pause == stoppedAll {
		h.late = trailers
		return
	}
	h.trailers, h.trailersShown = trailers, true
	action, ok := h.call(2, uint64(len(*trailers)))
	switch {
	case !ok || h.s.ended:
	case action == 0:
		h.trailersShown = false
		h.pass()
	default:
		h.pause = paused
	}
}

// bufferOf is the buffer, made where there is none yet: an empty buffer is not none.
func (h *half) bufferOf() []byte {
	if h.buffered == nil {
		return []byte{}
	}
	return h.buffered
}

func (h *half) tooMuch() bool {
	if len(h.buffered) <= h.limit {
		return false
	}
	h.overflow()
	return true
}

// pass lets go on what has been stopped: headers, the buffer, trailers.
func (h *half) pass() {
	h.pause = flowing
	if !h.passed {
		h.passed = true
		h.out(part{headers: h.headers, end: h.seenEnd && h.buffered == nil && h.trailers == nil})
	}
	if h.buffered != nil {
		body := h.buffered
		h.buffered, h.buffering, h.chunk = nil, false, nil
		h.out(part{body: body, end: h.seenEnd && h.trailers == nil})
	}
	if h.trailers != nil && !h.s.ended {
		h.out(part{trailers: h.trailers, end: true})
	}
}

// resume is continue_stream, after the callback that asked for it.
func (h *half) resume() {
	switch {
	case h.s.ended || h.s.aborted && h == &h.s.request || h.headers == nil:
	case h.pause == paused:
		h.pass()
	case h.pause == stoppedAll:
		// What was held back goes through the filter now, after its headers have gone on.
		body, late := h.buffered, h.late
		h.buffered, h.late, h.pause, h.passed = nil, nil, flowing, true
		h.out(part{headers: h.headers, end: h.seenEnd && body == nil && late == nil})
		if body != nil {
			h.onBody(body, h.seenEnd && late == nil)
		}
		if late != nil && !h.s.ended {
			h.onTrailers(late)
		}
	}
}

// hide makes what the filter could read unreadable.
func (h *half) hide() { h.headersShown, h.trailersShown, h.chunk = false, false, nil }

// body is what get_buffer_bytes gives; nil: nothing.
func (h *half) body() []byte {
	if h.chunk == nil {
		return nil
	}
	return *h.chunk
}

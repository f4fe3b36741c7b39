package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"
	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm/types"

	"idem/filter/exchange"
	"idem/filter/policy"
)

// passing is the reply to a stream that executes its own call, gathered as it comes. Its head is held back until more is
// known: to the end of one that is of no use before (see [exchange.Call.Holds]), else to the first piece of its body. Its
// end is held back until the call is concluded.
type passing struct {
	reply  exchange.HTTPReply
	limit  int64 // bytes of the body that are kept
	left   int64 // of the body that is still to come, by its content-length; negative: there was none
	watch  bool  // nothing is held back or added: mode shadow
	whole  bool  // all of it is held back
	taken  bool  // its body was taken from the proxy
	begun  bool  // its head has gone on
	ended  bool  // what it came to is known, and is held back
	over   bool  // there is no more of it to come
	done   bool  // it was told what it came to
	trails bool  // it has trailers
}

func newPassing(c *exchange.Call) *passing {
	return &passing{limit: c.MostPassing(), watch: c.Rule.Mode == policy.Shadow, left: -1}
}

// OnHttpResponseHeaders takes down how the reply began.
func (s *stream) OnHttpResponseHeaders(_ int, endOfStream bool) types.Action {
	defer recovered("OnHttpResponseHeaders")
	if s.replied {
		s.keepType()
		return types.ActionContinue
	}
	p := s.passing
	if p == nil || p.done {
		return types.ActionContinue
	}
	headers, err := proxywasm.GetHttpResponseHeaders()
	if err != nil {
		s.plugin.host.Warn("the headers of a reply cannot be read: " + err.Error())
		p.begun = true
		return types.ActionContinue
	}
	for _, h := range headers {
		switch h[0] {
		case ":status":
			p.reply.Status, _ = strconv.Atoi(h[1])
		case "content-length":
			if n, err := strconv.ParseInt(h[1], 10, 64); err == nil {
				p.left = n
			}
		}
	}
	tools := slices.DeleteFunc(slices.Clone(headers), func(h [2]string) bool { return strings.HasPrefix(h[0], "x-idem-") })
	p.reply.Headers = append(tools, howItEnded()...)
	if !p.watch {
		empty := endOfStream && !s.call.ResumedByClient(p.reply)
		p.whole = empty || s.call.Holds(p.reply)
		s.foresee()
		if endOfStream && !p.whole {
			s.begin()
		}
	}
	return s.came(endOfStream, endOfStream)
}

// came says what becomes of a piece of the reply that has come. ended: what the reply came to is known; over: there is no
// more to come.
func (s *stream) came(ended, over bool) types.Action {
	p := s.passing
	p.over = p.over || over
	if ended && !p.ended {
		p.ended = true
		s.call.StreamEnded(p.reply)
		if p.begun || !p.taken {
			p.reply.Body = nil // it is the execution's now, and has gone on or will
		}
	}
	if p.watch || p.begun && !p.ended {
		return types.ActionContinue
	}
	return types.ActionPause
}

// foresee leaves in the filter state what the caller is to be told where the proxy gives up a reply whose head is held
// back: it makes a reply of its own then, past the filter, which local_reply_config gives that word (envoy/README.md).
func (s *stream) foresee() {
	r := s.call.Broken()
	setState("idem.fingerprint", s.call.Action.Fingerprint)
	setState("idem.broken", string(r.Body))
	for _, h := range r.Headers {
		if h[0] == "content-type" {
			setState("idem.broken_as", h[1])
		}
	}
}

// foreseen ends that: what is sent now is meant.
func foreseen() { setState("idem.broken_as", "-") }

// begin lets the head of a reply that streams past go on.
func (s *stream) begin() {
	s.passing.begun = true
	foreseen()
	tellOnHead(s.call.StreamBegan(s.passing.reply).Headers)
}

// tellOnHead writes our headers onto a reply of the tool's, in place of its own that look like them or like the proxy's,
// or that are not for this connection.
func tellOnHead(told [][2]string) {
	headers, err := proxywasm.GetHttpResponseHeaders()
	if err != nil {
		proxywasm.LogError("idem: a reply's headers cannot be read: " + err.Error())
	}
	named := exchange.OfConnection(headers)
	for _, h := range headers {
		if soundsLikeOurs(h[0]) || slices.Contains(named, h[0]) {
			_ = proxywasm.RemoveHttpResponseHeader(h[0])
		}
	}
	for _, h := range told {
		_ = proxywasm.AddHttpResponseHeader(h[0], h[1])
	}
}

// soundsLikeOurs says whether a header of a tool's would pass for Idem's or for the proxy's.
func soundsLikeOurs(name string) bool {
	return exchange.SoundsLikeIdem(name) || policy.ProxyHeader(name)
}

// dropTrailers removes the trailers that pass for what they are not.
func dropTrailers(get func() ([][2]string, error), remove func(string) error, passes func(string) bool) {
	trailers, err := get()
	if err != nil {
		return
	}
	for _, h := range trailers {
		if passes(h[0]) {
			_ = remove(h[0])
		}
	}
}

// OnHttpResponseBody takes a piece of the body.
func (s *stream) OnHttpResponseBody(size int, endOfStream bool) types.Action {
	defer recovered("OnHttpResponseBody")
	p := s.passing
	switch {
	case p == nil || p.done || s.replied:
		return types.ActionContinue
	case p.ended:
		return s.came(true, endOfStream) // size is of the pieces before, too
	}
	ended, responded := endOfStream, false
	if size > 0 {
		if p.left -= int64(size); p.left == 0 {
			ended = true
		}
		responded = s.take(size)
	}
	if !p.watch && !p.whole && !p.begun {
		if p.whole = responded || ended && !s.call.ResumedByClient(p.reply); !p.whole {
			s.begin()
		}
	}
	return s.came(ended || responded, endOfStream)
}

// take keeps a piece of the body, and says whether it was the last that counts. Of a reply that is held back whole it is
// taken from the proxy, whose buffer may be smaller than what is kept here; one that is too large goes on.
func (s *stream) take(size int) (ended bool) {
	p := s.passing
	reply := &p.reply
	tooMuch := int64(len(reply.Body)+size) > p.limit || !reply.Unread && !s.call.KeepReply(size)
	if reply.Unread || tooMuch && !p.whole {
		reply.Body, reply.Unread = nil, true
		s.call.StreamPassed(reply)
		return false
	}
	piece, err := proxywasm.GetHttpResponseBody(0, size)
	if err != nil {
		s.plugin.host.Warn("the body of a reply cannot be read: " + err.Error())
		reply.Status = 0 // what was read is not the reply
	}
	reply.Body = append(reply.Body, piece...)
	switch {
	case !p.whole:
		return s.call.StreamPassed(reply)
	case tooMuch:
		p.whole, p.taken = false, true
		s.giveBack()
		reply.Body, reply.Unread = nil, true
		s.call.StreamPassed(reply)
		s.begin()
	default:
		p.taken = true
		if err := proxywasm.ReplaceHttpResponseBody(nil); err != nil {
			s.plugin.host.Warn("a piece of a reply cannot be held back: " + err.Error())
		}
	}
	return false
}

// giveBack gives the proxy what was taken of a reply.
func (s *stream) giveBack() {
	if !s.passing.taken {
		return
	}
	if err := proxywasm.ReplaceHttpResponseBody(s.passing.reply.Body); err != nil {
		s.plugin.host.Warn("a reply that was held back is lost: " + err.Error())
	}
}

// OnHttpResponseTrailers ends a reply with trailers: end of stream never comes with its body.
func (s *stream) OnHttpResponseTrailers(int) types.Action {
	defer recovered("OnHttpResponseTrailers")
	p := s.passing
	if p == nil || s.replied {
		return types.ActionContinue
	}
	if !p.watch {
		dropTrailers(proxywasm.GetHttpResponseTrailers, proxywasm.RemoveHttpResponseTrailer, soundsLikeOurs)
	}
	if p.done {
		return types.ActionContinue
	}
	p.trails = true
	if !p.ended && !p.begun { // there was no body
		p.whole = true
	}
	return s.came(true, true)
}

// conclude tells the stream that is the acting context what its execution came to, and lets go on what was held back.
func (s *stream) conclude(r exchange.Reply) {
	p := s.passing
	if s.replied || p == nil || p.done {
		return
	}
	p.done = true
	foreseen()
	if r.Status != 0 && !(p.begun && p.over) {
		s.send(r) // where the tool's has begun this resets the stream, and nothing else
		return
	}
	s.tellLogs(r)
	switch {
	case !p.begun:
		tellOnHead(r.Headers)
		s.giveBack()
		p.reply.Body = nil // the proxy has it, for as long as its caller reads
	case p.trails:
		for _, h := range r.Headers {
			_ = proxywasm.AddHttpResponseTrailer(h[0], h[1])
		}
	}
	if err := proxywasm.ResumeHttpResponse(); err != nil {
		s.plugin.host.Warn("a reply cannot go on: " + err.Error())
	}
}

// logUnconcluded tells the access log of a stream that has ended before it was told what it came to.
func (s *stream) logUnconcluded() {
	if p := s.passing; !p.done && !p.watch {
		p.done = true
		s.tellLogs(s.call.Unconcluded())
	}
}

package main

import (
	"errors"
	"runtime"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"
	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm/types"

	"idem/canon"
	"idem/filter/exchange"
	"idem/filter/policy"
)

// stream is one request. A request that no rule matches passes untouched; any other is read whole, parked, and
// answered by the root context.
type stream struct {
	types.DefaultHttpContext
	plugin     *plugin
	id         uint32
	request    exchange.Request
	bodySize   int // of the request that call has taken over
	route      policy.Route
	candidates []*policy.Rule // rules that the head matches and that decide; none: the stream passes
	rule       *policy.Rule   // that the call falls under, as far as that is known
	call       *exchange.Call // parked, or watched while it passes
	passing    *passing       // the reply to a stream that executes its own call; nil: it does not
	replied    bool
	retype     *string // the reply's content-type, where the proxy has an opinion of its own
}

// OnHttpRequestHeaders finds the rules that may apply.
func (s *stream) OnHttpRequestHeaders(_ int, endOfStream bool) (action types.Action) {
	defer s.refuseOnFault("OnHttpRequestHeaders", &action)
	headers, err := proxywasm.GetHttpRequestHeaders()
	if err != nil {
		return s.unreadable("the request's headers", err)
	}
	s.readHead(headers)
	if mistake := s.readRoute(); mistake != nil {
		return s.misconfigured(mistake)
	}
	s.candidates = decisive(s.plugin.config.Candidates(s.route, s.methods(), s.request.Authority, s.request.Path))
	switch {
	case len(s.candidates) == 0:
		return types.ActionContinue
	case endOfStream:
		return s.decide()
	default:
		return types.ActionPause
	}
}

func (s *stream) readHead(headers [][2]string) {
	s.request.Headers = headers
	for _, h := range headers {
		switch h[0] {
		case ":method":
			s.request.Method = h[1]
		case ":authority":
			s.request.Authority = h[1]
		case ":path":
			s.request.Path = h[1]
		}
		if h[0] != "" && h[0][0] != ':' {
			break
		}
	}
}

// OnHttpRequestBody gathers the body. The host keeps what was paused on, so size is the whole of it.
func (s *stream) OnHttpRequestBody(size int, endOfStream bool) (action types.Action) {
	defer s.refuseOnFault("OnHttpRequestBody", &action)
	switch {
	case s.parked():
		return types.ActionPause
	case len(s.candidates) == 0:
		return types.ActionContinue
	}
	if limit, enforced := s.maxBodyBytes(); int64(size) > limit {
		if enforced {
			return s.refuse(tooLarge(limit), s.candidates[0])
		}
		return s.letPass(true)
	}
	if !endOfStream {
		return types.ActionPause
	}
	return s.takeBody(size)
}

// OnHttpRequestTrailers ends a request with trailers: end of stream never comes with the body then.
func (s *stream) OnHttpRequestTrailers(int) (action types.Action) {
	defer s.refuseOnFault("OnHttpRequestTrailers", &action)
	switch {
	case s.parked():
		return types.ActionPause
	case len(s.candidates) == 0:
		return types.ActionContinue
	}
	limit, _ := s.maxBodyBytes()
	action = s.takeBody(int(limit))
	if s.call != nil && s.call.Rule.Mode == policy.Enforce { // they go on with a stream that executes
		dropTrailers(proxywasm.GetHttpRequestTrailers, proxywasm.RemoveHttpRequestTrailer, policy.ProxyHeader)
	}
	return action
}

// takeBody copies the buffered body and decides.
func (s *stream) takeBody(size int) types.Action {
	worker := s.plugin.worker
	if full, busy := !worker.Room(size), worker.Busy(size); full || busy {
		switch _, enforced := s.maxBodyBytes(); {
		case !enforced:
			return s.letPass(true)
		case full:
			s.send(worker.Full())
		default:
			s.send(worker.Overworked())
		}
		return types.ActionPause
	}
	if size > 0 {
		body, err := proxywasm.GetHttpRequestBody(0, size)
		if err != nil && !errors.Is(err, types.ErrorStatusNotFound) {
			return s.unreadable("the request's body", err)
		}
		s.request.Body = body
	}
	defer runtime.Gosched() // the collector's work runs only when the program yields, and bodies are what it is for
	return s.decide()
}

// parked says whether the stream has been taken out of the request's path.
func (s *stream) parked() bool { return s.replied || s.call != nil && s.passing == nil }

// maxBodyBytes is the largest body that any rule which may apply takes, and whether one of them is enforced.
func (s *stream) maxBodyBytes() (limit int64, enforced bool) {
	for _, rule := range s.candidates {
		limit = max(limit, rule.MaxBodyBytes)
		enforced = enforced || rule.Mode == policy.Enforce
	}
	return limit, enforced
}

// decide reads the call under the first rule that matches and parks it.
func (s *stream) decide() types.Action {
	began := s.plugin.host.Now()
	m, err := s.match(s.candidates)
	s.plugin.worker.Read(len(s.request.Body), s.plugin.host.Now()-began)
	switch {
	case err != nil:
		return s.refuse(err, m.rule)
	case m.rule == nil:
		return s.letPass(m.unread)
	}
	s.rule = m.rule
	s.call = &exchange.Call{
		Rule: m.rule, Action: m.action, Also: s.former(m.action), Request: s.request, MCP: m.request, Caller: s,
	}
	s.bodySize, s.request.Body = len(s.request.Body), nil // the call's now, which lets go of it as soon as it can
	s.plugin.worker.Arrive(s.call)
	if m.rule.Mode == policy.Shadow {
		s.passing = newPassing(s.call)
		s.candidates = nil
		return types.ActionContinue
	}
	return types.ActionPause
}

// letPass lets the request go on as if there were no rule. unread: a rule in mode shadow would have judged it, and could
// not read it.
func (s *stream) letPass(unread bool) types.Action {
	if unread {
		s.plugin.host.Count("shadow.refused", 1)
	}
	s.candidates, s.request.Body = nil, nil
	return types.ActionContinue
}

// refuse answers a call that cannot be read under a rule; nil: under any.
func (s *stream) refuse(err *canon.Error, rule *policy.Rule) types.Action {
	protocol := canon.JSON
	if s.rule = rule; rule != nil {
		protocol = rule.Protocol
	}
	s.send(s.plugin.worker.Unreadable(err, protocol, s.request.Body))
	return types.ActionPause
}

// misconfigured answers a call on a route that says what cannot be kept. Whether it would be guarded nobody knows.
func (s *stream) misconfigured(m *policy.Mistake) types.Action {
	s.plugin.warnOnce("the metadata idem of a route is refused, and with it every call on that route: " + m.String())
	s.send(s.plugin.worker.Misconfigured("the metadata idem of this call's route is wrong: " + m.String()))
	return types.ActionPause
}

// unreadable answers a request that the host does not let the filter read.
func (s *stream) unreadable(what string, err error) types.Action {
	return s.refuse(&canon.Error{Code: "malformed_body", Offset: -1, Detail: what + " cannot be read: " + err.Error()}, nil)
}

// OnHttpStreamDone lets what runs for the caller go on without it.
func (s *stream) OnHttpStreamDone() {
	defer recovered("OnHttpStreamDone")
	if s.call != nil {
		s.call.Leave()
		if s.passing == nil {
			s.call.NeverWentOn() // counts only where the stream was about to go on
		} else {
			s.call.StreamLeft(s.passing.reply) // counts only where its reply was not complete
			s.logUnconcluded()
		}
	}
	s.replied = true
	runtime.Gosched() // for the collector, as in takeBody: most requests have small bodies, or none
}

// refuseOnFault fails closed where the filter itself is at fault: the request must not pass unguarded.
func (s *stream) refuseOnFault(callback string, action *types.Action) {
	r := recover()
	if r == nil {
		return
	}
	logFault(callback, r)
	*action = types.ActionPause
	if s.call == nil {
		s.send(s.plugin.worker.Fault())
	}
}

package main

import (
	"errors"
	"runtime"
	"strconv"
	"unicode/utf8"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"
	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm/types"

	"idem/canon"
	"idem/filter/exchange"
	"idem/filter/mcp"
	"idem/filter/policy"
	"idem/ledgerd/wire"
)

// stream is one request. A request that no rule matches passes untouched; any other is read whole, parked, and
// answered by the root context.
type stream struct {
	types.DefaultHttpContext
	plugin     *plugin
	id         uint32
	request    exchange.Request
	candidates []*policy.Rule // rules that the head matches; nil: the stream passes
	call       *exchange.Call // parked
	replied    bool
}

// OnHttpRequestHeaders finds the rules that may apply.
func (s *stream) OnHttpRequestHeaders(_ int, endOfStream bool) (action types.Action) {
	defer s.refuseOnFault("OnHttpRequestHeaders", &action)
	headers, err := proxywasm.GetHttpRequestHeaders()
	if err != nil {
		return s.refuse(&canon.Error{Code: "malformed_body", Offset: -1, Detail: "the request's headers cannot be read: " + err.Error()})
	}
	s.readHead(headers)
	s.candidates = s.plugin.config.Candidates(s.request.Method, s.request.Authority, s.request.Path)
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
	case s.replied || s.call != nil:
		return types.ActionPause
	case len(s.candidates) == 0:
		return types.ActionContinue
	}
	if limit := s.maxBodyBytes(); int64(size) > limit {
		return s.refuse(&canon.Error{Code: "body_too_large", Offset: limit,
			Detail: "the body is larger than max_body_bytes, " + strconv.FormatInt(limit, 10)})
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
	case s.replied || s.call != nil:
		return types.ActionPause
	case len(s.candidates) == 0:
		return types.ActionContinue
	}
	return s.takeBody(int(s.maxBodyBytes()))
}

// takeBody copies the buffered body and decides.
func (s *stream) takeBody(size int) types.Action {
	if size > 0 {
		body, err := proxywasm.GetHttpRequestBody(0, size)
		if err != nil && !errors.Is(err, types.ErrorStatusNotFound) {
			return s.refuse(&canon.Error{Code: "malformed_body", Offset: -1, Detail: "the request's body cannot be read: " + err.Error()})
		}
		s.request.Body = body
	}
	return s.decide()
}

// maxBodyBytes is the largest body that any rule which may apply takes.
func (s *stream) maxBodyBytes() int64 {
	limit := int64(0)
	for _, rule := range s.candidates {
		limit = max(limit, rule.MaxBodyBytes)
	}
	return limit
}

// decide reads the call under the first rule that matches and parks it.
func (s *stream) decide() types.Action {
	rule, action, request, err := s.match(s.candidates)
	switch {
	case err != nil:
		return s.refuse(err)
	case rule == nil || rule.Mode == policy.Off:
		s.candidates = nil
		return types.ActionContinue
	case int64(len(s.request.Body)) > rule.MaxBodyBytes:
		return s.refuse(&canon.Error{Code: "body_too_large", Offset: rule.MaxBodyBytes,
			Detail: "the body is larger than max_body_bytes, " + strconv.FormatInt(rule.MaxBodyBytes, 10)})
	}
	if err := checkNames(action); err != nil {
		return s.refuse(err)
	}
	also, err := s.former(action)
	if err != nil {
		return s.refuse(err)
	}
	s.call = &exchange.Call{Rule: rule, Action: action, Also: also, Request: s.request, MCP: request, Caller: s}
	s.plugin.worker.Arrive(s.call)
	return types.ActionPause
}

// match gives the first of the rules that the call falls under, and the call in its canonical form. A call that cannot
// be read under a rule is refused, also where only the rule's tools could not be judged because of that. An MCP message
// that is no tools/call falls under no rule.
func (s *stream) match(rules []*policy.Rule) (*policy.Rule, canon.Action, *mcp.Request, *canon.Error) {
	var request *mcp.Request
	for _, rule := range rules {
		if rule.Mode == policy.Off && len(rule.Match.Tools) == 0 {
			return rule, canon.Action{}, nil, nil
		}
		if rule.Protocol == canon.MCP {
			var err *canon.Error
			if request, err = mcp.Read(s.request.Body, s.header("accept")); err != nil {
				return nil, canon.Action{}, nil, err
			}
			if request == nil {
				continue
			}
		}
		action, err := rule.Canon.Read(s.canonCall())
		if err != nil {
			return nil, action, nil, canonError(err)
		}
		if rule.Match.MatchesTool(action.Tool) {
			return rule, action, request, nil
		}
	}
	return nil, canon.Action{}, nil, nil
}

func canonError(err error) *canon.Error {
	var unreadable *canon.Error
	if !errors.As(err, &unreadable) {
		unreadable = &canon.Error{Code: "malformed_body", Offset: -1, Detail: err.Error()}
	}
	return unreadable
}

// former gives what each of the configuration's predecessors would have called this call.
func (s *stream) former(action canon.Action) ([]wire.Identity, *canon.Error) {
	var also []wire.Identity
	for _, f := range s.plugin.config.Previous {
		rules := f.Candidates(s.request.Method, s.request.Authority, s.request.Path)
		rule, was, _, err := s.match(rules)
		if err != nil {
			return nil, err
		}
		if rule != nil && rule.Mode != policy.Off && was.Fingerprint != action.Fingerprint {
			also = append(also, wire.Identity{Intent: was.Intent, Fingerprint: was.Fingerprint})
		}
	}
	return also, nil
}

// checkNames refuses what the ledger could not tell apart or keep: names that are no UTF-8 or beyond its limit.
func checkNames(action canon.Action) *canon.Error {
	for _, n := range [...]struct{ what, text string }{{"run id", action.Run}, {"tool's name", action.Tool}} {
		if len(n.text) > wire.MaxText {
			return &canon.Error{Code: "malformed_body", Offset: -1,
				Detail: "the " + n.what + " has " + strconv.Itoa(len(n.text)) + " bytes; at most " + strconv.Itoa(wire.MaxText) + " are allowed"}
		}
		if !utf8.ValidString(n.text) {
			return &canon.Error{Code: "malformed_body", Offset: -1, Detail: "the " + n.what + " is no UTF-8"}
		}
	}
	return nil
}

func (s *stream) canonCall() canon.Call {
	return canon.Call{
		Method: s.request.Method, Host: s.request.Authority, Path: s.request.Path,
		Header: s.header, Metadata: metadata, Body: s.request.Body,
	}
}

// header gives the values of a request header by its lower-case name.
func (s *stream) header(name string) []string {
	var values []string
	for _, h := range s.request.Headers {
		if h[0] == name {
			values = append(values, h[1])
		}
	}
	return values
}

// metadata gives a text of the stream's dynamic metadata, where jwt_authn leaves the claims that it verified.
func metadata(path []string) string {
	value, err := proxywasm.GetProperty(append([]string{"metadata", "filter_metadata"}, path...))
	if err != nil {
		return ""
	}
	return string(value)
}

// refuse answers a call that cannot be read.
func (s *stream) refuse(err *canon.Error) types.Action {
	protocol := canon.JSON
	if len(s.candidates) > 0 {
		protocol = s.candidates[0].Protocol
	}
	s.send(exchange.Unreadable(err, protocol))
	return types.ActionPause
}

// Reply answers the parked stream. It runs in the root context, and puts that context back as the one that acts.
func (s *stream) Reply(r exchange.Reply) {
	if err := proxywasm.SetEffectiveContext(s.id); err != nil {
		return // the stream has gone
	}
	s.send(r)
	if err := proxywasm.SetEffectiveContext(s.plugin.id); err != nil {
		proxywasm.LogCritical("idem: the root context cannot act again: " + err.Error())
	}
}

// send answers the stream that is the acting context.
func (s *stream) send(r exchange.Reply) {
	if s.replied {
		return
	}
	s.replied = true
	setState("idem.outcome", r.Outcome)
	if r.Code != "" {
		setState("idem.code", r.Code)
	}
	if s.call != nil {
		setState("idem.fingerprint", s.call.Action.Fingerprint)
		setState("idem.rule", s.call.Rule.Name)
	}
	if err := proxywasm.SendHttpResponse(uint32(r.Status), r.Headers, r.Body, -1); err != nil {
		proxywasm.LogError("idem: a reply could not be sent: " + err.Error())
	}
}

// setState leaves a value in the stream's filter state, for access logs: wasm.<name>.
func setState(name, value string) {
	if err := proxywasm.SetProperty([]string{name}, []byte(value)); err != nil {
		proxywasm.LogDebug("idem: filter state " + name + ": " + err.Error())
	}
}

// OnHttpStreamDone lets what runs for the caller go on without it.
func (s *stream) OnHttpStreamDone() {
	defer recovered("OnHttpStreamDone")
	if s.call != nil {
		s.call.Leave()
	}
	s.replied = true
	runtime.Gosched() // the collector's background work runs only when the program yields
}

// refuseOnFault fails closed where the filter itself is at fault: the request must not pass unguarded.
func (s *stream) refuseOnFault(callback string, action *types.Action) {
	r := recover()
	if r == nil {
		return
	}
	trapped(callback, r)
	*action = types.ActionPause
	if s.call == nil {
		s.send(exchange.Fault())
	}
}

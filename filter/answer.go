package main

import (
	"strconv"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"

	"idem/filter/exchange"
)

// Reply answers the parked stream. It runs in the root context, and puts that context back as the one that acts.
func (s *stream) Reply(r exchange.Reply) {
	s.plugin.outbox.put(func() { s.act(func() { s.send(r) }) })
}

// GoOn lets the parked stream go on to the tool, to execute its call itself. It runs in the root context.
func (s *stream) GoOn(headers [][2]string) {
	s.plugin.outbox.put(func() { s.act(func() { s.goOn(headers) }) })
}

// goOn resumes the stream that is the acting context, with other headers.
func (s *stream) goOn(headers [][2]string) {
	if s.bodySize > 0 {
		headers = append(headers, [2]string{"content-length", strconv.Itoa(s.bodySize)})
	}
	if scheme := s.header(":scheme"); len(scheme) > 0 {
		headers = append([][2]string{{":scheme", scheme[0]}}, headers...)
	}
	err := proxywasm.ReplaceHttpRequestHeaders(headers)
	if err == nil {
		err = proxywasm.ResumeHttpRequest()
	}
	if err != nil {
		s.plugin.host.Warn("a call cannot go on: " + err.Error())
		s.call.NeverWentOn()
		s.send(s.plugin.worker.Fault())
		return
	}
	s.passing = newPassing(s.call)
}

// Conclude tells the stream that has gone on what came of it. It runs in the root context.
func (s *stream) Conclude(r exchange.Reply) {
	s.plugin.outbox.put(func() { s.act(func() { s.conclude(r) }) })
}

// act runs do with this stream as the acting context. A stream that has gone does nothing.
func (s *stream) act(do func()) {
	if proxywasm.SetEffectiveContext(s.id) != nil {
		return
	}
	defer func() {
		if err := proxywasm.SetEffectiveContext(s.plugin.id); err != nil {
			proxywasm.LogCritical("idem: the root context cannot act again: " + err.Error())
		}
	}()
	do()
}

// send answers the stream that is the acting context.
func (s *stream) send(r exchange.Reply) {
	if s.replied {
		return
	}
	s.replied = true
	s.tellLogs(r)
	s.mindType(r)
	if err := proxywasm.SendHttpResponse(uint32(r.Status), r.Headers, r.Body, -1); err != nil {
		proxywasm.LogError("idem: a reply could not be sent: " + err.Error())
	}
}

// mindType remembers the reply's content-type where Envoy changes it: it calls a body without one text/plain, and takes it
// from a reply without a body.
func (s *stream) mindType(r exchange.Reply) {
	kind := ""
	for _, h := range r.Headers {
		if h[0] == "content-type" {
			kind = h[1]
		}
	}
	if (kind == "") != (len(r.Body) == 0) {
		s.retype = &kind
	}
}

// keepType has a reply of ours bear the content-type that it was given. It runs while the reply is sent.
func (s *stream) keepType() {
	var err error
	switch {
	case s.retype == nil:
	case *s.retype == "":
		err = proxywasm.RemoveHttpResponseHeader("content-type")
	default:
		err = proxywasm.ReplaceHttpResponseHeader("content-type", *s.retype)
	}
	if err != nil {
		s.plugin.host.Warn("a reply's content-type cannot be kept: " + err.Error())
	}
}

// tellLogs leaves in the stream's filter state what access logs may show: wasm.idem.outcome, … (envoy/README.md has them
// all).
func (s *stream) tellLogs(r exchange.Reply) {
	setState("idem.outcome", r.Outcome)
	setState("idem.code", r.Code)
	setState("idem.attempt", r.Attempt)
	setState("idem.hold", r.Hold)
	setState("idem.traceparent", r.Traceparent)
	if s.rule != nil {
		setState("idem.rule", s.rule.Name)
	}
	if s.call == nil {
		return
	}
	action := &s.call.Action
	setState("idem.tool", action.Tool)
	setState("idem.run", action.Run)
	setState("idem.fingerprint", action.Fingerprint)
	if action.Intent != action.Fingerprint {
		setState("idem.intent", action.Intent)
	}
}

// setState leaves a text in the stream's filter state. An empty one is not there.
func setState(name, value string) {
	if value == "" {
		return
	}
	if err := proxywasm.SetProperty([]string{name}, []byte(value)); err != nil {
		proxywasm.LogDebug("idem: filter state " + name + ": " + err.Error())
	}
}

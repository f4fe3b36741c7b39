package wasmhost

import (
	"net/http"
	"slices"
	"strconv"
)

// toUpstream takes what the filter lets pass of the request.
func (s *Stream) toUpstream(p part) {
	if s.upstream == nil {
		s.upstream = &Upstream{}
	}
	switch {
	case p.headers != nil:
		s.upstream.Headers = p.headers.clone()
	case p.trailers != nil:
		s.upstream.Trailers = p.trailers.clone()
	default:
		s.upstream.Body = append(s.upstream.Body, p.body...)
	}
	s.upstream.Ended = s.upstream.Ended || p.end
}

// toCaller takes what the filter lets pass of the response.
func (s *Stream) toCaller(p part) {
	switch {
	case p.headers != nil:
		status, err := strconv.Atoi(p.headers.Get(":status"))
		if err != nil {
			s.end("the response has no status")
			return
		}
		headers := p.headers.clone()
		headers.remove(":status")
		s.reply = &Response{Status: status, Headers: headers, Details: s.details}
	case p.trailers != nil:
		s.reply.Trailers = p.trailers.clone()
	default:
		s.reply.Body = append(s.reply.Body, p.body...)
	}
	if p.end {
		s.replyDone = true
		s.end(s.details)
	}
}

// localReply is a response that Envoy makes. It goes through the filter's own response callbacks.
func (s *Stream) localReply(status int, extra Headers, body []byte, details string, failing bool) {
	switch {
	case s.ended:
		return
	case s.response.passed:
		s.end(details)
		return
	case s.response.headers != nil:
		s.directReply(status, extra, body, details)
		return
	}
	s.begin(details)
	s.failing = s.failing || failing
	headers, body := s.localHeaders(status, extra, body)
	if s.failing {
		s.sendDirect(headers, body)
		return
	}
	s.response.onHeaders(&headers, len(body) == 0)
	if len(body) > 0 && !s.ended {
		s.response.onBody(body, true)
	}
}

// directReply is a local reply in the place of a response that has begun to pass the filter: it does not go through it.
func (s *Stream) directReply(status int, extra Headers, body []byte, details string) {
	s.begin(details)
	if rewrite := s.vm.host.o.LocalReplies; rewrite != nil {
		status, extra, body = rewrite(s, status, extra, body)
	}
	headers, body := s.localHeaders(status, extra, body)
	s.sendDirect(headers, body)
}

func (s *Stream) begin(details string) {
	s.details, s.local, s.aborted = details, true, true
}

func (s *Stream) localHeaders(status int, extra Headers, body []byte) (Headers, []byte) {
	headers := append(Headers{{":status", strconv.Itoa(status)}}, extra.clone()...)
	if len(body) > 0 {
		headers.set("content-length", strconv.Itoa(len(body)))
		if headers.Get("content-type") == "" {
			headers.add("content-type", "text/plain")
		}
	}
	if s.request.headers != nil && s.request.headers.Get(":method") == "HEAD" {
		body = nil
	}
	return headers, body
}

func (s *Stream) sendDirect(headers Headers, body []byte) {
	s.response.headers = &headers
	s.toCaller(part{headers: &headers, end: len(body) == 0})
	if len(body) > 0 && !s.ended {
		s.toCaller(part{body: body, end: true})
	}
}

// fail answers a stream whose VM cannot run its callback.
func (s *Stream) fail() {
	if !s.failing {
		s.localReply(http.StatusServiceUnavailable, nil, nil, "wasm_fail_stream", true)
	}
}

// end is the end of the stream, for whatever reason: the filter is told to log it, that it is done, and to forget it.
func (s *Stream) end(details string) {
	if s.ended {
		return
	}
	s.ended, s.aborted, s.details = true, true, details
	if s.upstream != nil && !(s.replyDone && !s.local) {
		s.upstream.Reset = true
	}
	s.vm.streams = slices.DeleteFunc(s.vm.streams, func(other *Stream) bool { return other == s })
	i := s.instance
	if i == nil {
		return
	}
	id := uint64(s.scope.id)
	s.logging = true
	i.call(s.scope, "proxy_on_log", id)
	i.finishCall()
	s.logging = false
	i.call(s.scope, "proxy_on_done", id)
	i.finishCall()
	i.call(s.scope, "proxy_on_delete", id)
	i.finishCall()
	delete(i.scopes, s.scope.id)
	i.streams--
	i.maybeEndRoot()
}

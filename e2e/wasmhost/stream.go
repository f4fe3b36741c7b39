package wasmhost

import (
	"net/http"
	"strconv"
	"strings"
)

// Stream is one HTTP request of a caller, on its way through the filter.
type Stream struct {
	vm       *VM
	instance *instance // nil: there was none to take the stream
	scope    *scope

	request, response half
	upstream          *Upstream
	reply             *Response // as far as the caller has got it
	replyDone         bool
	details           string
	local             bool // the response is a local reply
	aborted           bool // the request's callbacks are over
	answered          bool // the filter has sent a local reply
	failing           bool // the VM failed under it: no callback is to run
	logging           bool
	ended             bool
	extra             int
	filterState       map[string]string
	properties        map[string]string
	route             map[string]any
}

// Upstream is what the filter let go on to the route's cluster.
type Upstream struct {
	Headers  Headers
	Body     []byte
	Trailers Headers
	Ended    bool // the whole request has gone on
	Reset    bool // it was broken off, because the stream ended before its response
}

// Request is a whole request.
type Request struct {
	Method     string // POST
	Path       string // /
	Authority  string // localhost
	Headers    Headers
	Body       []byte
	Trailers   Headers
	Properties map[string]string // besides those of the host's options
	Route      map[string]any    // the filter_metadata of the request's route
}

// Request sends a whole request as Envoy reads it from HTTP/1.1: the body in one piece, its end in an empty one of its
// own. Headers that begin with a colon take the place of the members.
func (vm *VM) Request(r Request) *Stream {
	h := Headers{{":method", "POST"}, {":path", "/"}, {":authority", "localhost"}, {":scheme", "http"}}
	for i, value := range []string{r.Method, r.Path, r.Authority} {
		if value != "" {
			h[i][1] = value
		}
	}
	for _, p := range r.Headers {
		if strings.HasPrefix(p[0], ":") {
			h.set(p[0], p[1])
		} else {
			h.add(p[0], p[1])
		}
	}
	s := vm.open(h, r.Properties, r.Route, len(r.Body) == 0 && r.Trailers == nil)
	if len(r.Body) > 0 {
		s.send(r.Body, false)
	}
	if r.Trailers != nil {
		s.sendTrailers(r.Trailers)
	} else if len(r.Body) > 0 {
		s.send(nil, true)
	}
	vm.host.settle()
	return s
}

// Open sends a request's headers. Its body and trailers follow by [Stream.Send] and [Stream.SendTrailers].
func (vm *VM) Open(headers Headers, end bool) *Stream {
	s := vm.open(headers.clone(), nil, nil, end)
	vm.host.settle()
	return s
}

func (vm *VM) open(headers Headers, properties map[string]string, route map[string]any, end bool) *Stream {
	s := &Stream{vm: vm, instance: vm.ready(), filterState: map[string]string{}, properties: properties, route: route}
	limit := vm.host.o.BufferLimit
	s.request = half{
		s: s, limit: limit, out: s.toUpstream,
		callbacks: [3]string{"proxy_on_request_headers", "proxy_on_request_body", "proxy_on_request_trailers"},
		overflow: func() {
			s.localReply(http.StatusRequestEntityTooLarge, nil, []byte("Payload Too Large"), "request_payload_too_large", false)
		},
	}
	s.response = half{
		s: s, limit: limit, out: s.toCaller,
		callbacks: [3]string{"proxy_on_response_headers", "proxy_on_response_body", "proxy_on_response_trailers"},
		overflow: func() {
			if s.response.passed {
				s.end("response_payload_too_large")
			} else {
				s.directReply(http.StatusInternalServerError, nil, []byte("Internal Server Error"), "response_payload_too_large")
			}
		},
	}
	vm.streams = append(vm.streams, s)
	if i := s.instance; i != nil {
		i.streams++
		s.scope = i.newScope(s)
		i.call(s.scope, "proxy_on_context_create", uint64(s.scope.id), uint64(i.root.id))
		i.finishCall()
	}
	s.request.onHeaders(&headers, end)
	return s
}

// Send sends a piece of the request's body.
func (s *Stream) Send(chunk []byte, end bool) {
	s.send(chunk, end)
	s.vm.host.settle()
}

func (s *Stream) send(chunk []byte, end bool) {
	if !s.ended && !s.aborted {
		s.request.onBody(chunk, end)
	}
}

// SendTrailers ends the request with trailers.
func (s *Stream) SendTrailers(trailers Headers) {
	s.sendTrailers(trailers)
	s.vm.host.settle()
}

func (s *Stream) sendTrailers(trailers Headers) {
	if !s.ended && !s.aborted {
		t := trailers.clone()
		s.request.onTrailers(&t)
	}
}

// Disconnect is the caller going away.
func (s *Stream) Disconnect() {
	s.end("downstream_remote_disconnect")
	s.vm.host.settle()
}

// Reply is the response that the caller has got, whole. nil: it has not.
func (s *Stream) Reply() *Response {
	if !s.replyDone {
		return nil
	}
	return s.reply
}

// Partial is as much of a response as the caller has got so far. nil: nothing.
func (s *Stream) Partial() *Response { return s.reply }

// LocalReply is [Stream.Reply] where Envoy made the response, for the filter or by itself; nil where it did not.
func (s *Stream) LocalReply() *Response {
	if !s.local {
		return nil
	}
	return s.Reply()
}

// Upstream is what the filter let go on. nil: nothing.
func (s *Stream) Upstream() *Upstream { return s.upstream }

// Parked reports whether the caller waits: nothing went on, nothing came back, and it is still there.
func (s *Stream) Parked() bool { return !s.ended && s.upstream == nil && s.reply == nil }

// Ended reports whether the stream is over, by a response or without one.
func (s *Stream) Ended() bool { return s.ended }

// Details is Envoy's response code details of a stream that has ended.
func (s *Stream) Details() string { return s.details }

// Extra counts the filter's local replies after its first. As in Envoy, one that comes while another response still passes
// the filter takes its place, one that comes while a response reaches the caller breaks that off, and one that comes
// later is dropped.
func (s *Stream) Extra() int { return s.extra }

// FilterState is what the filter set as a property: set_property of "x" is found under "wasm.x".
func (s *Stream) FilterState(name string) (value string, known bool) {
	value, known = s.filterState[name]
	return value, known
}

// Respond answers what went on upstream, whole, as from HTTP/1.1: the end of a body comes in an empty piece of its own.
func (s *Stream) Respond(status int, headers Headers, body []byte) {
	s.respondHeaders(status, headers, len(body) == 0)
	if len(body) > 0 {
		s.respondBody(body, false)
		s.respondBody(nil, true)
	}
	s.vm.host.settle()
}

// RespondHeaders answers what went on upstream; body and trailers follow.
func (s *Stream) RespondHeaders(status int, headers Headers, end bool) {
	s.respondHeaders(status, headers, end)
	s.vm.host.settle()
}

// RespondBody sends a piece of the upstream's response.
func (s *Stream) RespondBody(chunk []byte, end bool) {
	s.respondBody(chunk, end)
	s.vm.host.settle()
}

// RespondTrailers ends the upstream's response with trailers.
func (s *Stream) RespondTrailers(trailers Headers) {
	if t := trailers.clone(); !s.ended && !s.local {
		s.response.onTrailers(&t)
	}
	s.vm.host.settle()
}

// ResetUpstream breaks the upstream request off: 503 where nothing of its response has reached the caller, else the stream
// ends.
func (s *Stream) ResetUpstream() {
	switch {
	case s.ended || s.local:
	case s.response.headers == nil:
		s.localReply(http.StatusServiceUnavailable, nil, []byte("upstream connect error or disconnect/reset before headers. reset reason: connection termination"), "upstream_reset_before_response_started{connection_termination}", false)
	default:
		const details = "upstream_reset_after_response_started{connection_termination}"
		s.localReply(http.StatusServiceUnavailable, nil, []byte("upstream connect error or disconnect/reset before headers. reset reason: connection termination"), details, false)
	}
	s.vm.host.settle()
}

func (s *Stream) respondHeaders(status int, headers Headers, end bool) {
	if s.upstream == nil {
		panic("wasmhost: nothing went on upstream that could be answered")
	}
	if s.ended || s.local {
		return
	}
	s.details = "via_upstream"
	all := append(Headers{{":status", strconv.Itoa(status)}}, headers.clone()...)
	s.response.onHeaders(&all, end)
}

func (s *Stream) respondBody(chunk []byte, end bool) {
	if !s.ended && !s.local {
		s.response.onBody(chunk, end)
	}
}

// pairs finds a map of the stream; nil: it cannot be read now.
func (s *Stream) pairs(kind uint32) *Headers {
	find := func(h *half, trailers bool) *Headers {
		switch {
		case trailers && (h.trailersShown || s.logging):
			return h.trailers
		case !trailers && (h.headersShown || s.logging):
			return h.headers
		}
		return nil
	}
	switch kind {
	case requestHeaders:
		return find(&s.request, false)
	case requestTrailers:
		if s.logging {
			return nil
		}
		return find(&s.request, true)
	case responseHeaders:
		return find(&s.response, false)
	default:
		return find(&s.response, true)
	}
}

// property finds what get_property asks for.
func (c *scope) property(path string) (string, bool) {
	o := c.instance.vm.host.o
	switch path {
	case "plugin_root_id":
		return o.RootID, true
	case "plugin_vm_id":
		return o.VMID, true
	}
	s := c.stream
	if s == nil {
		return "", false
	}
	if value, known := s.properties[path]; known {
		return value, true
	}
	if value, known := o.Properties[path]; known {
		return value, true
	}
	if value, known := s.filterState["wasm."+path]; known {
		return value, true
	}
	if s.request.headers == nil {
		return "", false
	}
	h := *s.request.headers
	plain, _, _ := strings.Cut(h.Get(":path"), "?")
	switch path {
	case "request.path":
		return h.Get(":path"), true
	case "request.url_path":
		return plain, true
	case "request.method":
		return h.Get(":method"), true
	case "request.host":
		return h.Get(":authority"), true
	case "request.scheme":
		return h.Get(":scheme"), true
	case "response.code_details":
		return s.details, s.details != ""
	}
	if name, is := strings.CutPrefix(path, "request.headers."); is {
		return h.lookup(name)
	}
	return "", false
}

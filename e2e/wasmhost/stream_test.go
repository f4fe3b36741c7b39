package wasmhost_test

import (
	"reflect"
	"strings"
	"testing"

	"idem/e2e/wasmhost"
)

const noPath = "path  (error status returned by host: bad argument)"

func TestWhatTheFilterLetsPassGoesOnAndItsResponseComesBack(t *testing.T) {
	h, tr := start(t, wasmhost.Options{})
	s := h.VM(0).Request(wasmhost.Request{Path: "/pass", Headers: header("X-A", "1"), Body: []byte("body"), Trailers: header("x-t", "t")})
	tr.expect("request_headers 5 false", "request_body 4 false 4", noPath, "request_trailers 1 t")
	up := s.Upstream()
	if up == nil || !up.Ended || string(up.Body) != "body" || up.Headers.Get("x-a") != "1" || up.Trailers.Get("x-t") != "t" {
		t.Fatalf("upstream got %+v", up)
	}
	if s.Reply() != nil || s.Ended() {
		t.Fatal("the stream is over before its response")
	}
	s.RespondHeaders(201, header("x-b", "2"), false)
	s.RespondBody([]byte("one "), false)
	s.RespondBody([]byte("two"), false)
	if got := s.Partial(); got == nil || string(got.Body) != "one two" || s.Reply() != nil {
		t.Fatalf("so far the caller has %+v, whole %v", got, s.Reply())
	}
	s.RespondTrailers(header("x-end", "e"))
	tr.expect("response_headers 2 false 201", "response_body 4 false one ", "response_body 3 false two", "response_trailers 1", "done /pass 201")
	want := wasmhost.Response{Status: 201, Headers: header("x-b", "2", "x-seen", "yes"), Body: []byte("one two"), Trailers: header("x-end", "e"), Details: "via_upstream"}
	if got := s.Reply(); got == nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("the caller got %+v, want %+v", got, want)
	}
	if s.LocalReply() != nil || !s.Ended() || up.Reset {
		t.Error("it is not a response of upstream")
	}
}

func TestALocalReplyWaitsForTheCallbackAndPassesTheFilter(t *testing.T) {
	h, tr := start(t, wasmhost.Options{})
	s := h.VM(0).Request(wasmhost.Request{Path: "/reply"})
	tr.expect("request_headers 4 true", "replied", "response_headers 5 false 418", "response_body 15 true short and stout", "done /reply 418")
	got := s.LocalReply()
	if got == nil || got.Status != 418 || string(got.Body) != "short and stout" {
		t.Fatalf("the caller got %+v", got)
	}
	want := header("content-type", "text/x", "x-a", "1", "x-a", "2", "content-length", "15", "x-seen", "yes")
	if !reflect.DeepEqual(got.Headers, want) {
		t.Errorf("headers %v, want %v", got.Headers, want)
	}
	if s.Upstream() != nil {
		t.Error("the request went on, although the callback said continue after it had replied")
	}
}

func TestALocalReplyWithoutBodyEndsWithItsHeaders(t *testing.T) {
	h, tr := start(t, wasmhost.Options{})
	s := h.VM(0).Request(wasmhost.Request{Path: "/reply-empty", Body: []byte("never seen")})
	tr.expect("request_headers 4 false", "response_headers 1 true 204", "done /reply-empty 204")
	if got := s.LocalReply(); got == nil || got.Status != 204 || len(got.Body) != 0 || got.Headers.Get("content-length") != "" {
		t.Errorf("the caller got %+v", got)
	}
}

func TestAnAnswerToHEADHasNoBody(t *testing.T) {
	h, tr := start(t, wasmhost.Options{})
	s := h.VM(0).Request(wasmhost.Request{Method: "HEAD", Path: "/reply"})
	tr.expect("request_headers 4 true", "replied", "response_headers 5 true 418", "done /reply 418")
	if got := s.LocalReply(); got == nil || len(got.Body) != 0 || got.Headers.Get("content-length") != "15" {
		t.Errorf("the caller got %+v", got)
	}
}

func TestAPausedBodyIsShownWholeEachTime(t *testing.T) {
	h, tr := start(t, wasmhost.Options{})
	s := h.VM(0).Open(header(":method", "POST", ":path", "/body"), false)
	s.Send([]byte("one "), false)
	s.Send([]byte("two "), false)
	if !s.Parked() {
		t.Fatal("it is not parked")
	}
	s.Send([]byte("three"), true)
	tr.expect("request_headers 2 false",
		"request_body 4 false 4", "path /body", "request_body 8 false 8", "path /body", "request_body 13 true 13", "path /body",
		"response_headers 3 false 200", "response_body 13 true one two three", "done /body 200")
	if got := s.LocalReply(); got == nil || string(got.Body) != "one two three" {
		t.Errorf("the caller got %+v", got)
	}
}

func TestARequestOverTheBufferIsRefusedByEnvoy(t *testing.T) {
	for name, chunks := range map[string][]string{"at once": {"0123456789"}, "in pieces": {"01234", "56789"}} {
		h, _ := start(t, wasmhost.Options{BufferLimit: 9})
		s := h.VM(0).Open(header(":path", "/body"), false)
		for _, c := range chunks {
			s.Send([]byte(c), false)
		}
		if got := s.LocalReply(); got == nil || got.Status != 413 || got.Details != "request_payload_too_large" {
			t.Errorf("%s: the caller got %+v", name, got)
		}
	}
}

func TestAReplacedBodyGoesOn(t *testing.T) {
	h, _ := start(t, wasmhost.Options{})
	for path, want := range map[string]string{"/replace": "replaced", "/append": "b<>"} {
		s := h.VM(0).Request(wasmhost.Request{Path: path, Body: []byte("b")})
		if up := s.Upstream(); up == nil || string(up.Body) != want || !up.Ended {
			t.Errorf("%s: upstream got %+v", path, up)
		}
	}
	s := h.VM(0).Open(header(":path", "/replace"), false)
	s.Send([]byte("a"), false)
	s.Send([]byte("b"), true)
	if up := s.Upstream(); up == nil || string(up.Body) != "replaced" {
		t.Errorf("in pieces: upstream got %+v", up)
	}
}

func TestAPauseOnHeadersCanStopTheBodysCallbacksToo(t *testing.T) {
	h, tr := start(t, wasmhost.Options{StopAllOnHeaders: true})
	s := h.VM(0).Request(wasmhost.Request{Path: "/body", Body: []byte("b"), Trailers: header("x-t", "t")})
	tr.expect("request_headers 4 false")
	if !s.Parked() {
		t.Error("it is not parked")
	}
}

func TestAParkedStreamIsAnsweredOverTheQueueLater(t *testing.T) {
	h, tr := start(t, wasmhost.Options{Manual: true})
	s := h.VM(0).Request(wasmhost.Request{Path: "/park", Body: []byte("b")})
	tr.expect("request_headers 4 false", "request_body 1 false 1", "path /park", "request_body 1 true 1", "path /park")
	if !s.Parked() {
		t.Fatal("it is not parked")
	}
	h.Run()
	tr.expect("queue answer 2", "response_headers 4 false 200", "response_body 10 true by a queue", "done /park 200")
	if got := s.LocalReply(); got == nil || string(got.Body) != "by a queue" || got.Headers.Get("x-probe") != "yes" {
		t.Errorf("the caller got %+v", got)
	}
	if s.Extra() != 0 {
		t.Errorf("%d answers came after the first", s.Extra())
	}
}

func TestASecondAnswerInOneCallbackTakesTheFirstOnesPlace(t *testing.T) {
	h, tr := start(t, wasmhost.Options{})
	s := h.VM(0).Request(wasmhost.Request{Path: "/park-twice"})
	tr.expect("request_headers 4 true", "queue answer-twice 2", "response_headers 4 false 200", "done /park-twice 201")
	if got := s.LocalReply(); got == nil || got.Status != 201 || s.Extra() != 1 {
		t.Errorf("the caller got %+v, extra %d", got, s.Extra())
	}
}

func TestWithTrailersTheEndComesWithThem(t *testing.T) {
	h, tr := start(t, wasmhost.Options{})
	s := h.VM(0).Request(wasmhost.Request{Path: "/park-trailers", Body: []byte("b"), Trailers: header("x-t", "t")})
	tr.expect("request_headers 4 false", "request_body 1 false 1", "path /park-trailers", "request_trailers 1 t", "queue answer 2",
		"response_headers 4 false 200", "response_body 10 true by a queue", "done /park-trailers 200")
	if s.LocalReply() == nil {
		t.Error("the caller got nothing")
	}
}

func TestAResumedRequestGoesOnWhole(t *testing.T) {
	h, tr := start(t, wasmhost.Options{})
	s := h.VM(0).Request(wasmhost.Request{Path: "/park-resume", Body: []byte("b")})
	tr.expect("request_headers 4 false", "request_body 1 false 1", "path /park-resume", "request_body 1 true 1", "path /park-resume", "queue resume 2", "resume")
	if up := s.Upstream(); up == nil || string(up.Body) != "b" || !up.Ended {
		t.Errorf("upstream got %+v", up)
	}
	h, tr = start(t, wasmhost.Options{StopAllOnHeaders: true, Manual: true})
	s = h.VM(0).Open(header(":path", "/park-resume"), true)
	h.Run()
	tr.expect("request_headers 1 true", "queue resume 2", "resume")
	if up := s.Upstream(); up == nil || !up.Ended {
		t.Errorf("upstream got %+v", up)
	}
}

func TestACallerThatLeavesWhileParkedIsForgotten(t *testing.T) {
	h, tr := start(t, wasmhost.Options{Manual: true})
	s := h.VM(0).Request(wasmhost.Request{Path: "/park", Body: []byte("b")})
	tr.next()
	s.Disconnect()
	tr.expect("done /park  (error status returned by host: not found)")
	if !s.Ended() || s.Reply() != nil || len(h.VM(0).Streams()) != 0 {
		t.Error("the stream is still there")
	}
	h.Run() // the context is gone: set_effective_context refuses it
	tr.expect("queue answer 2", "effective (error status returned by host: bad argument)")
	s.Send([]byte("more"), true)
	tr.expect()
}

func TestADisconnectBreaksOffWhatWentOn(t *testing.T) {
	h, _ := start(t, wasmhost.Options{})
	s := h.VM(0).Request(wasmhost.Request{Path: "/pass"})
	s.Disconnect()
	if !s.Upstream().Reset || s.Details() != "downstream_remote_disconnect" {
		t.Errorf("upstream %+v, details %q", s.Upstream(), s.Details())
	}
}

func TestHeadersAreChangedAsEnvoyDoes(t *testing.T) {
	h, tr := start(t, wasmhost.Options{})
	s := h.VM(0).Request(wasmhost.Request{Path: "/headers", Headers: header("x-many", "1", "x-gone", "g", "X-Twice", "first", "x-twice", "second", "x-many", "2")})
	tr.expect("request_headers 9 true", "none  (error status returned by host: not found)", "twice first", "response  (error status returned by host: bad argument)")
	want := header(":method", "POST", ":path", "/headers", ":authority", "localhost", ":scheme", "http",
		"x-many", "one", "x-twice", "first", "x-twice", "second", "x-added", "a")
	if got := s.Upstream().Headers; !reflect.DeepEqual(got, want) {
		t.Errorf("upstream got %v, want %v", got, want)
	}
	s = h.VM(0).Request(wasmhost.Request{Path: "/set-headers"})
	if got := s.Upstream().Headers; !reflect.DeepEqual(got, header(":method", "PUT", ":path", "/new", ":authority", "a", "x-new", "")) {
		t.Errorf("upstream got %v", got)
	}
}

func TestAResponseCanBeHeldAndReplaced(t *testing.T) {
	h, tr := start(t, wasmhost.Options{})
	s := h.VM(0).Request(wasmhost.Request{Path: "/replace-response"})
	s.RespondHeaders(200, header("content-length", "3"), false)
	s.RespondBody([]byte("abc"), false)
	if s.Partial() != nil {
		t.Fatal("some of it has passed")
	}
	s.RespondBody([]byte("def"), true)
	tr.expect("request_headers 4 true", "response_headers 2 false 200", "response_body 3 false abc", "response_body 6 true abcdef", "done /replace-response 200")
	if got := s.Reply(); got == nil || string(got.Body) != "another body" || got.Headers.Get("content-length") != "" {
		t.Errorf("the caller got %+v", got)
	}
}

func TestAReplyInPlaceOfAResponseDoesNotPassTheFilterAgain(t *testing.T) {
	h, tr := start(t, wasmhost.Options{})
	s := h.VM(0).Request(wasmhost.Request{Path: "/reply-instead"})
	s.Respond(200, nil, []byte("tool"))
	tr.expect("request_headers 4 true", "response_headers 1 false 200", "done /reply-instead 502")
	if got := s.LocalReply(); got == nil || got.Status != 502 || string(got.Body) != "instead" {
		t.Errorf("the caller got %+v", got)
	}
}

func TestAnUpstreamThatBreaksOffIsA503OrAnEndInTheMiddle(t *testing.T) {
	h, _ := start(t, wasmhost.Options{})
	s := h.VM(0).Request(wasmhost.Request{Path: "/pass"})
	s.ResetUpstream()
	if got := s.LocalReply(); got == nil || got.Status != 503 || !strings.HasPrefix(got.Details, "upstream_reset_before_response_started") {
		t.Errorf("the caller got %+v", got)
	}
	s = h.VM(0).Request(wasmhost.Request{Path: "/pass"})
	s.RespondHeaders(200, nil, false)
	s.ResetUpstream()
	if s.Reply() != nil || s.Partial() == nil || !s.Ended() {
		t.Errorf("the caller got %+v, whole %v", s.Partial(), s.Reply())
	}
}

func TestAResponseOverTheBufferIsA500(t *testing.T) {
	h, _ := start(t, wasmhost.Options{BufferLimit: 4})
	s := h.VM(0).Request(wasmhost.Request{Path: "/replace-response"})
	s.RespondHeaders(200, nil, false)
	s.RespondBody([]byte("12345"), false)
	if got := s.LocalReply(); got == nil || got.Status != 500 || got.Details != "response_payload_too_large" {
		t.Errorf("the caller got %+v", got)
	}
}

func TestPropertiesAreReadAndSetAsFilterState(t *testing.T) {
	h, tr := start(t, wasmhost.Options{Properties: map[string]string{"xds.route_metadata.rule": "of all"}})
	s := h.VM(0).Request(wasmhost.Request{Path: "/properties", Properties: map[string]string{"xds.route_metadata.rule": "of this"}})
	tr.expect("request_headers 4 true", "xds.route_metadata.rule of this", "request.url_path /properties", "plugin_root_id idem",
		"nothing  (error status returned by host: not found)", "set", "get done")
	if got, known := s.FilterState("wasm.probe.outcome"); got != "done" || !known {
		t.Errorf("the filter state is %q", got)
	}
	h.VM(0).Request(wasmhost.Request{Path: "/properties"})
	if got := tr.next()[1]; got != "xds.route_metadata.rule of all" {
		t.Errorf("without one of its own: %q", got)
	}
}

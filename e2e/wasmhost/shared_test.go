package wasmhost_test

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"idem/e2e/wasmhost"
)

func TestContextIDsAreTheSameInEveryVM(t *testing.T) {
	h, tr := start(t, wasmhost.Options{VMs: 2})
	h.VM(0).Request(wasmhost.Request{Path: "/park"})
	h.VM(1).Request(wasmhost.Request{Path: "/park"})
	one := []string{"request_headers 4 true", "queue answer 2", "response_headers 4 false 200", "response_body 10 true by a queue", "done /park 200"}
	tr.expect(append(one, one...)...)
}

func TestAQueueRingsTheVMThatRegisteredItLast(t *testing.T) {
	h, _ := start(t, wasmhost.Options{VMs: 2, Manual: true})
	before := len(h.Logs(wasmhost.Info))
	h.VM(0).Request(wasmhost.Request{Path: "/common"})
	asked := len(h.Logs(wasmhost.Info))
	h.Run()
	logs := h.Logs(wasmhost.Info)
	for _, l := range logs[before:asked] {
		if l.VM != 0 {
			t.Errorf("%v before anything was delivered", l)
		}
	}
	if len(logs) != asked+1 || logs[asked] != (wasmhost.Log{VM: 1, Level: wasmhost.Info, Text: "queue hello 2"}) {
		t.Errorf("delivered: %v", logs[asked:])
	}
}

func TestSharedDataIsComparedAndSwapped(t *testing.T) {
	h, tr := start(t, wasmhost.Options{VMs: 2})
	h.VM(0).Request(wasmhost.Request{Path: "/shared"})
	tr.expect("request_headers 4 true", "first  (error status returned by host: not found)", "set", "second v1", "cas",
		"stale (error status returned by host: cas mismatch)", "foreign (error status returned by host: not found)",
		"resolve (error status returned by host: not found)")
	if got, known := h.SharedData("k"); string(got) != "v2" || !known {
		t.Errorf("the value is %q", got)
	}
	h.VM(1).Request(wasmhost.Request{Path: "/shared"})
	if got := tr.next()[1]; got != "first v2" {
		t.Errorf("the other VM sees %q", got)
	}
}

func TestAllVMsCountIntoOneMetric(t *testing.T) {
	h, tr := start(t, wasmhost.Options{VMs: 2})
	h.VM(0).Request(wasmhost.Request{Path: "/metrics"})
	h.VM(1).Request(wasmhost.Request{Path: "/metrics"})
	tr.expect("request_headers 4 true", "gauge 3 requests 1", "request_headers 4 true", "gauge 6 requests 2")
	if h.Counter("probe.requests") != 2 || h.Gauge("probe.gauge") != 6 || h.Counter("never defined") != 0 {
		t.Errorf("counter %d, gauge %d", h.Counter("probe.requests"), h.Gauge("probe.gauge"))
	}
	if got := h.Histogram("probe.histogram"); !reflect.DeepEqual(got, []uint64{7, 9, 7, 9}) {
		t.Errorf("histogram %v", got)
	}
}

func TestTheClockStandsStillUnlessItIsMoved(t *testing.T) {
	h, tr := start(t, wasmhost.Options{Start: time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC)})
	h.VM(0).Request(wasmhost.Request{Path: "/time"})
	h.Advance(1500 * time.Millisecond)
	h.VM(0).Request(wasmhost.Request{Path: "/time"})
	tr.expect("request_headers 4 true", "time 2030-01-02T03:04:05.000000006Z", "request_headers 4 true", "time 2030-01-02T03:04:06.500000006Z")
}

func TestTicksComeAtTheirMoment(t *testing.T) {
	h, tr := start(t, wasmhost.Options{Config: "tick"})
	s := h.VM(0).Request(wasmhost.Request{Path: "/park-tick"})
	h.Advance(99 * time.Millisecond)
	tr.expect("request_headers 4 true")
	h.Advance(201 * time.Millisecond)
	tr.expect("tick 00:00:00.100", "response_headers 4 false 200", "response_body 9 true by a tick", "done /park-tick 200",
		"tick 00:00:00.200", "tick 00:00:00.300")
	if s.LocalReply() == nil {
		t.Error("the caller got nothing")
	}
}

func TestACallWaitsForTheTestsAnswer(t *testing.T) {
	h, tr := start(t, wasmhost.Options{Clusters: []string{"upstream"}})
	s := h.VM(0).Request(wasmhost.Request{Path: "/park-call"})
	tr.expect("request_headers 4 true", "queue call 2")
	calls := h.CallsTo("upstream")
	if len(calls) != 1 || len(h.CallsTo("other")) != 0 {
		t.Fatalf("%d calls wait", len(calls))
	}
	c := calls[0]
	if c.Path() != "/called" || string(c.Body) != "body of a call" || c.Headers.Get("content-length") != "14" ||
		c.Trailers.Get("x-trailer") != "t" || c.Timeout != time.Second || c.VM != h.VM(0) || !c.At.Equal(h.Now()) {
		t.Errorf("the call is %+v", c)
	}
	c.RespondWith(wasmhost.Response{Status: 299, Headers: header("X-B", "b"), Body: []byte("answer"), Trailers: header("x-end", "e")})
	tr.expect("call_response 2 6 1 2 answer 1", "response_headers 4 false 299", "response_body 6 true answer", "done /park-call 299")
	if got := s.LocalReply(); got == nil || got.Status != 299 || string(got.Body) != "answer" {
		t.Errorf("the caller got %+v", got)
	}
	if len(h.Calls()) != 0 {
		t.Error("the call still waits")
	}
}

func TestACallOutlivesTheStreamThatWantedIt(t *testing.T) {
	h, tr := start(t, wasmhost.Options{Clusters: []string{"upstream"}})
	s := h.VM(0).Request(wasmhost.Request{Path: "/park-call"})
	s.Disconnect()
	tr.next()
	c := h.Calls()[0]
	if c.Cancelled() {
		t.Fatal("the call is cancelled")
	}
	c.Respond(200, nil, []byte("late"))
	tr.expect("call_response 1 4 0 1 late 0", "effective (error status returned by host: bad argument)")
}

func TestACallThatBreaksOffHasNoHeaders(t *testing.T) {
	breaks := map[string]func(*wasmhost.Call){
		"reset":    (*wasmhost.Call).Reset,
		"too long": func(c *wasmhost.Call) { c.Respond(200, nil, make([]byte, 11)) },
	}
	for name, end := range breaks {
		h, tr := start(t, wasmhost.Options{Clusters: []string{"upstream"}, CallLimit: 10})
		s := h.VM(0).Request(wasmhost.Request{Path: "/park-call"})
		tr.next()
		end(h.Calls()[0])
		if got := tr.next(); got[0] != "call_response 0 0 0 0  0 (error status returned by host: not found) (error status returned by host: not found)" {
			t.Errorf("%s: %q", name, got[0])
		}
		if got := s.LocalReply(); got == nil || got.Status != 502 {
			t.Errorf("%s: the caller got %+v", name, got)
		}
	}
}

func TestACallTimesOutWithEnvoysOwnAnswer(t *testing.T) {
	h, tr := start(t, wasmhost.Options{Clusters: []string{"upstream"}})
	s := h.VM(0).Request(wasmhost.Request{Path: "/park-call"})
	h.Advance(999 * time.Millisecond)
	if len(h.Calls()) != 1 {
		t.Fatal("it has timed out too early")
	}
	tr.next()
	h.Advance(time.Millisecond)
	if got := tr.next()[0]; got != "call_response 3 24 0 3 upstream request timeout 0" {
		t.Errorf("the filter got %q", got)
	}
	if got := s.LocalReply(); got == nil || got.Status != 504 {
		t.Errorf("the caller got %+v", got)
	}
}

func TestADispatchThatFailsHasNoCallback(t *testing.T) {
	h, tr := start(t, wasmhost.Options{Clusters: []string{"upstream"}})
	h.SetDown("upstream", true)
	for path, why := range map[string]string{"/park-call": "internal failure", "/park-call-unknown": "bad argument"} {
		tr.next()
		s := h.VM(0).Request(wasmhost.Request{Path: path})
		if got := tr.next(); got[2] != "dispatch (error status returned by host: "+why+")" {
			t.Errorf("%s: %q", path, got)
		}
		if got := s.LocalReply(); got == nil || string(got.Body) != "not dispatched" || len(h.Calls()) != 0 {
			t.Errorf("%s: the caller got %+v", path, got)
		}
	}
	h.SetDown("upstream", false)
	h.VM(0).Request(wasmhost.Request{Path: "/park-call"})
	if len(h.Calls()) != 1 {
		t.Error("the cluster is up again, but its call does not wait")
	}
}

func TestAnsweringACallTwiceIsAMistakeOfTheTest(t *testing.T) {
	h, _ := start(t, wasmhost.Options{Clusters: []string{"upstream"}})
	h.VM(0).Request(wasmhost.Request{Path: "/park-call"})
	c := h.Calls()[0]
	c.Respond(200, nil, nil)
	defer func() {
		if recover() == nil {
			t.Error("nobody notices")
		}
	}()
	c.Respond(200, nil, nil)
}

func TestAHandlerAnswersCalls(t *testing.T) {
	h, _ := start(t, wasmhost.Options{Handlers: map[string]http.Handler{
		"upstream": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("x-stream") == "3" {
				panic(http.ErrAbortHandler)
			}
			w.WriteHeader(http.StatusAccepted)
			_, _ = w.Write([]byte(r.Method + " " + r.Host + r.URL.Path))
		}),
	}})
	s, broken := h.VM(0).Request(wasmhost.Request{Path: "/park-call"}), h.VM(0).Request(wasmhost.Request{Path: "/park-call"})
	if len(h.Calls()) != 0 {
		t.Error("a call that has a handler waits for the test")
	}
	if err := h.Until(t.Context(), func() bool { return s.Ended() && broken.Ended() }); err != nil {
		t.Fatal(err)
	}
	if got := s.LocalReply(); got.Status != 202 || string(got.Body) != "POST upstream/called" {
		t.Errorf("the caller got %+v", got)
	}
	if got := broken.LocalReply(); got.Status != 502 {
		t.Errorf("the caller of the one that breaks off got %+v", got)
	}
}

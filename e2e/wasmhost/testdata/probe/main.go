// The probe is a filter that does one thing per path, and logs every callback that it gets. It shows what a host does.
package main

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"
	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm/types"
)

func main() {}

func init() { proxywasm.SetVMContext(&vm{}) }

type vm struct{ types.DefaultVMContext }

func (*vm) OnVMStart(size int) types.OnVMStartStatus {
	config, err := proxywasm.GetVMConfiguration()
	say("vm_start", size, string(config), err)
	return true
}

func (*vm) NewPluginContext(id uint32) types.PluginContext { return &root{id: id} }

// say logs its arguments, with spaces between.
func say(args ...any) {
	proxywasm.LogInfo(line(args...))
}

func line(args ...any) string {
	var words []string
	for _, a := range args {
		switch a := a.(type) {
		case string:
			words = append(words, a)
		case int:
			words = append(words, strconv.Itoa(a))
		case uint32:
			words = append(words, strconv.Itoa(int(a)))
		case bool:
			words = append(words, strconv.FormatBool(a))
		case error:
			words = append(words, "("+a.Error()+")")
		}
	}
	return strings.Join(words, " ")
}

type root struct {
	types.DefaultPluginContext
	id      uint32
	config  string
	queue   uint32
	parked  []*stream
	mine    []string // what streams asked the root to do
	counter proxywasm.MetricCounter
}

func (r *root) OnPluginStart(size int) types.OnPluginStartStatus {
	config, err := proxywasm.GetPluginConfiguration()
	r.config = string(config)
	say("configure", size, r.config, err, "env", os.Getenv("PROBE"))
	if strings.Contains(r.config, "refuse") {
		proxywasm.LogCritical("the configuration is refused")
		return false
	}
	if strings.Contains(r.config, "panic") {
		panic("on purpose")
	}
	if strings.Contains(r.config, "tick") {
		if err := proxywasm.SetTickPeriodMilliSeconds(100); err != nil {
			say("tick", err)
		}
	}
	if strings.Contains(r.config, "dispatch") {
		r.dispatch("upstream", 0)
	}
	name := make([]byte, 8)
	rand.Read(name)
	if r.queue, err = proxywasm.RegisterSharedQueue(hex.EncodeToString(name)); err != nil {
		say("register", err)
	}
	if _, err := proxywasm.RegisterSharedQueue("common"); err != nil {
		say("register", err)
	}
	r.counter = proxywasm.DefineCounterMetric("probe.requests")
	return true
}

func (r *root) OnTick() {
	say("tick", time.Now().UTC().Format("15:04:05.000"))
	for _, s := range r.parked {
		answer(s.id, 200, "by a tick")
	}
	r.parked = nil
}

func (r *root) OnPluginDone() bool {
	say("plugin_done")
	return !strings.Contains(r.config, "later")
}

func (r *root) OnQueueReady(id uint32) {
	for {
		item, err := proxywasm.DequeueSharedQueue(id)
		if err != nil {
			if err != types.ErrorStatusEmpty {
				say("dequeue", err)
			}
			return
		}
		say("queue", string(item))
		verb, rest, _ := strings.Cut(string(item), " ")
		n, _ := strconv.Atoi(rest)
		switch verb {
		case "call":
			r.dispatch("upstream", uint32(n))
		case "call-unknown":
			r.dispatch("unknown", uint32(n))
		case "answer":
			answer(uint32(n), 200, "by a queue")
		case "answer-twice":
			answer(uint32(n), 200, "by a queue")
			answer(uint32(n), 201, "twice")
		case "resume":
			if err := proxywasm.SetEffectiveContext(uint32(n)); err != nil {
				say("effective", err)
			}
			say("resume", proxywasm.ResumeHttpRequest())
		case "panic":
			panic("on purpose")
		case "done":
			proxywasm.PluginDone()
		}
	}
}

// dispatch calls a cluster; the answer becomes the reply of a stream.
func (r *root) dispatch(cluster string, id uint32) {
	_, err := proxywasm.DispatchHttpCall(cluster, [][2]string{
		{":method", "POST"}, {":path", "/called"}, {":authority", cluster}, {"x-stream", strconv.Itoa(int(id))},
	}, []byte("body of a call"), [][2]string{{"x-trailer", "t"}}, 1000, func(headers, size, trailers int) {
		pairs, err := proxywasm.GetHttpCallResponseHeaders()
		body, err2 := proxywasm.GetHttpCallResponseBody(0, size)
		tr, _ := proxywasm.GetHttpCallResponseTrailers()
		say("call_response", headers, size, trailers, len(pairs), string(body), len(tr), err, err2)
		status := 502
		for _, p := range pairs {
			if p[0] == ":status" {
				status, _ = strconv.Atoi(p[1])
			}
		}
		answer(id, uint32(status), string(body))
	})
	if err != nil {
		say("dispatch", err)
		answer(id, 500, "not dispatched")
	}
}

func answer(id uint32, status uint32, body string) {
	if id == 0 {
		return
	}
	if err := proxywasm.SetEffectiveContext(id); err != nil {
		say("effective", err)
		return
	}
	if err := proxywasm.SendHttpResponse(status, [][2]string{{"x-probe", "yes"}}, []byte(body), -1); err != nil {
		say("reply", err)
	}
}

func (r *root) NewHttpContext(id uint32) types.HttpContext { return &stream{root: r, id: id} }

type stream struct {
	types.DefaultHttpContext
	root *root
	id   uint32
	path string
	size int
}

// ask makes the root do something, on its own time.
func (s *stream) ask(verb string) {
	if err := proxywasm.EnqueueSharedQueue(s.root.queue, []byte(line(verb, s.id))); err != nil {
		say("enqueue", err)
	}
}

func (s *stream) OnHttpRequestHeaders(n int, end bool) types.Action {
	s.path, _ = proxywasm.GetHttpRequestHeader(":path")
	say("request_headers", n, end)
	s.root.counter.Increment(1)
	switch s.path {
	case "/reply":
		if err := proxywasm.SendHttpResponse(418, [][2]string{{"content-type", "text/x"}, {"x-a", "1"}, {"x-a", "2"}}, []byte("short and stout"), -1); err != nil {
			say("reply", err)
		}
		say("replied")
		return types.ActionContinue
	case "/reply-empty":
		proxywasm.SendHttpResponse(204, nil, nil, -1)
		return types.ActionPause
	case "/panic":
		panic("on purpose")
	case "/reply-panic":
		proxywasm.SendHttpResponse(200, nil, []byte("too soon"), -1)
		panic("on purpose")
	case "/close":
		return types.ActionContinue
	case "/headers":
		proxywasm.AddHttpRequestHeader("X-Added", "a")
		proxywasm.ReplaceHttpRequestHeader("x-many", "one")
		proxywasm.RemoveHttpRequestHeader("x-gone")
		v, err := proxywasm.GetHttpRequestHeader("x-none")
		say("none", v, err)
		v, err = proxywasm.GetHttpRequestHeader("X-Twice")
		say("twice", v, err)
		v, err = proxywasm.GetHttpResponseHeader("x")
		say("response", v, err)
		return types.ActionContinue
	case "/set-headers":
		pairs, err := proxywasm.GetHttpRequestHeaders()
		say("pairs", len(pairs), err)
		proxywasm.ReplaceHttpRequestHeaders([][2]string{{":method", "PUT"}, {":path", "/new"}, {":authority", "a"}, {"x-new", ""}})
		return types.ActionContinue
	case "/properties":
		for _, path := range [][]string{{"xds", "route_metadata", "rule"}, {"request", "url_path"}, {"plugin_root_id"}, {"nothing"}} {
			v, err := proxywasm.GetProperty(path)
			say(strings.Join(path, "."), string(v), err)
		}
		say("set", proxywasm.SetProperty([]string{"probe.outcome"}, []byte("done")))
		v, err := proxywasm.GetProperty([]string{"probe.outcome"})
		say("get", string(v), err)
		return types.ActionContinue
	case "/shared":
		v, cas, err := proxywasm.GetSharedData("k")
		say("first", string(v), err)
		say("set", proxywasm.SetSharedData("k", []byte("v1"), 0))
		v, cas, err = proxywasm.GetSharedData("k")
		say("second", string(v), err)
		say("cas", proxywasm.SetSharedData("k", []byte("v2"), cas))
		say("stale", proxywasm.SetSharedData("k", []byte("v3"), cas))
		_, err = proxywasm.CallForeignFunction("nothing", nil)
		say("foreign", err)
		_, err = proxywasm.ResolveSharedQueue("", "nobody's")
		say("resolve", err)
		return types.ActionContinue
	case "/common":
		id, err := proxywasm.ResolveSharedQueue("", "common")
		say("resolve", err)
		say("enqueue", proxywasm.EnqueueSharedQueue(id, []byte("hello "+strconv.Itoa(int(s.id)))))
		return types.ActionContinue
	case "/metrics":
		g := proxywasm.DefineGaugeMetric("probe.gauge")
		g.Add(5)
		g.Add(-2)
		h := proxywasm.DefineHistogramMetric("probe.histogram")
		h.Record(7)
		h.Record(9)
		say("gauge", int(g.Value()), "requests", int(s.root.counter.Value()))
		return types.ActionContinue
	case "/time":
		say("time", time.Now().UTC().Format(time.RFC3339Nano))
		return types.ActionContinue
	case "/park", "/park-tick", "/park-call", "/park-call-unknown", "/park-resume", "/park-panic", "/park-trailers", "/park-twice":
		if end {
			return s.whole()
		}
		return types.ActionPause
	case "/replace", "/append":
		proxywasm.RemoveHttpRequestHeader("content-length")
		return types.ActionPause
	case "/body":
		return types.ActionPause
	}
	return types.ActionContinue
}

// whole is reached when the request has been seen to its end.
func (s *stream) whole() types.Action {
	switch s.path {
	case "/park":
		s.ask("answer")
	case "/park-twice":
		s.ask("answer-twice")
	case "/park-tick":
		s.root.parked = append(s.root.parked, s)
	case "/park-call":
		s.ask("call")
	case "/park-call-unknown":
		s.ask("call-unknown")
	case "/park-resume":
		s.ask("resume")
	case "/park-panic":
		s.ask("panic")
	}
	return types.ActionPause
}

func (s *stream) OnHttpRequestBody(size int, end bool) types.Action {
	body, err := proxywasm.GetHttpRequestBody(0, size)
	say("request_body", size, end, len(body), err)
	path, err := proxywasm.GetHttpRequestHeader(":path")
	say("path", path, err)
	switch s.path {
	case "/body":
		if !end {
			return types.ActionPause
		}
		proxywasm.SendHttpResponse(200, nil, body, -1)
	case "/replace":
		if !end {
			return types.ActionPause
		}
		if err := proxywasm.ReplaceHttpRequestBody([]byte("replaced")); err != nil {
			say("replace", err)
		}
	case "/append":
		if end {
			say("append", proxywasm.AppendHttpRequestBody([]byte(">")), proxywasm.PrependHttpRequestBody([]byte("<")))
		}
	case "/panic-body":
		panic("on purpose")
	case "/park", "/park-tick", "/park-call", "/park-call-unknown", "/park-resume", "/park-panic", "/park-trailers", "/park-twice":
		if end {
			return s.whole()
		}
		return types.ActionPause
	}
	return types.ActionContinue
}

func (s *stream) OnHttpRequestTrailers(n int) types.Action {
	v, err := proxywasm.GetHttpRequestTrailer("x-t")
	say("request_trailers", n, v, err)
	if s.path == "/park-trailers" || s.path == "/park" {
		s.ask("answer")
		return types.ActionPause
	}
	return types.ActionContinue
}

func (s *stream) OnHttpResponseHeaders(n int, end bool) types.Action {
	status, err := proxywasm.GetHttpResponseHeader(":status")
	say("response_headers", n, end, status, err)
	if err := proxywasm.AddHttpResponseHeader("x-seen", "yes"); err != nil {
		say("add", err)
	}
	switch s.path {
	case "/replace-response":
		proxywasm.RemoveHttpResponseHeader("content-length")
		return types.ActionPause
	case "/reply-instead":
		proxywasm.SendHttpResponse(502, nil, []byte("instead"), -1)
	}
	return types.ActionContinue
}

func (s *stream) OnHttpResponseBody(size int, end bool) types.Action {
	body, err := proxywasm.GetHttpResponseBody(0, size)
	say("response_body", size, end, string(body), err)
	if s.path == "/replace-response" {
		if !end {
			return types.ActionPause
		}
		if err := proxywasm.ReplaceHttpResponseBody([]byte("another body")); err != nil {
			say("replace", err)
		}
	}
	return types.ActionContinue
}

func (s *stream) OnHttpResponseTrailers(n int) types.Action {
	say("response_trailers", n)
	return types.ActionContinue
}

func (s *stream) OnHttpStreamDone() {
	path, err := proxywasm.GetHttpRequestHeader(":path")
	status, err2 := proxywasm.GetHttpResponseHeader(":status")
	say("done", path, err, status, err2)
}

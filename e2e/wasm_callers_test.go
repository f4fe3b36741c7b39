package e2e_test

import (
	"net/http"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/e2e/wasmhost"
)

// request is a call as a proxy-wasm host takes it.
func request(c envoytest.Call) wasmhost.Request {
	r := wasmhost.Request{Method: c.Method, Path: c.Path, Authority: c.Host, Body: []byte(c.Body)}
	if r.Authority == "" {
		r.Authority = "idem.example"
	}
	if r.Path == "" {
		r.Path = "/api/invoke"
	}
	header := map[string]string{}
	switch c.Type {
	case "":
		header["content-type"] = "application/json"
	case "-":
	default:
		header["content-type"] = c.Type
	}
	if c.Run != "" {
		header["x-idem-run"] = c.Run
	}
	for name, value := range c.Header {
		header[strings.ToLower(name)] = value
	}
	header["content-length"] = strconv.Itoa(len(c.Body))
	for name, value := range header {
		r.Headers = append(r.Headers, [2]string{name, value})
	}
	sort.Slice(r.Headers, func(i, j int) bool { return r.Headers[i][0] < r.Headers[j][0] })
	return r
}

// send lets a caller call, by worker 0.
func (w *world) send(c envoytest.Call) *wasmhost.Stream { return w.sendBy(0, request(c)) }

func (w *world) sendBy(worker int, r wasmhost.Request) *wasmhost.Stream {
	s := w.VM(worker).Request(r)
	w.settle()
	return s
}

// call lets a caller call and waits for its reply.
func (w *world) call(c envoytest.Call) envoytest.Reply {
	w.t.Helper()
	return w.await(w.send(c))
}

// await waits for a caller's reply. Whoever calls has one within minutes.
func (w *world) await(s *wasmhost.Stream) envoytest.Reply {
	w.t.Helper()
	w.passUntil("the caller to have its reply", 5*time.Minute, s.Ended)
	return got(w.t, s)
}

// got is the reply that a caller has.
func got(t *testing.T, s *wasmhost.Stream) envoytest.Reply {
	t.Helper()
	r := s.Reply()
	if r == nil {
		t.Fatal("the caller has no reply")
	}
	reply := envoytest.Reply{Status: r.Status, Header: http.Header{}, Body: r.Body}
	for _, h := range r.Headers {
		reply.Header.Add(h[0], h[1])
	}
	if s.Extra() != 0 {
		t.Errorf("the caller was answered %d times too often", s.Extra())
	}
	return reply
}

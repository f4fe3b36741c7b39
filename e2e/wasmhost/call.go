package wasmhost

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"time"
)

// Call is an HTTP call that the filter dispatched. Whoever dispatched it, it belongs to the root context.
type Call struct {
	VM       *VM
	Cluster  string
	Headers  Headers
	Body     []byte
	Trailers Headers
	Timeout  time.Duration // 0: none
	At       time.Time     // when it was dispatched

	instance *instance
	token    uint32
	deadline time.Time
	handled  bool // a handler answers it
	over     bool // it has been answered
	gone     bool // nobody waits for its answer any more
}

// Response is what a caller, or the filter's call, got.
type Response struct {
	Status   int
	Headers  Headers // without :status
	Body     []byte
	Trailers Headers
	Details  string // of a stream's: Envoy's response code details, such as via_upstream or wasm_fail_stream
}

// Path is the call's path.
func (c *Call) Path() string { return c.Headers.Get(":path") }

// Cancelled reports whether nobody waits for the answer any more, because the VM trapped or the plugin was shut down.
func (c *Call) Cancelled() bool { return c.gone }

// Respond answers the call. What answers a cancelled call is dropped; answering one twice is a mistake of the test.
func (c *Call) Respond(status int, headers Headers, body []byte) {
	c.RespondWith(Response{Status: status, Headers: headers, Body: body})
}

// RespondWith answers the call, with trailers too.
func (c *Call) RespondWith(r Response) {
	c.respond(r)
	c.instance.vm.host.settle()
}

// Reset breaks the call off: its callback comes without headers, as for a connection that breaks and for a response
// that is longer than Envoy buffers.
func (c *Call) Reset() {
	c.reset()
	c.instance.vm.host.settle()
}

func (c *Call) respond(r Response) {
	if len(r.Body) > c.instance.vm.host.o.CallLimit {
		c.reset()
		return
	}
	headers := append(Headers{{":status", strconv.Itoa(r.Status)}}, r.Headers.clone()...)
	c.finish(&Response{Status: r.Status, Headers: headers, Body: r.Body, Trailers: r.Trailers.clone()})
}

func (c *Call) reset() { c.finish(nil) }

// timeOut is Envoy's own answer to a call whose time is over.
func (c *Call) timeOut() {
	const text = "upstream request timeout"
	c.respond(Response{
		Status:  http.StatusGatewayTimeout,
		Headers: Headers{{"content-length", strconv.Itoa(len(text))}, {"content-type", "text/plain"}},
		Body:    []byte(text),
	})
}

func (c *Call) finish(r *Response) {
	if c.over {
		panic("wasmhost: the call to " + c.Cluster + c.Path() + " was answered before")
	}
	c.over = true
	if c.gone {
		return
	}
	i := c.instance
	h := i.vm.host
	h.calls = slices.DeleteFunc(h.calls, func(other *Call) bool { return other == c })
	var headers, body, trailers uint64
	if r != nil {
		headers, body, trailers = uint64(len(r.Headers)), uint64(len(r.Body)), uint64(len(r.Trailers))
	}
	i.response = r
	i.call(i.root, "proxy_on_http_call_response", uint64(i.root.id), uint64(c.token), headers, body, trailers)
	i.response = nil
	i.finishCall()
}

// dispatch starts a call, or gives the status that refuses it.
func (i *instance) dispatch(c *Call) (token uint32, st status) {
	h := i.vm.host
	handler := h.o.Handlers[c.Cluster]
	if handler == nil && !slices.Contains(h.o.Clusters, c.Cluster) {
		return 0, badArgument
	}
	for _, name := range []string{":path", ":method", ":authority"} {
		if _, ok := c.Headers.lookup(name); !ok {
			return 0, badArgument
		}
	}
	if len(c.Body) > 0 {
		c.Headers.set("content-length", strconv.Itoa(len(c.Body)))
	}
	if h.down[c.Cluster] {
		return 0, internalFailure
	}
	i.nextCall++
	c.VM, c.instance, c.token, c.At = i.vm, i, i.nextCall, h.now
	if c.Timeout > 0 {
		c.deadline = h.now.Add(c.Timeout)
	}
	h.calls = append(h.calls, c)
	if handler != nil {
		c.handled = true
		h.handle(c, handler)
	}
	return c.token, ok
}

// answer is what a handler said to a call.
type answer struct {
	call     *Call
	response Response
	reset    bool
}

// handle lets a handler answer a call. A handler that panics (http.ErrAbortHandler) resets it.
func (h *Host) handle(c *Call, handler http.Handler) {
	req, err := http.NewRequestWithContext(h.ctx, c.Headers.Get(":method"), "http://"+c.Headers.Get(":authority")+c.Path(), bytes.NewReader(c.Body))
	if err != nil {
		panic(fmt.Sprintf("wasmhost: the filter calls %s with what is no request: %v", c.Cluster, err))
	}
	for _, p := range c.Headers {
		if p[0][0] != ':' {
			req.Header.Add(p[0], p[1])
		}
	}
	go func() {
		a := answer{call: c, reset: true}
		defer func() {
			if r := recover(); r != nil && r != http.ErrAbortHandler { //nolint:errorlint // a panic's value, not an error's chain
				panic(r)
			}
			select {
			case h.answers <- a:
			case <-h.ctx.Done():
			}
		}()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		a.response, a.reset = recorded(w.Result(), w.Body.Bytes()), false
	}()
}

func recorded(res *http.Response, body []byte) Response {
	r := Response{Status: res.StatusCode, Body: body}
	names := make([]string, 0, len(res.Header))
	for name := range res.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range res.Header[name] {
			r.Headers.add(name, value)
		}
	}
	return r
}

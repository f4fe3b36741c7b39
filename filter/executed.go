package main

import (
	"strconv"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"
	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm/types"

	"idem/filter/exchange"
)

// executionsRoot is the root id of the filter where it stands in the execution listener. There it guards nothing: it shows
// the worker the replies to its own calls as they pass. The host gives a call's reply when it is complete, and nothing
// of one that broke; of an event stream the worker needs what has come so far.
const executionsRoot = "idem-executions"

// watchHeader bears the name under which a call waits to be shown its reply. It is a random number that the worker has
// chosen, so that nobody else's request can bear one that counts.
const watchHeader = "x-idem-watch"

// watched is what the root contexts of one VM share: which calls wait to be shown their replies as they pass.
type watched struct {
	possible bool            // the filter stands in the execution listener too
	calls    map[string]show // by the value of watchHeader
}

// show shows a call a piece of its reply, as [exchange.HTTPCall].Passing says.
type show func(begun exchange.HTTPReply, piece []byte) (enough bool)

// watch has a call's reply shown, if it passes by. over is to be called once the call has ended.
func (w *watched) watch(call exchange.HTTPCall, newName func() string) (headers [][2]string, over func()) {
	if call.Passing == nil || !w.possible {
		return call.Headers, func() {}
	}
	name := newName()
	w.calls[name] = call.Passing
	return append(call.Headers[:len(call.Headers):len(call.Headers)], [2]string{watchHeader, name}), func() { delete(w.calls, name) }
}

// executed is an execution on its way through the execution listener.
type executed struct {
	types.DefaultHttpContext
	watched *watched
	show    show // nil: nobody asks
	begun   exchange.HTTPReply
}

// OnHttpRequestHeaders finds out whose reply is to be shown. The tool does not see the header that says so.
func (x *executed) OnHttpRequestHeaders(int, bool) types.Action {
	defer recovered("OnHttpRequestHeaders of an execution")
	if name, err := proxywasm.GetHttpRequestHeader(watchHeader); err == nil {
		x.show = x.watched.calls[name]
		_ = proxywasm.RemoveHttpRequestHeader(watchHeader)
	}
	return types.ActionContinue
}

// OnHttpResponseHeaders takes down how the reply began.
func (x *executed) OnHttpResponseHeaders(int, bool) types.Action {
	defer recovered("OnHttpResponseHeaders of an execution")
	if x.show == nil {
		return types.ActionContinue
	}
	headers, err := proxywasm.GetHttpResponseHeaders()
	if err != nil {
		x.show = nil
		return types.ActionContinue
	}
	x.begun.Headers = headers
	for _, h := range headers {
		if h[0] == ":status" {
			x.begun.Status, _ = strconv.Atoi(h[1])
		}
	}
	return types.ActionContinue
}

// OnHttpResponseBody shows the piece that passes. A stream that stays open although there is enough of it is ended.
func (x *executed) OnHttpResponseBody(size int, endOfStream bool) types.Action {
	defer recovered("OnHttpResponseBody of an execution")
	if x.show == nil || size == 0 {
		return types.ActionContinue
	}
	piece, err := proxywasm.GetHttpResponseBody(0, size)
	if err != nil {
		x.show = nil // what it would be shown is not the reply
		return types.ActionContinue
	}
	if x.show(x.begun, piece) && !endOfStream {
		x.show = nil
		// After a reply has begun this resets the stream, and nothing else.
		_ = proxywasm.SendHttpResponse(502, nil, nil, -1)
		return types.ActionPause
	}
	return types.ActionContinue
}

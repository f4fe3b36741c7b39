package main

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"

	"idem/filter/exchange"
)

// host is the proxy as the exchange worker sees it. Dispatch runs in the root context only.
type host struct {
	statistics
	plugin  *plugin
	started time.Time
	woken   bool // the queue has an entry that OnQueueReady has not taken
	random  [512]byte
	unused  int // bytes of random that no id has been made of yet
}

func newHost(p *plugin) *host {
	return &host{plugin: p, started: time.Now(), statistics: newStatistics()}
}

// Now is the VM's monotonic clock.
func (h *host) Now() time.Duration { return time.Since(h.started) }

// NewID gives 128 random bits in hex.
func (h *host) NewID() string {
	const size = 16
	if h.unused < size {
		rand.Read(h.random[:]) // does not fail: crypto/rand stops the program instead
		h.unused = len(h.random)
	}
	h.unused -= size
	return hex.EncodeToString(h.random[h.unused : h.unused+size])
}

// Wake puts an entry into this VM's own queue, so that OnQueueReady runs in the root context.
func (h *host) Wake() {
	if h.woken {
		return
	}
	h.woken = proxywasm.EnqueueSharedQueue(h.plugin.queue, []byte{1}) == nil
	// Where it could not be queued, the tick flushes.
}

// Dispatch makes an HTTP call of the root context.
func (h *host) Dispatch(call exchange.HTTPCall, done func(exchange.HTTPReply)) bool {
	timeout := uint32(max(call.Timeout.Milliseconds(), 1))
	headers, over := h.plugin.watched.watch(call, h.NewID)
	_, err := proxywasm.DispatchHttpCall(call.Cluster, headers, call.Body, nil, timeout,
		func(numHeaders, bodySize, _ int) {
			defer recovered("an HTTP call's callback")
			over()
			h.plugin.outbox.begin()
			done(httpReply(numHeaders, bodySize, call.Room))
		})
	if err != nil {
		over()
		proxywasm.LogError("idem: the cluster " + call.Cluster + " cannot be called: " + err.Error())
	}
	return err == nil
}

// httpReply reads the reply of the HTTP call whose callback runs. A callback without headers means that there is none.
func httpReply(numHeaders, bodySize int, room func(int) bool) exchange.HTTPReply {
	if numHeaders == 0 {
		return exchange.HTTPReply{}
	}
	headers, err := proxywasm.GetHttpCallResponseHeaders()
	if err != nil {
		return exchange.HTTPReply{}
	}
	reply := exchange.HTTPReply{Headers: headers}
	for _, h := range headers {
		if h[0] == ":status" {
			reply.Status, _ = strconv.Atoi(h[1])
			break
		}
	}
	if room != nil && !room(bodySize) {
		reply.Unread = true
		return reply
	}
	if bodySize > 0 { // the host cannot give an empty buffer
		if reply.Body, err = proxywasm.GetHttpCallResponseBody(0, bodySize); err != nil {
			return exchange.HTTPReply{}
		}
	}
	return reply
}

// Fault writes of a panic that was recovered from.
func (h *host) Fault(where string, recovered any) { logFault(where, recovered) }

// Warn writes a line for the operator.
func (h *host) Warn(line string) { proxywasm.LogWarn("idem: " + line) }

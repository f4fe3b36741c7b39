// Command filter is Idem's Envoy filter, compiled to WebAssembly (GOOS=wasip1 GOARCH=wasm -buildmode=c-shared).
//
// This package is the thin shell around package exchange: it turns the proxy's callbacks into calls of a
// [exchange.Worker] and the worker's wishes into host calls, and decides nothing about a call itself.
//
//	main.go    the entry points of the ABI
//	plugin.go  the root context: configuration, queue, tick
//	host.go    what the worker may ask of the proxy; statistics.go: of its statistics
//	outbox.go  what is sent to streams, in portions
//	stream.go  one caller's stream: read and parked
//	match.go   the rule that it falls under; property.go: by what Envoy knows of it
//	answer.go  its reply, or its leave to go on
//	passing.go the reply to a stream that goes on; ended.go: how that came about
//	executed.go the reply to a call of the worker's own, where the filter stands in the execution listener too
//
// Facts of the host that shape it: only a root context's HTTP calls survive the stream that asked for them, and the
// SDK gives a callback to the context that dispatched the call, so all calls are made by the root context; a stream
// reaches it through a shared queue of the VM's own. A trap takes every stream of the worker with it, so every callback
// recovers.
package main

import (
	"runtime/debug"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"
	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm/types"
)

func main() {}

// memoryLimit makes the collector work harder before the VM's memory runs out: a VM that cannot grow traps.
const memoryLimit = 768 << 20

func init() {
	debug.SetMemoryLimit(memoryLimit)
	proxywasm.SetVMContext(newVM())
}

type vm struct {
	types.DefaultVMContext
	watched watched
}

func newVM() *vm { return &vm{watched: watched{calls: map[string]show{}}} }

func (v *vm) NewPluginContext(id uint32) types.PluginContext {
	return &plugin{id: id, watched: &v.watched}
}

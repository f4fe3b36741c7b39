package main

import (
	"sync"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"
	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm/types"
)

// The filter with a way to make it trap, for tests of what is left then: a request header "trap" that says where, "here"
// or at the next "tick". The tests lay this file over the filter's own when they build a module for themselves; nothing
// else is ever built with it.

func init() { proxywasm.SetVMContext(&trapVM{newVM()}) }

type trapVM struct{ *vm }

func (v *trapVM) NewPluginContext(id uint32) types.PluginContext {
	return &trapPlugin{PluginContext: v.vm.NewPluginContext(id)}
}

type trapPlugin struct {
	types.PluginContext
	armed bool
}

func (p *trapPlugin) OnTick() {
	if p.armed {
		trap()
	}
	p.PluginContext.OnTick()
}

func (p *trapPlugin) NewHttpContext(id uint32) types.HttpContext {
	return &trapStream{p.PluginContext.NewHttpContext(id), p}
}

type trapStream struct {
	types.HttpContext
	plugin *trapPlugin
}

func (s *trapStream) OnHttpRequestHeaders(n int, end bool) types.Action {
	switch where, _ := proxywasm.GetHttpRequestHeader("trap"); where {
	case "here":
		trap()
	case "tick":
		s.plugin.armed = true
	}
	return s.HttpContext.OnHttpRequestHeaders(n, end)
}

// trap ends the program by an error of the runtime's, which nothing recovers from.
func trap() { new(sync.Mutex).Unlock() }

package main

import (
	"os"
	"runtime/debug"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"
	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm/types"

	"idem/filter/exchange"
	"idem/filter/policy"
)

// plugin is the root context of one worker: it owns the exchange worker and all of its I/O. In the execution listener it
// is one without a worker, which only looks on.
type plugin struct {
	types.DefaultPluginContext
	id      uint32
	watched *watched
	looksOn bool
	config  *policy.Config
	worker  *exchange.Worker
	host    *host
	queue   uint32
	outbox  outbox
	warned  map[string]bool // lines that warnOnce has written
	done    bool            // the configuration has been replaced; what is under way is finished
}

// OnPluginStart reads the configuration. A configuration that is refused is refused by Envoy too.
func (p *plugin) OnPluginStart(int) (status types.OnPluginStartStatus) {
	defer func() {
		if r := recover(); r != nil {
			logFault("OnPluginStart", r)
			status = types.OnPluginStartStatusFailed
		}
	}()
	if root, err := proxywasm.GetProperty([]string{"plugin_root_id"}); err == nil && string(root) == executionsRoot {
		p.looksOn, p.watched.possible = true, true
		return types.OnPluginStartStatusOK
	}
	data, err := proxywasm.GetPluginConfiguration()
	if err != nil {
		proxywasm.LogCritical("idem: there is no plugin configuration: " + err.Error())
		return types.OnPluginStartStatusFailed
	}
	config, err := policy.Parse(data, os.Getenv)
	if err != nil {
		proxywasm.LogCritical("idem: " + err.Error())
		return types.OnPluginStartStatusFailed
	}
	p.host = newHost(p)
	p.outbox.wake = p.host.Wake
	p.outbox.fault = func(reason any) { p.host.Fault("a reply", reason) }
	// The ids of VMs and contexts are the same in every worker, so only chance keeps the queues apart.
	queue, err := proxywasm.RegisterSharedQueue("idem-" + p.host.NewID())
	if err != nil {
		proxywasm.LogCritical("idem: no shared queue: " + err.Error())
		return types.OnPluginStartStatusFailed
	}
	if err := proxywasm.SetTickPeriodMilliSeconds(uint32(exchange.TickPeriod.Milliseconds())); err != nil {
		proxywasm.LogCritical("idem: no tick: " + err.Error())
		return types.OnPluginStartStatusFailed
	}
	p.queue, p.config = queue, config
	p.worker = exchange.NewWorker(p.host, config)
	return types.OnPluginStartStatusOK
}

// OnPluginDone keeps a replaced configuration alive until what runs under it is settled.
func (p *plugin) OnPluginDone() (done bool) {
	defer recovered("OnPluginDone")
	if p.worker == nil {
		return true
	}
	if p.worker.TellGauges(); p.idle() {
		return true
	}
	p.done = true
	return false
}

func (p *plugin) idle() bool { return p.worker.Idle() && len(p.outbox.waiting) == 0 }

// OnQueueReady runs after streams have queued something.
func (p *plugin) OnQueueReady(queue uint32) {
	defer recovered("OnQueueReady")
	for {
		if _, err := proxywasm.DequeueSharedQueue(queue); err != nil {
			break
		}
	}
	p.host.woken = false
	p.outbox.begin()
	p.worker.Flush()
}

// OnTick lets time pass.
func (p *plugin) OnTick() {
	defer recovered("OnTick")
	p.outbox.begin()
	p.worker.Tick()
	if p.done && p.idle() {
		p.done = false
		proxywasm.PluginDone()
	}
}

// mostWarned bounds how many different lines warnOnce remembers; any further one is not written.
const mostWarned = 256

// warnOnce writes a line for the operator that would otherwise be written for every call.
func (p *plugin) warnOnce(line string) {
	if p.warned[line] || len(p.warned) == mostWarned {
		return
	}
	if p.warned == nil {
		p.warned = map[string]bool{}
	}
	p.warned[line] = true
	p.host.Warn(line)
}

// NewHttpContext makes the context of a stream.
func (p *plugin) NewHttpContext(id uint32) types.HttpContext {
	if p.looksOn {
		return &executed{watched: p.watched}
	}
	return &stream{plugin: p, id: id}
}

// recovered keeps a programming error from taking every stream of the worker with it.
func recovered(callback string) {
	if r := recover(); r != nil {
		logFault(callback, r)
	}
}

func logFault(callback string, r any) {
	message := "unknown"
	switch v := r.(type) {
	case error:
		message = v.Error()
	case string:
		message = v
	}
	proxywasm.LogCritical("idem: a fault in " + callback + ": " + message + "\n" + string(debug.Stack()))
}

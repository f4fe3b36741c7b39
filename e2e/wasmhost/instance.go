package wasmhost

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// instance is one load of the filter into a VM. Its contexts' ids start at 1 in every instance, so they say nothing
// about which VM they belong to.
type instance struct {
	vm        *VM
	mod       api.Module
	functions map[string]api.Function
	loaded    time.Time
	failed    bool // trapped, or thrown away
	draining  bool // its root context is to be ended with its last stream

	scopes   map[uint32]*scope
	nextID   uint32
	root     *scope
	streams  int
	notDone  bool // on_done of the root said no
	tick     time.Duration
	nextTick time.Time

	// While a callback runs:
	current   *scope
	effective *scope   // what set_effective_context chose; nil: current
	after     []func() // what host calls put off until the callback has returned
	stopped   bool     // a local reply was sent: the callback's action does not count
	config    bool     // the plugin's configuration can be read

	nextCall uint32
	response *Response // of the call whose callback runs
	metrics  map[uint32]*metric
	nextIDs  [3]uint32 // of metrics, by type
}

// scope is a context of the ABI: the root's (stream is nil) or a stream's.
type scope struct {
	id       uint32
	instance *instance
	stream   *Stream
}

type instanceKey struct{}

// load puts a new instance into a VM and configures it.
func (vm *VM) load() error {
	h := vm.host
	i := &instance{
		vm: vm, functions: map[string]api.Function{}, loaded: h.now, scopes: map[uint32]*scope{}, nextID: 1,
		metrics: map[uint32]*metric{}, nextIDs: [3]uint32{0, 1, 2},
	}
	before := len(h.logs)
	refuse := func(reason string) error { return &StartError{reason, h.logs[before:]} }
	cfg := wazero.NewModuleConfig().WithName("").WithStartFunctions().WithRandSource(h.o.Rand).
		WithStdout(&lines{i: i, level: Info}).WithStderr(&lines{i: i, level: Error}).
		WithWalltime(func() (int64, int32) { return h.now.Unix(), int32(h.now.Nanosecond()) }, sys.ClockResolution(1)).
		WithNanotime(func() int64 { return h.now.Sub(h.o.Start).Nanoseconds() + 1 }, sys.ClockResolution(1)).
		WithNanosleep(func(int64) {}).WithOsyield(func() {})
	for name, value := range h.o.Env {
		cfg = cfg.WithEnv(name, value)
	}
	mod, err := h.module.runtime.InstantiateModule(h.ctx, h.module.compiled, cfg)
	if err != nil {
		return refuse("the filter cannot be loaded: " + err.Error())
	}
	i.mod = mod
	vm.instance = i
	i.root = i.newScope(nil)
	if _, ok := i.call(i.root, "_initialize"); !ok {
		return refuse("the filter trapped while it was initialized")
	}
	i.call(i.root, "proxy_on_context_create", uint64(i.root.id), 0)
	if yes, ok := i.call(i.root, "proxy_on_vm_start", uint64(i.root.id), uint64(len(h.o.VMConfig))); !ok || yes == 0 {
		i.kill()
		return refuse("the filter refused to start")
	}
	i.finishCall()
	i.config = true
	yes, ok := i.call(i.root, "proxy_on_configure", uint64(i.root.id), uint64(len(h.o.Config)))
	i.config = false
	if !ok || yes == 0 {
		i.kill()
		return refuse("the filter refused its configuration")
	}
	i.finishCall()
	return nil
}

func (i *instance) newScope(s *Stream) *scope {
	c := &scope{id: i.nextID, instance: i, stream: s}
	i.nextID++
	i.scopes[c.id] = c
	return c
}

// call runs one callback. ok is false where the filter has none of the name, has failed before, or traps now. Its
// caller must look at the result and then call finishCall, which does what was put off.
func (i *instance) call(c *scope, name string, args ...uint64) (result uint64, ok bool) {
	if i.failed {
		return 0, false
	}
	f, known := i.functions[name]
	if !known {
		f = i.mod.ExportedFunction(name)
		i.functions[name] = f
	}
	if f == nil {
		return 0, false
	}
	i.current, i.effective = c, nil
	results, err := f.Call(context.WithValue(i.vm.host.ctx, instanceKey{}, i), args...)
	i.current, i.effective = nil, nil
	if err != nil {
		i.log(Critical, fmt.Sprintf("Function: %s failed: %v", name, err))
		i.kill()
		return 0, false
	}
	if len(results) > 0 {
		return results[0], true
	}
	return 0, true
}

// finishCall does what host calls put off until the callback had returned.
func (i *instance) finishCall() {
	i.stopped = false
	for len(i.after) > 0 {
		f := i.after[0]
		i.after = i.after[1:]
		f()
	}
}

// kill makes the instance unusable. Its calls' answers reach nobody.
func (i *instance) kill() {
	i.failed = true
	h := i.vm.host
	kept := h.calls[:0]
	for _, c := range h.calls {
		if c.instance == i {
			c.gone = true
		} else {
			kept = append(kept, c)
		}
	}
	h.calls = kept
	if err := i.mod.Close(h.ctx); err != nil {
		i.log(Error, "closing the module: "+err.Error())
	}
}

func (i *instance) onTick() {
	i.nextTick = i.nextTick.Add(i.tick)
	i.call(i.root, "proxy_on_tick", uint64(i.root.id))
	i.finishCall()
}

// endRoot ends the root context once the filter lets it.
func (i *instance) endRoot() {
	yes, ok := i.call(i.root, "proxy_on_done", uint64(i.root.id))
	i.notDone = ok && yes == 0
	i.finishCall()
	if !i.notDone {
		i.deleteRoot()
	}
}

func (i *instance) deleteRoot() {
	if i.failed {
		return
	}
	i.call(i.root, "proxy_on_delete", uint64(i.root.id))
	i.finishCall()
	i.kill()
}

func (i *instance) log(level Level, text string) {
	i.vm.host.logs = append(i.vm.host.logs, Log{i.vm.index, level, text})
}

// lines logs what is written to a standard stream, as Envoy does.
type lines struct {
	i     *instance
	level Level
}

func (l *lines) Write(p []byte) (int, error) {
	if text := bytes.TrimSuffix(p, []byte("\n")); len(text) > 0 {
		l.i.log(l.level, string(text))
	}
	return len(p), nil
}

package wasmhost

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Options is how a host is set up: the bootstrap, the plugin's configuration and the environment of its VMs.
type Options struct {
	Config   string            // the plugin's configuration
	VMConfig string            // the VM's configuration
	Env      map[string]string // vm_config.environment_variables
	VMs      int               // workers, each with a VM of its own; 1
	VMID     string            // "idem"
	RootID   string            // "idem"

	// Clusters are those that Envoy knows. A call to another one is refused with BadArgument. Clusters that have a
	// handler are known too.
	Clusters []string
	// Handlers answer the calls to a cluster, each call in a goroutine of its own. Their answers reach the VM in
	// [Host.Until]. Calls to clusters without one wait for the test.
	Handlers map[string]http.Handler

	Start       time.Time         // where the clock starts; 2026-01-01 00:00 UTC
	Rand        io.Reader         // what WASI's random_get reads; crypto/rand
	Properties  map[string]string // what every stream's get_property finds, by its path with dots
	BufferLimit int               // of a stream's buffered body; 1 MiB (Envoy's per_connection_buffer_limit_bytes)
	// LocalReplies changes the replies that Envoy makes past the filter (local_reply_config); nil: it does not.
	LocalReplies func(s *Stream, status int, headers Headers, body []byte) (int, Headers, []byte)
	CallLimit    int // of the body of a call's response; 32 MiB (Envoy's)

	// StopAllOnHeaders is Envoy without allow_on_headers_stop_iteration: a pause in the headers' callback stops the
	// body's callbacks too.
	StopAllOnHeaders bool
	// FailClosed never loads a VM anew after a trap. Otherwise the next stream does, once ReloadAfter has passed since
	// it was loaded (Envoy's FAIL_RELOAD).
	FailClosed  bool
	ReloadAfter time.Duration // 1 s
	// Manual delivers on_queue_ready only in [Host.Run]. Otherwise every method of the host, of its streams and its
	// calls does, before it returns.
	Manual bool
}

// Host is one Envoy process, as far as a filter can see it. Its clock stands still unless [Host.Advance] moves it.
// One goroutine at a time may use a host, its VMs, streams and calls.
type Host struct {
	ctx     context.Context
	module  *Module
	o       Options
	now     time.Time
	vms     []*VM // of the workers
	main    *VM
	events  []func() // what other threads posted to a worker
	answers chan answer
	calls   []*Call
	queues  queues
	data    map[string]datum
	nextCAS uint32
	metrics map[string]*metric
	logs    []Log
	down    map[string]bool
}

// StartError says that a filter could not be started.
type StartError struct {
	Reason string
	Logs   []Log // what the filter said
}

func (e *StartError) Error() string {
	var b strings.Builder
	b.WriteString(e.Reason)
	for _, l := range e.Logs {
		fmt.Fprintf(&b, "\n%s: %s", l.Level, l.Text)
	}
	return b.String()
}

// New compiles a filter and starts it; see [Module.Start].
func New(ctx context.Context, wasm []byte, o Options) (*Host, error) {
	m, err := Compile(ctx, wasm)
	if err != nil {
		return nil, err
	}
	return m.Start(ctx, o)
}

// Start loads the filter as Envoy does: first into a VM that only shows that it takes its configuration, and is thrown
// away without a word; then into one on the main thread, which no stream ever comes to, but whose root context lives,
// ticks and calls like the others; then into one per worker. A filter that does not start, or refuses its
// configuration, is a [*StartError].
func (m *Module) Start(ctx context.Context, o Options) (*Host, error) {
	h := &Host{
		ctx: ctx, module: m, o: o, answers: make(chan answer, 64),
		data: map[string]datum{}, metrics: map[string]*metric{}, down: map[string]bool{},
	}
	h.setDefaults()
	h.now = h.o.Start
	canary := &VM{host: h, index: -2}
	if err := canary.load(); err != nil {
		return nil, err
	}
	canary.instance.kill()
	h.main = &VM{host: h, index: -1}
	if err := h.main.load(); err != nil {
		return nil, err
	}
	for i := range h.o.VMs {
		vm := &VM{host: h, index: i}
		if err := vm.load(); err != nil {
			return nil, err
		}
		h.vms = append(h.vms, vm)
	}
	h.settle()
	return h, nil
}

func (h *Host) setDefaults() {
	o := &h.o
	if o.VMs == 0 {
		o.VMs = 1
	}
	if o.VMID == "" {
		o.VMID = "idem"
	}
	if o.RootID == "" {
		o.RootID = "idem"
	}
	if o.Start.IsZero() {
		o.Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.BufferLimit == 0 {
		o.BufferLimit = 1 << 20
	}
	if o.CallLimit == 0 {
		o.CallLimit = 32 << 20
	}
	if o.ReloadAfter == 0 {
		o.ReloadAfter = time.Second
	}
}

// VM gives the VM of a worker, counted from 0.
func (h *Host) VM(i int) *VM { return h.vms[i] }

// Main gives the VM of the main thread. Only its root context is ever called.
func (h *Host) Main() *VM { return h.main }

func (h *Host) allVMs() []*VM { return append([]*VM{h.main}, h.vms...) }

// Now is the host's clock.
func (h *Host) Now() time.Time { return h.now }

// Run delivers what is waiting to be delivered, until nothing is. Only with Options.Manual there ever is something.
func (h *Host) Run() {
	for len(h.events) > 0 {
		event := h.events[0]
		h.events = h.events[1:]
		event()
	}
}

// settle is what every method ends with.
func (h *Host) settle() {
	if !h.o.Manual {
		h.Run()
	}
}

func (h *Host) post(event func()) { h.events = append(h.events, event) }

// Advance lets time pass: ticks and the timeouts of calls happen in their order, each at its moment.
func (h *Host) Advance(d time.Duration) {
	until := h.now.Add(d)
	for {
		at, happen := h.nextTimer()
		if happen == nil || at.After(until) {
			break
		}
		if at.After(h.now) {
			h.now = at
		}
		happen()
		h.settle()
	}
	h.now = until
	h.settle()
}

// nextTimer gives the earliest timer; nil: there is none.
func (h *Host) nextTimer() (at time.Time, happen func()) {
	earlier := func(t time.Time) bool { return happen == nil || t.Before(at) }
	for _, vm := range h.allVMs() {
		i := vm.instance
		if i.tick > 0 && !i.failed && earlier(i.nextTick) {
			at, happen = i.nextTick, i.onTick
		}
	}
	for _, c := range h.calls {
		if !c.deadline.IsZero() && earlier(c.deadline) {
			at, happen = c.deadline, c.timeOut
		}
	}
	return at, happen
}

// Until hands the answers of the handlers to their VMs until the condition holds. It returns the context's error when
// ctx ends before.
func (h *Host) Until(ctx context.Context, condition func() bool) error {
	for h.settle(); !condition(); h.settle() {
		select {
		case a := <-h.answers:
			switch {
			case a.call.over: // its time was over before the handler's
			case a.reset:
				a.call.reset()
			default:
				a.call.respond(a.response)
			}
		case <-ctx.Done():
			return fmt.Errorf("the condition did not come to hold; %d calls wait, %d of them for a handler: %w",
				len(h.calls), h.handling(), ctx.Err())
		}
	}
	return nil
}

// Calls gives the calls that wait for the test's answer, in the order of their dispatch.
func (h *Host) Calls() []*Call {
	var waiting []*Call
	for _, c := range h.calls {
		if !c.handled {
			waiting = append(waiting, c)
		}
	}
	return waiting
}

// CallsTo gives those of [Host.Calls] that go to a cluster.
func (h *Host) CallsTo(cluster string) []*Call {
	return slices.DeleteFunc(h.Calls(), func(c *Call) bool { return c.Cluster != cluster })
}

func (h *Host) handling() int { return len(h.calls) - len(h.Calls()) }

// SetDown makes a known cluster one without a healthy host, or with one again. A call to a cluster that is down fails
// at once, with InternalFailure and no callback.
func (h *Host) SetDown(cluster string, down bool) { h.down[cluster] = down }

// Log is one line that the filter logged, or wrote to its standard output (info) or error (error).
type Log struct {
	VM    int // the worker; -1: the main thread; -2: the VM that only tries the configuration
	Level Level
	Text  string
}

// Level is a log level of the ABI.
type Level uint32

// The log levels.
const (
	Trace Level = iota
	Debug
	Info
	Warn
	Error
	Critical
)

func (l Level) String() string {
	if names := [...]string{"trace", "debug", "info", "warn", "error", "critical"}; int(l) < len(names) {
		return names[l]
	}
	return fmt.Sprintf("level %d", uint32(l))
}

// Logs gives what was logged at least at a level.
func (h *Host) Logs(least Level) []Log {
	return slices.DeleteFunc(slices.Clone(h.logs), func(l Log) bool { return l.Level < least })
}

// Close ends the host without a word to the filter, as a killed process would.
func (h *Host) Close() {
	for _, vm := range h.allVMs() {
		vm.instance.kill()
	}
}

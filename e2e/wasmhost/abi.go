package wasmhost

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
)

// status is what a host call returns.
type status uint32

// The statuses of the ABI.
const (
	ok              status = 0
	notFound        status = 1
	badArgument     status = 2
	invalidMemory   status = 6
	empty           status = 7
	casMismatch     status = 8
	internalFailure status = 10
	unimplemented   status = 12
)

// The types of maps.
const (
	requestHeaders   = 0
	requestTrailers  = 1
	responseHeaders  = 2
	responseTrailers = 3
	callHeaders      = 6
	callTrailers     = 7
)

// The types of buffers.
const (
	requestBody  = 0
	responseBody = 1
	callBody     = 4
	vmConfig     = 6
	pluginConfig = 7
)

// guest is the VM in the middle of a host call.
type guest struct {
	*instance
	ctx context.Context
}

func guestOf(ctx context.Context) guest {
	return guest{ctx.Value(instanceKey{}).(*instance), ctx}
}

// scope is the context that a host call is about.
func (g guest) scope() *scope {
	if g.effective != nil {
		return g.effective
	}
	return g.current
}

func (g guest) bytes(ptr, size uint32) ([]byte, bool) {
	if size == 0 {
		return nil, true
	}
	return g.mod.Memory().Read(ptr, size)
}

// strings reads several texts, given as pointers and sizes.
func (g guest) strings(at ...uint32) (texts []string, st status) {
	for i := 0; i < len(at); i += 2 {
		b, in := g.bytes(at[i], at[i+1])
		if !in {
			return nil, invalidMemory
		}
		texts = append(texts, string(b))
	}
	return texts, ok
}

// give puts bytes into memory that the filter allocates, and their place where it wants to find it. Nothing is
// allocated for nothing.
func (g guest) give(b []byte, ptr, size uint32) status {
	var at uint64
	if len(b) > 0 {
		results, err := g.mod.ExportedFunction("proxy_on_memory_allocate").Call(g.ctx, uint64(len(b)))
		if err != nil {
			return invalidMemory
		}
		at = results[0]
		if !g.mod.Memory().Write(uint32(at), b) {
			return invalidMemory
		}
	}
	return g.words(ptr, uint32(at), size, uint32(len(b)))
}

// words writes values, given as places and values.
func (g guest) words(at ...uint32) status {
	for i := 0; i < len(at); i += 2 {
		if !g.mod.Memory().WriteUint32Le(at[i], at[i+1]) {
			return invalidMemory
		}
	}
	return ok
}

// exportABI offers the host calls of proxy-wasm 0.2.1 that the Go SDK knows.
func exportABI(ctx context.Context, r wazero.Runtime) error {
	b := r.NewHostModuleBuilder("env")
	for name, f := range map[string]any{
		"proxy_log":                          hostLog,
		"proxy_get_log_level":                func(ctx context.Context, p uint32) status { return guestOf(ctx).words(p, uint32(Trace)) },
		"proxy_send_local_response":          hostSendLocalResponse,
		"proxy_continue_stream":              hostContinueStream,
		"proxy_close_stream":                 hostCloseStream,
		"proxy_set_effective_context":        hostSetEffectiveContext,
		"proxy_done":                         hostDone,
		"proxy_set_tick_period_milliseconds": hostSetTickPeriod,
		"proxy_call_foreign_function": func(context.Context, uint32, uint32, uint32, uint32, uint32, uint32) status {
			return notFound
		},
		"proxy_http_call":                hostHTTPCall,
		"proxy_get_header_map_pairs":     hostGetPairs,
		"proxy_set_header_map_pairs":     hostSetPairs,
		"proxy_get_header_map_value":     hostGetHeader,
		"proxy_add_header_map_value":     hostAddHeader,
		"proxy_replace_header_map_value": hostReplaceHeader,
		"proxy_remove_header_map_value":  hostRemoveHeader,
		"proxy_get_buffer_bytes":         hostGetBuffer,
		"proxy_set_buffer_bytes":         hostSetBuffer,
		"proxy_get_property":             hostGetProperty,
		"proxy_set_property":             hostSetProperty,
		"proxy_register_shared_queue":    hostRegisterQueue,
		"proxy_resolve_shared_queue":     hostResolveQueue,
		"proxy_enqueue_shared_queue":     hostEnqueue,
		"proxy_dequeue_shared_queue":     hostDequeue,
		"proxy_get_shared_data":          hostGetData,
		"proxy_set_shared_data":          hostSetData,
		"proxy_define_metric":            hostDefineMetric,
		"proxy_increment_metric": func(ctx context.Context, id uint32, by int64) status {
			return guestOf(ctx).incrementMetric(id, by)
		},
		"proxy_record_metric": func(ctx context.Context, id uint32, value uint64) status {
			return guestOf(ctx).recordMetric(id, value)
		},
		"proxy_get_metric": hostGetMetric,
	} {
		b.NewFunctionBuilder().WithFunc(f).Export(name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

func hostLog(ctx context.Context, level, ptr, size uint32) status {
	g := guestOf(ctx)
	text, st := g.strings(ptr, size)
	if st != ok {
		return st
	}
	if Level(level) > Critical {
		return badArgument
	}
	g.log(Level(level), text[0])
	return ok
}

func hostSendLocalResponse(ctx context.Context, code, detailsPtr, detailsSize, bodyPtr, bodySize, pairsPtr, pairsSize, _ uint32) status {
	g := guestOf(ctx)
	text, st := g.strings(detailsPtr, detailsSize, bodyPtr, bodySize, pairsPtr, pairsSize)
	if st != ok {
		return st
	}
	headers, fine := unmarshalPairs([]byte(text[2]))
	if !fine {
		return badArgument
	}
	if s := g.scope().stream; s != nil {
		details := strings.Join(strings.Fields(text[0]), "_")
		g.after = append(g.after, func() { s.localReply(int(code), headers, []byte(text[1]), details, false) })
	}
	g.stopped = true
	return ok
}

func hostContinueStream(ctx context.Context, kind uint32) status {
	g := guestOf(ctx)
	if kind > 3 {
		return badArgument
	}
	s := g.scope().stream
	if s == nil {
		return ok
	}
	switch kind {
	case 0:
		g.after = append(g.after, s.request.resume)
	case 1:
		g.after = append(g.after, s.response.resume)
	case 2:
		return ok
	default:
		return unimplemented
	}
	s.request.hide()
	return ok
}

func hostCloseStream(ctx context.Context, kind uint32) status {
	g := guestOf(ctx)
	if kind > 3 {
		return badArgument
	}
	if s := g.scope().stream; s != nil && kind < 2 {
		g.after = append(g.after, func() { s.end("wasm_close_stream") })
	}
	return ok
}

func hostSetEffectiveContext(ctx context.Context, id uint32) status {
	g := guestOf(ctx)
	c := g.scopes[id]
	if c == nil {
		return badArgument
	}
	g.instance.effective = c
	return ok
}

func hostDone(ctx context.Context) status {
	g := guestOf(ctx)
	if !g.notDone {
		return notFound
	}
	g.instance.notDone = false
	g.after = append(g.after, g.deleteRoot)
	return ok
}

func hostSetTickPeriod(ctx context.Context, ms uint32) status {
	g := guestOf(ctx)
	g.instance.tick = time.Duration(ms) * time.Millisecond
	g.instance.nextTick = g.vm.host.now.Add(g.tick)
	return ok
}

func hostHTTPCall(ctx context.Context, clusterPtr, clusterSize, headersPtr, headersSize, bodyPtr, bodySize, trailersPtr, trailersSize, timeout, tokenPtr uint32) status {
	g := guestOf(ctx)
	text, st := g.strings(clusterPtr, clusterSize, headersPtr, headersSize, bodyPtr, bodySize, trailersPtr, trailersSize)
	if st != ok {
		return st
	}
	headers, fine1 := unmarshalPairs([]byte(text[1]))
	trailers, fine2 := unmarshalPairs([]byte(text[3]))
	if !fine1 || !fine2 || timeout > math.MaxInt32 {
		return badArgument
	}
	token, st := g.dispatch(&Call{
		Cluster: text[0], Headers: headers, Body: []byte(text[2]), Trailers: trailers,
		Timeout: time.Duration(timeout) * time.Millisecond,
	})
	if written := g.words(tokenPtr, token); written != ok {
		return written
	}
	return st
}

// pairs finds a map; nil: it cannot be read now.
func (g guest) pairs(kind uint32) (*Headers, status) {
	s := g.scope().stream
	switch {
	case kind > 8:
		return nil, badArgument
	case kind == callHeaders && g.response != nil:
		return &g.response.Headers, ok
	case kind == callTrailers && g.response != nil && g.response.Trailers != nil:
		return &g.response.Trailers, ok
	case kind > responseTrailers, s == nil:
		return nil, ok
	}
	return s.pairs(kind), ok
}

// writable finds a map that the filter may change.
func (g guest) writable(kind uint32) *Headers {
	if s := g.scope().stream; kind <= responseTrailers && s != nil && !s.logging {
		return s.pairs(kind)
	}
	return nil
}

func hostGetPairs(ctx context.Context, kind, ptr, size uint32) status {
	g := guestOf(ctx)
	h, st := g.pairs(kind)
	switch {
	case st != ok:
		return st
	case h == nil || len(*h) == 0:
		return g.give(nil, ptr, size)
	}
	return g.give(marshalPairs(*h), ptr, size)
}

func hostSetPairs(ctx context.Context, kind, ptr, size uint32) status {
	g := guestOf(ctx)
	text, st := g.strings(ptr, size)
	if st != ok {
		return st
	}
	pairs, fine := unmarshalPairs([]byte(text[0]))
	h := g.writable(kind)
	if !fine || h == nil {
		return badArgument
	}
	*h = pairs
	return ok
}

func hostGetHeader(ctx context.Context, kind, namePtr, nameSize, ptr, size uint32) status {
	g := guestOf(ctx)
	text, st := g.strings(namePtr, nameSize)
	if st != ok {
		return st
	}
	h, st := g.pairs(kind)
	switch {
	case st != ok:
		return st
	case h == nil && g.scope().stream != nil && g.scope().stream.logging:
		return notFound
	case h == nil:
		return badArgument
	}
	value, known := h.lookup(text[0])
	if !known {
		return notFound
	}
	return g.give([]byte(value), ptr, size)
}

func hostAddHeader(ctx context.Context, kind, namePtr, nameSize, valuePtr, valueSize uint32) status {
	return guestOf(ctx).change(kind, (*Headers).add, namePtr, nameSize, valuePtr, valueSize)
}

func hostReplaceHeader(ctx context.Context, kind, namePtr, nameSize, valuePtr, valueSize uint32) status {
	return guestOf(ctx).change(kind, (*Headers).set, namePtr, nameSize, valuePtr, valueSize)
}

func hostRemoveHeader(ctx context.Context, kind, namePtr, nameSize uint32) status {
	return guestOf(ctx).change(kind, func(h *Headers, name, _ string) { h.remove(name) }, namePtr, nameSize, 0, 0)
}

func (g guest) change(kind uint32, how func(h *Headers, name, value string), at ...uint32) status {
	text, st := g.strings(at...)
	if st != ok {
		return st
	}
	h := g.writable(kind)
	if h == nil {
		return badArgument
	}
	how(h, text[0], text[1])
	return ok
}

func hostGetBuffer(ctx context.Context, kind, start, length, ptr, size uint32) status {
	g := guestOf(ctx)
	var b []byte
	s := g.scope().stream
	switch {
	case kind > 8:
		return badArgument
	case kind == requestBody && s != nil:
		b = s.request.body()
	case kind == responseBody && s != nil:
		b = s.response.body()
	case kind == callBody && g.response != nil:
		b = g.response.Body
	case kind == vmConfig:
		b = []byte(g.vm.host.o.VMConfig)
	case kind == pluginConfig && g.config:
		b = []byte(g.vm.host.o.Config)
	case kind == requestBody || kind == responseBody:
	default:
		return notFound
	}
	if start > start+length {
		return badArgument
	}
	from := min(int(start), len(b))
	return g.give(b[from:min(from+int(length), len(b))], ptr, size)
}

func hostSetBuffer(ctx context.Context, kind, start, length, ptr, size uint32) status {
	g := guestOf(ctx)
	text, st := g.strings(ptr, size)
	if st != ok {
		return st
	}
	s := g.scope().stream
	var b *[]byte
	switch {
	case kind == requestBody && s != nil:
		b = s.request.chunk
	case kind == responseBody && s != nil:
		b = s.response.chunk
	default:
		return badArgument
	}
	data := []byte(text[0])
	switch {
	case b == nil:
		return badArgument
	case start == 0 && length == 0:
		*b = append(data, *b...)
	case start == 0 && int(length) >= len(*b):
		*b = data
	case start == 0:
		return badArgument
	case int(start) >= len(*b):
		*b = append(*b, data...)
	default:
		return badArgument
	}
	return ok
}

func hostGetProperty(ctx context.Context, pathPtr, pathSize, ptr, size uint32) status {
	g := guestOf(ctx)
	text, st := g.strings(pathPtr, pathSize)
	if st != ok {
		return st
	}
	value, known := g.scope().property(strings.ReplaceAll(strings.TrimSuffix(text[0], "\x00"), "\x00", "."))
	if !known {
		return notFound
	}
	return g.give([]byte(value), ptr, size)
}

func hostSetProperty(ctx context.Context, pathPtr, pathSize, valuePtr, valueSize uint32) status {
	g := guestOf(ctx)
	text, st := g.strings(pathPtr, pathSize, valuePtr, valueSize)
	if st != ok {
		return st
	}
	s := g.scope().stream
	if s == nil {
		return notFound
	}
	s.filterState["wasm."+text[0]] = text[1]
	return ok
}

func hostRegisterQueue(ctx context.Context, namePtr, nameSize, tokenPtr uint32) status {
	g := guestOf(ctx)
	text, st := g.strings(namePtr, nameSize)
	if st != ok {
		return st
	}
	return g.words(tokenPtr, g.vm.host.queues.register(g.vm.host.o.VMID, text[0], g.vm, g.root.id))
}

func hostResolveQueue(ctx context.Context, vmPtr, vmSize, namePtr, nameSize, tokenPtr uint32) status {
	g := guestOf(ctx)
	text, st := g.strings(vmPtr, vmSize, namePtr, nameSize)
	if st != ok {
		return st
	}
	if text[0] == "" {
		text[0] = g.vm.host.o.VMID
	}
	token, known := g.vm.host.queues.tokens[[2]string{text[0], text[1]}]
	if !known {
		return notFound
	}
	return g.words(tokenPtr, token)
}

func hostEnqueue(ctx context.Context, token, ptr, size uint32) status {
	g := guestOf(ctx)
	item, in := g.bytes(ptr, size)
	if !in {
		return invalidMemory
	}
	return g.vm.host.enqueue(token, item)
}

func hostDequeue(ctx context.Context, token, ptr, size uint32) status {
	g := guestOf(ctx)
	item, st := g.vm.host.dequeue(token)
	if st != ok {
		return st
	}
	return g.give(item, ptr, size)
}

func hostGetData(ctx context.Context, keyPtr, keySize, ptr, size, casPtr uint32) status {
	g := guestOf(ctx)
	text, st := g.strings(keyPtr, keySize)
	if st != ok {
		return st
	}
	d, known := g.vm.host.data[text[0]]
	if !known {
		return notFound
	}
	if st := g.words(casPtr, d.cas); st != ok {
		return st
	}
	return g.give(d.value, ptr, size)
}

func hostSetData(ctx context.Context, keyPtr, keySize, valuePtr, valueSize, cas uint32) status {
	g := guestOf(ctx)
	text, st := g.strings(keyPtr, keySize, valuePtr, valueSize)
	if st != ok {
		return st
	}
	return g.vm.host.setData(text[0], []byte(text[1]), cas)
}

func hostDefineMetric(ctx context.Context, kind, namePtr, nameSize, idPtr uint32) status {
	g := guestOf(ctx)
	text, st := g.strings(namePtr, nameSize)
	if st != ok {
		return st
	}
	id, st := g.defineMetric(kind, text[0])
	if st != ok {
		return st
	}
	return g.words(idPtr, id)
}

func hostGetMetric(ctx context.Context, id, ptr uint32) status {
	g := guestOf(ctx)
	m := g.metrics[id]
	switch {
	case id&3 > gauge:
		return badArgument
	case m == nil:
		return notFound
	case !g.mod.Memory().WriteUint64Le(ptr, m.value):
		return invalidMemory
	}
	return ok
}

package wasmhost

import (
	"context"

	"github.com/tetratelabs/wazero"
)

// status is what a host call returns.
type status uint32

// The statuses of the ABI.
const (
	ok                   status = 0
	notFound             status = 1
	badArgument          status = 2
	serializationFailure status = 3
	invalidMemory        status = 6
	empty                status = 7
	casMismatch          status = 8
	internalFailure      status = 10
	unimplemented        status = 12
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

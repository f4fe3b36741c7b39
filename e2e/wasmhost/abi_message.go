package wasmhost

import "context"

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

package wasmhost

import (
	"context"
	"strings"
)

func hostGetProperty(ctx context.Context, pathPtr, pathSize, ptr, size uint32) status {
	g := guestOf(ctx)
	text, st := g.strings(pathPtr, pathSize)
	if st != ok {
		return st
	}
	path := strings.ReplaceAll(strings.TrimSuffix(text[0], "\x00"), "\x00", ".")
	if value, st, is := g.scope().metadata(path); st != ok {
		return st
	} else if is {
		return g.give(value, ptr, size)
	}
	value, known := g.scope().property(path)
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

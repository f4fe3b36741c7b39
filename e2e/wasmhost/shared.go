package wasmhost

// queues are the shared queues of the process, by VM id and name.
type queues struct {
	tokens map[[2]string]uint32
	byID   map[uint32]*queue
}

// queue remembers who registered it last: a worker and the id of a context there. When it is rung, that context is
// looked for in whatever instance the worker then has.
type queue struct {
	vm      *VM
	scopeID uint32
	items   [][]byte
}

func (q *queues) register(vmID, name string, vm *VM, scopeID uint32) uint32 {
	if q.tokens == nil {
		q.tokens, q.byID = map[[2]string]uint32{}, map[uint32]*queue{}
	}
	key := [2]string{vmID, name}
	token, known := q.tokens[key]
	if !known {
		token = uint32(len(q.tokens) + 1)
		q.tokens[key] = token
		q.byID[token] = &queue{}
	}
	q.byID[token].vm, q.byID[token].scopeID = vm, scopeID
	return token
}

// enqueue adds an item and rings the queue's owner later, on its own thread.
func (h *Host) enqueue(token uint32, item []byte) status {
	q := h.queues.byID[token]
	if q == nil {
		return notFound
	}
	q.items = append(q.items, append([]byte(nil), item...))
	vm, scopeID := q.vm, q.scopeID
	h.post(func() {
		i := vm.instance
		if c := i.scopes[scopeID]; c != nil && !i.failed {
			i.call(c, "proxy_on_queue_ready", uint64(scopeID), uint64(token))
			i.finishCall()
		}
	})
	return ok
}

func (h *Host) dequeue(token uint32) ([]byte, status) {
	q := h.queues.byID[token]
	switch {
	case q == nil:
		return nil, notFound
	case len(q.items) == 0:
		return nil, empty
	}
	item := q.items[0]
	q.items = q.items[1:]
	return item, ok
}

// datum is one value of the shared data, which all VMs of a VM id have in common.
type datum struct {
	value []byte
	cas   uint32
}

func (h *Host) setData(key string, value []byte, cas uint32) status {
	if old, known := h.data[key]; known && cas != 0 && cas != old.cas {
		return casMismatch
	}
	h.nextCAS++
	h.data[key] = datum{append([]byte(nil), value...), h.nextCAS}
	return ok
}

// SharedData gives what the filter's VMs share under a key.
func (h *Host) SharedData(key string) (value []byte, known bool) {
	d, known := h.data[key]
	return d.value, known
}

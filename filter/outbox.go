package main

// maxPerCallback bounds how many streams one callback of the root context answers. Envoy sends the replies after the
// callback has returned, each from inside the response callbacks of the one before, so that the depth of its stack is
// their number: some hundreds trap the VM, and every caller of the worker would be lost.
const maxPerCallback = 64

// outbox keeps what is to be sent to streams in order, and lets it out in portions, one for each callback.
type outbox struct {
	waiting []func()
	sent    int              // in this callback
	wake    func()           // asks for another callback
	fault   func(reason any) // told of a send that panicked: it must not cost the others theirs
}

// begin starts a callback: a new portion may go.
func (o *outbox) begin() {
	n := min(maxPerCallback, len(o.waiting))
	portion := o.waiting[:n:n]
	if o.waiting = o.waiting[n:]; len(o.waiting) == 0 {
		o.waiting = nil
	} else {
		o.wake()
	}
	o.sent = n
	for i, send := range portion {
		portion[i] = nil
		o.do(send)
	}
}

// put sends now if this callback has room for it and nothing is before it, and in a later callback otherwise.
func (o *outbox) put(send func()) {
	if o.sent < maxPerCallback && len(o.waiting) == 0 {
		o.sent++
		o.do(send)
		return
	}
	o.waiting = append(o.waiting, send)
	o.wake()
}

func (o *outbox) do(send func()) {
	defer func() {
		if r := recover(); r != nil {
			o.fault(r)
		}
	}()
	send()
}

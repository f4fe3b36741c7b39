package exchange

import "time"

// maxKept bounds the bodies that the calls of one worker keep until they are executed or answered. The VM has 4 GiB
// of address space at most and traps long before, taking every caller of the worker with it.
const maxKept = 192 << 20

// maxReplies bounds the replies of tools that one worker keeps until the ledger has acknowledged them, likewise.
const maxReplies = 384 << 20

// roomForReply says whether the worker has room for another reply with a body of size bytes.
func (w *Worker) roomForReply(size int) bool { return w.replies+int64(size) <= maxReplies }

// KeepReply says whether another piece of the reply that passes may be kept, and counts it. A stream's callback may call it.
func (c *Call) KeepReply(size int) bool {
	if !c.worker.roomForReply(size) {
		return false
	}
	c.keepOfReply(c.replySize + int64(size))
	return true
}

// keepOfReply says how much is kept of the reply that passes.
func (c *Call) keepOfReply(size int64) {
	c.worker.replies += size - c.replySize
	c.replySize = size
}

// perCall is about what a parked call takes beside its body.
const perCall = 8 << 10

// Room says whether the worker has room for another call with a body of size bytes. Where it has none, refuse the call
// with Full.
func (w *Worker) Room(size int) bool { return w.kept+int64(size)+perCall <= maxKept }

// Full is the refusal of a call for which the worker has no room. The tool was not called.
func (w *Worker) Full() Reply {
	r := (&Call{}).problemReply(problem{code: codeOverloaded, retryAfter: time.Second,
		detail: "this proxy worker keeps as many callers' bodies as it may; the tool was not called"})
	w.count(r)
	return r
}

// keep counts what the call keeps.
func (c *Call) keep() {
	c.size = int64(len(c.Request.Body)) + perCall
	c.worker.kept += c.size
}

// letGo lets go of the body. The call is executed or answered: it is not sent again.
func (c *Call) letGo() {
	c.worker.kept -= c.size
	c.size = 0
	c.Request.Body, c.Action.Args = nil, nil
}

package exchange

import "time"

// Host is what a worker needs from the proxy. Its methods are called from one goroutine at a time.
type Host interface {
	// Now is a monotonic clock: the time since a moment that does not change while the worker lives.
	Now() time.Duration
	// NewID gives a random id that no other worker, VM or machine gives: at least 128 bits.
	NewID() string
	// Dispatch makes an HTTP call that belongs to the worker. It returns false where the call was surely not made;
	// otherwise done is called exactly once, later, never from inside Dispatch.
	Dispatch(call HTTPCall, done func(HTTPReply)) bool
	// Wake asks the proxy to call Worker.Flush in the root context soon. It may be called from a stream's callback.
	Wake()
	// Count adds to a counter of the proxy's statistics.
	Count(metric string, n uint64)
	// Observe records a value in a histogram of the proxy's statistics.
	Observe(metric string, value uint64)
	// Gauge adds to a gauge of the proxy's statistics, which all workers share.
	Gauge(metric string, change int64)
	// Fault writes of a panic that was recovered from.
	Fault(where string, recovered any)
	// Warn writes a line for the operator. It never carries a body or a credential.
	Warn(line string)
}

// HTTPCall is a request that the worker makes. Headers hold :method, :path and :authority too.
type HTTPCall struct {
	Cluster string
	Headers [][2]string
	Body    []byte
	Timeout time.Duration
	Room    func(size int) bool // whether a reply's body of that size may be read; nil: any may

	// Passing is told of each piece of the reply's body as it passes, where the proxy can show it, with how the reply
	// began: status and headers. It may be called from a stream's callback. It says whether there is enough of the reply:
	// the proxy may end it then. done is called all the same. nil: nobody asks.
	Passing func(begun HTTPReply, piece []byte) (enough bool)
}

// HTTPReply is what came back. Status 0 says that the call ended without a reply: reset, cut short or over a limit.
type HTTPReply struct {
	Status  int
	Headers [][2]string
	Body    []byte
	Unread  bool // there was a body, and no room for it
}

// Caller is the parked stream. Reply or GoOn is called, at most once, from the root context; a stream that is gone
// ignores it.
type Caller interface {
	// Reply answers the caller.
	Reply(Reply)
	// GoOn lets the stream itself go on to the tool, with the request's headers as given. Its end comes back by
	// Call.StreamEnded.
	GoOn(headers [][2]string)
	// Conclude tells a stream that has gone on what came of it, once. A reply without a Status is the tool's own: what is
	// held back of that goes on, with the headers where its head is held back too. Any other takes its place, and where it
	// has begun to reach the caller it is broken off.
	Conclude(Reply)
}

// Reply is what the caller is told. Headers are complete but for what the proxy adds itself (content-length, date).
type Reply struct {
	Status  int
	Headers [][2]string
	Body    []byte
	Outcome string // one of the outcomes in reply.go
	Code    string // of a refusal; empty otherwise

	// For access logs; empty where there is none.
	Attempt     string // the one that the reply tells of
	Hold        string // the hold's id
	Traceparent string // of the execution, where another caller's made the result
}

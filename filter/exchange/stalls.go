package exchange

import "time"

// stalls is how long the worker could do nothing but read calls: ticks then come late, and so do answers that have long
// been there. That time is not the ledger's.
type stalls struct {
	ticked  time.Duration // when the last tick came; 0: none has
	total   time.Duration // by how much ticks came late, since the worker began
	reading time.Duration // what reading large bodies took since the last tick
}

// tick gives by how much this tick came late.
func (s *stalls) tick(now time.Duration) time.Duration {
	late := s.late(now)
	s.total += late
	s.ticked, s.reading = now, 0
	return late
}

// late gives by how much the next tick is overdue.
func (s *stalls) late(now time.Duration) time.Duration {
	if s.ticked == 0 || now < s.ticked+2*TickPeriod {
		return 0
	}
	return now - s.ticked - TickPeriod
}

// until gives how long the worker has stalled in all.
func (s *stalls) until(now time.Duration) time.Duration { return s.total + s.late(now) }

// largeBody is from how many bytes on a body takes so long to read that it matters to others.
const largeBody = 64 << 10

// Read says how long the worker took to read a call with a body of size bytes.
func (w *Worker) Read(size int, took time.Duration) {
	w.host.Observe(statReadUS, uint64(took.Microseconds()))
	if size >= largeBody {
		w.stalls.reading += took
	}
}

// Busy says whether the worker has spent so much time on large bodies, since anything else had its turn, that the calls
// that wait for the ledger would be given up if it read one more of size bytes. Refuse the call with Overworked.
func (w *Worker) Busy(size int) bool {
	return size >= largeBody && w.stalls.reading >= w.config.Ledger.Timeout/4
}

// Overworked is the refusal of a call for which the worker has no time. The tool was not called.
func (w *Worker) Overworked() Reply {
	r := (&Call{}).problemReply(problem{code: codeOverloaded, retryAfter: time.Second,
		detail: "this proxy worker is busy with other callers' large bodies; the tool was not called"})
	w.count(r)
	return r
}

// forgive gives the reserves that wait the time that the worker has stalled. What the ledger answered meanwhile is heard
// before the next tick.
func (l *link) forgive(late, now time.Duration) {
	for i := range l.queue {
		l.queue[i].at += min(late, now-l.queue[i].at)
	}
}

// silence tells a caller that the ledger's answer did not come in time, or that it was this worker that did not listen.
func (w *Worker) silence(c *Call, detail string) problem {
	if w.stalls.until(w.host.Now())-c.stalled >= w.config.Ledger.Timeout/2 {
		return problem{code: codeOverloaded, retryAfter: time.Second, detail: "this proxy worker was too busy with large bodies " +
			"to hear the ledger's answer in time, so the tool was not called"}
	}
	return problem{code: codeLedgerUnavailable, retryAfter: time.Second, detail: detail}
}

package ledger

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
)

// job is one command on its way through a record's queue.
type job struct {
	cmd   intent.Command
	bytes []byte // what a commit or a failure brought, as it is stored
	limit int64  // of an arrival: max_result_bytes
	fresh bool   // decided by what the store has, not by what this node remembers
	swept bool   // of the sweeper: the record's entry in the Due index is wrong if nothing else changes
	// ends says that the command ends or prolongs an execution, or is a human's: it is not refused for want of room
	// before double the limit is reached.
	ends   bool
	waiter *waiter   // whose first look this is
	since  time.Time // when it came

	verdict   intent.Verdict
	at        time.Time // when it was decided
	seen      *entry    // the record that the verdict is true of
	uncertain bool      // a write with its effect may have happened before the one that decided
	err       error

	// done is called once, by the runner of the record's queue: it must not block.
	done func(*job)
}

// mostTogether is how many jobs of one record are decided with one write.
const mostTogether = 512

// queues lets the jobs of each record wait for one another: what arrives while a record is being written is decided
// together by the next write, one step after the other, each with a verdict of its own. So 500 concurrent arrivals for
// one record never meet themselves in a conflict, and cost a few writes.
type queues struct {
	shards [64]shard
}

type shard struct {
	mu     sync.Mutex
	queues map[string]*queue
}

type queue struct{ waiting []*job }

var queueSeed = maphash.MakeSeed()

func (q *queues) shard(key string) *shard {
	return &q.shards[maphash.String(queueSeed, key)%uint64(len(q.shards))]
}

// submit puts a job into its record's queue. If it cannot, done is called with the reason at once.
func (l *Ledger) submit(key string, j *job) {
	l.gate.RLock()
	defer l.gate.RUnlock()
	j.since = time.Now()
	most := int64(l.o.QueuedOps)
	if j.ends {
		most *= 2
	}
	switch n := l.queued.Add(1); {
	case l.closed:
		l.refuse(j, ErrStopping)
		return
	case n > most:
		l.refuse(j, queueFull(most, j.ends))
		return
	}
	s := l.queues.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.queues[key]; q != nil {
		q.waiting = append(q.waiting, j)
		return
	}
	if s.queues == nil {
		s.queues = map[string]*queue{}
	}
	s.queues[key] = &queue{waiting: []*job{j}}
	l.running.Add(1)
	select {
	case l.work <- task{s, key}:
	default:
		go l.runner(task{s, key})
	}
}

// task is a record in whose queue something waits.
type task struct {
	shard *shard
	key   string
}

// mostIdle is how many runners wait for work. One that has run has the stack that deciding needs; a new one would have
// to grow it, which costs as much as the decision.
const mostIdle = 256

// runner runs the queues of one record after the other.
func (l *Ledger) runner(t task) {
	for {
		l.run(t.shard, t.key)
		if l.idle.Add(1) > mostIdle {
			l.idle.Add(-1)
			return
		}
		select {
		case t = <-l.work:
			l.idle.Add(-1)
		case <-l.ctx.Done():
			return
		}
	}
}

func (l *Ledger) refuse(j *job, err error) {
	j.err = err
	l.queued.Add(-1)
	j.done(j)
}

// run decides what waits in a record's queue until nothing does.
func (l *Ledger) run(s *shard, key string) {
	defer l.running.Done()
	for {
		s.mu.Lock()
		q := s.queues[key]
		jobs := q.waiting
		if len(jobs) > mostTogether {
			jobs, q.waiting = jobs[:mostTogether:mostTogether], jobs[mostTogether:]
		} else {
			q.waiting = nil
		}
		if len(jobs) == 0 {
			delete(s.queues, key)
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()

		if timely := l.timely(jobs); len(timely) > 0 {
			l.decided(key, timely)
		}
		for _, j := range jobs {
			l.account(key, j)
			l.queued.Add(-1)
			j.done(j)
		}
	}
}

// timely gives the jobs that are still worth deciding. Whoever asked for the others was answered meanwhile; they have no
// effect.
func (l *Ledger) timely(jobs []*job) []*job {
	now := time.Now()
	late := func(j *job) bool { return now.Sub(j.since) > l.o.OperationTimeout }
	if !slices.ContainsFunc(jobs, late) {
		return jobs
	}
	var timely []*job
	for _, j := range jobs {
		if late(j) {
			j.err = errLate
		} else {
			timely = append(timely, j)
		}
	}
	return timely
}

// decided is decide for a record whose bytes, or whose store, may make it panic: that must not end what this process is
// doing for all other records.
func (l *Ledger) decided(key string, jobs []*job) {
	defer func() {
		if what := recover(); what != nil {
			l.giveUp(key, jobs, store.Panicked("deciding", what))
		}
	}()
	l.decide(key, jobs)
}

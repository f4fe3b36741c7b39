package ledger

import (
	"context"
	"slices"
	"sync"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/wire"
)

// Do answers the operations of one batch, in order. An operation that is wrong or fails has an answer of its own.
// It blocks for OperationTimeout at most, for an await besides until the wait is over, and never longer than ctx. What is
// still under way by then goes on, or is dropped; its answer says that nothing is known of it. Results that would make the
// answers larger than one reply may be are to be fetched.
func (l *Ledger) Do(ctx context.Context, ops []wire.Op) []wire.Answer {
	b := &batch{answers: make([]wire.Answer, len(ops)), left: len(ops), whole: make(chan struct{})}
	if len(ops) == 0 {
		return b.answers
	}
	ctx = OneReply(ctx)
	ops = slices.Clone(ops) // the caller's may change once ctx has ended
	for i := range ops {
		l.start(ctx, &ops[i], func(a wire.Answer) { b.set(i, a) })
	}
	over := time.NewTimer(l.o.OperationTimeout)
	defer over.Stop()
	for {
		select {
		case <-b.whole:
			return b.answers
		case <-over.C:
			for i := range ops {
				if ops[i].Kind != wire.OpAwait { // which knows itself how long it may take
					b.set(i, l.failure(ops[i].Kind, errSlow))
				}
			}
		case <-ctx.Done():
			return b.cut(func(i int) wire.Answer { return l.failure(ops[i].Kind, context.Cause(ctx)) })
		}
	}
}

// batch collects the answers of a call of Do.
type batch struct {
	mu      sync.Mutex
	answers []wire.Answer
	left    int
	over    bool
	whole   chan struct{}
}

func (b *batch) set(i int, a wire.Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over || b.answers[i].Kind != "" {
		return
	}
	b.answers[i] = a
	if b.left--; b.left == 0 {
		b.over = true
		close(b.whole)
	}
}

// cut ends the batch: operations without an answer get missing's.
func (b *batch) cut(missing func(i int) wire.Answer) []wire.Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	for i := range b.answers {
		if b.answers[i].Kind == "" {
			b.answers[i] = missing(i)
		}
	}
	return b.answers
}

// start sets an operation on its way; answer is called once.
func (l *Ledger) start(ctx context.Context, op *wire.Op, answer func(wire.Answer)) {
	switch op.Kind {
	case wire.OpReserve:
		l.reserve(ctx, op, answer)
	case wire.OpExtend:
		l.end(op, &job{cmd: intent.Extend{Attempt: op.Attempt}}, answer)
	case wire.OpCommit:
		if op.Result == nil {
			answer(l.invalid("status", "must be there in commit"))
			return
		}
		b, result := described(op)
		l.end(op, &job{cmd: intent.Commit{Attempt: op.Attempt, Result: result}, bytes: b}, answer)
	case wire.OpFail:
		cmd := intent.Fail{Attempt: op.Attempt, Class: intent.Class(op.Class)}
		var b []byte
		if op.Result != nil {
			var failure intent.Result
			b, failure = described(op)
			cmd.Failure = &failure
		}
		l.end(op, &job{cmd: cmd, bytes: b}, answer)
	case wire.OpAwait:
		go func() { answer(l.awaited(ctx, op)) }()
	case wire.OpFetch:
		l.fetch(ctx, op, answer)
	default:
		answer(l.invalid("op", "must be one of reserve, extend, commit, fail, await, fetch"))
	}
}

// described gives what is stored of an operation's result, and what the record says of it.
func described(op *wire.Op) ([]byte, intent.Result) {
	b := encodeResult(op.Intent, op.Result)
	return b, intent.Result{Status: op.Result.Status, Size: int64(len(op.Result.Body)), Digest: digest(b), Missing: op.Missing}
}

// end does an extend, a commit or a fail.
func (l *Ledger) end(op *wire.Op, j *job, answer func(wire.Answer)) {
	j.ends = true
	j.done = func(j *job) {
		if j.err != nil {
			answer(l.failure(op.Kind, j.err))
			return
		}
		a := wire.Answer{Kind: wire.AnswerOK, Now: unixMS(j.at)}
		switch j.verdict.Kind {
		case intent.Fenced:
			a.Kind = wire.AnswerFenced
		case intent.Full:
			a = l.refused(j, op.Kind)
		}
		answer(a)
	}
	l.submit(op.Intent, j)
}

// arrival gives the command of a reserve.
func (l *Ledger) arrival(op *wire.Op) (intent.Arrive, int64) {
	rule := wire.DefaultRule()
	if op.Rule != nil {
		rule = *op.Rule
	}
	return intent.Arrive{
		Attempt: op.Attempt, HoldID: l.o.NewID(), Fingerprint: op.Fingerprint, Run: op.Run, Tool: op.Tool,
		Action: l.o.Actions.stored(op.Action), NotAfter: moment(op.NotAfter),
		Rule: intent.Rule{
			Name: rule.Name, Window: ms(rule.WindowMS), Horizon: ms(rule.HorizonMS), HoldTerm: ms(rule.HoldTermMS),
			ApprovalTerm: ms(rule.ApprovalTermMS), Lease: ms(rule.LeaseMS), Wait: ms(rule.WaitMS),
			ExecutionTimeout: ms(rule.ExecutionMS), Retention: ms(rule.RetentionMS),
			OnNewRun: intent.Policy(rule.OnNewRun), OnSameIntent: intent.Policy(rule.OnSameIntent),
			OnAbsentRun: intent.Policy(rule.OnAbsentRun), RetryInDoubt: rule.RetryInDoubt,
		},
	}, rule.MaxResultBytes
}

// reserve decides an arrival: in its own record, or where former configurations or marks lead it.
func (l *Ledger) reserve(ctx context.Context, op *wire.Op, answer func(wire.Answer)) {
	arrive, limit := l.arrival(op)
	own := intent.Identity{Intent: op.Intent, Fingerprint: op.Fingerprint}
	former := slices.DeleteFunc(slices.Clone(op.Also), func(id wire.Identity) bool { return intent.Identity(id) == own })
	if len(former) > 0 {
		go func() { l.reached(ctx, op, l.follow(arrive, limit, own, former), answer) }()
		return
	}
	l.submit(op.Intent, &job{cmd: arrive, limit: limit, done: func(j *job) {
		if j.err == nil && j.verdict.Kind == intent.Moved {
			go func() { l.reached(ctx, op, l.followMark(arrive, limit, own, j), answer) }()
			return
		}
		l.reached(ctx, op, decided{op.Intent, j}, answer)
	}})
}

// reached answers a reserve that was decided. It does not block: it may run in a record's queue.
func (l *Ledger) reached(ctx context.Context, op *wire.Op, d decided, answer func(wire.Answer)) {
	if d.job.err != nil {
		answer(l.failure(op.Kind, d.job.err))
		return
	}
	a, result := l.verdict(d.job)
	if d.key != op.Intent {
		a.Intent = d.key
	}
	if r := d.job.verdict.Recorded; r != op.Fingerprint {
		a.Fingerprint = r
	}
	l.withResult(ctx, d.key, a, result, l.o.InlineBytes, answer)
}

// fetch gives the stored result of an attempt, of whatever size.
func (l *Ledger) fetch(ctx context.Context, op *wire.Op, answer func(wire.Answer)) {
	l.submit(op.Intent, &job{cmd: intent.Tick{}, fresh: true, done: func(j *job) {
		if j.err != nil {
			answer(l.failure(op.Kind, j.err))
			return
		}
		v := j.seen.Record.Attempt(op.Attempt)
		a := wire.Answer{Kind: wire.AnswerGone, Now: unixMS(j.at)}
		if v.Kind == intent.Replay || v.Kind == intent.Failed && v.Result != nil {
			a.Kind, a.Attempt = wire.AnswerResult, op.Attempt
		} else {
			v.Result = nil
		}
		l.withResult(ctx, op.Intent, a, v.Result, whole, answer)
	}})
}

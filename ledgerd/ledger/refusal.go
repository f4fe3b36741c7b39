package ledger

import (
	"context"
	"errors"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
	"idem/ledgerd/wire"
)

// When a refused operation may be sent again.
const (
	retryOverloaded  = time.Second
	retryUnavailable = time.Second
)

// verdict says an arrival's verdict in the words of the wire, and names the result that belongs into the answer.
func (l *Ledger) verdict(j *job) (wire.Answer, *intent.Result) {
	v := &j.verdict
	a := wire.Answer{Now: unixMS(j.at), Attempt: v.Attempt}
	switch v.Kind {
	case intent.Granted:
		a.Kind, a.LeaseMS, a.ApprovedBy = wire.AnswerExecute, v.Lease.Milliseconds(), v.ApprovedBy
	case intent.Wait:
		a.Kind, a.Since = wire.AnswerInFlight, unixMS(v.Since)
	case intent.Replay:
		a.Kind = wire.AnswerReplay
		return a, v.Result
	case intent.Held:
		a.Kind, a.Hold = wire.AnswerHeld, holdOf(v)
	case intent.Denied:
		a.Kind, a.Hold = wire.AnswerDenied, holdOf(v)
	case intent.Doubt:
		a.Kind, a.Since = wire.AnswerInDoubt, unixMS(v.Since)
	default:
		return l.refused(j, wire.OpReserve), nil
	}
	return a, nil
}

// waited answers an await whose wait is over.
func (l *Ledger) waited(ctx context.Context, op *wire.Op, v intent.Verdict) wire.Answer {
	a := wire.Answer{Now: l.heardNow(), Attempt: op.Attempt}
	var result *intent.Result
	switch v.Kind {
	case intent.Wait:
		a.Kind, a.Since = wire.AnswerInFlight, unixMS(v.Since)
	case intent.Replay:
		a.Kind, result = wire.AnswerResult, v.Result
	case intent.Failed:
		a.Kind, a.Class, result = wire.AnswerFailed, wire.Class(v.Class), v.Result
	case intent.Doubt:
		a.Kind, a.Since = wire.AnswerInDoubt, unixMS(v.Since)
	case intent.Held:
		a.Kind, a.Hold = wire.AnswerHeld, holdOf(&v)
	case intent.Answered:
		a.Kind = wire.AnswerAnswered
	default:
		a.Kind = wire.AnswerGone
	}
	answered := make(chan wire.Answer, 1)
	l.withResult(ctx, op.Intent, a, result, l.o.InlineBytes, func(a wire.Answer) { answered <- a })
	select {
	case a = <-answered:
	default: // it is read from the store
		select {
		case a = <-answered:
		case <-ctx.Done():
			a = l.failure(op.Kind, context.Cause(ctx))
		}
	}
	return a
}

// refused answers an operation that the machine did not do.
func (l *Ledger) refused(j *job, kind wire.OpKind) wire.Answer {
	a := wire.Answer{Kind: wire.AnswerRefused, Now: unixMS(j.at), Detail: j.verdict.Why, RetryAfterMS: wire.WaitMS(j.verdict.RetryAfter)}
	if kind != wire.OpReserve {
		a.Kind = wire.AnswerError
	}
	switch j.verdict.Kind {
	case intent.Late:
		a.Code, a.Detail = wire.CodeLate, "the reserve came after its not_after"
	case intent.Over:
		a.Code = wire.CodeEnded
	default: // Full
		a.Code = wire.CodeOverloaded
	}
	return a
}

// failure answers an operation that was not decided. Every error of the store is mapped here and nowhere else.
func (l *Ledger) failure(kind wire.OpKind, err error) wire.Answer {
	a := wire.Answer{Kind: wire.AnswerError, Now: l.heardNow(), Code: wire.CodeUnavailable, RetryAfterMS: retryUnavailable.Milliseconds()}
	var limit *limitError
	switch {
	case errors.Is(err, store.ErrOverloaded):
		a.Code, a.Detail, a.RetryAfterMS = wire.CodeOverloaded, "as many writes wait for the store as may", retryOverloaded.Milliseconds()
		if errors.As(err, &limit) {
			a.Detail = limit.detail
		}
		if kind == wire.OpReserve {
			a.Kind = wire.AnswerRefused
		}
	case errors.Is(err, ErrStopping):
		a.Detail = "ledgerd is stopping: nothing was done; ask another node, or this one once it is back"
	case errors.Is(err, errContended):
		a.Detail = "the record changes faster than it can be decided"
	case errors.Is(err, store.ErrRefused):
		a.Detail = "the store refuses ledgerd's credentials; nothing is known of the effect"
	case errors.Is(err, store.ErrUnfit):
		a.Detail = "the store answers, but cannot be used as it is; ledgerd's log says why; nothing is known of the effect"
	default:
		a.Detail = "the store does not answer, or did not say whether it wrote; nothing is known of the effect"
	}
	return a
}

// invalid answers an operation that is wrong.
func (l *Ledger) invalid(field, detail string) wire.Answer {
	return wire.Answer{Kind: wire.AnswerError, Now: l.heardNow(), Code: wire.CodeInvalid, Field: field, Detail: detail}
}

func holdOf(v *intent.Verdict) *wire.Hold {
	return &wire.Hold{ID: v.Hold.ID, Reason: v.Hold.Reason, Of: v.Hold.Of, Version: v.Hold.Version}
}

package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
	"idem/ledgerd/wire"
)

// whole is the inline limit of a fetch: it gives a result of whatever size. What was stored under a larger
// MaxResultBytes, before a restart or by another node, is given all the same.
const whole = math.MaxInt64

// withResult puts the result that a record names into an answer, or why there is none, or that it must be fetched: by
// itself it is larger than inline, or its reply is full. It does not block: what is not in memory is read elsewhere.
func (l *Ledger) withResult(ctx context.Context, key string, a wire.Answer, r *intent.Result, inline int64, answer func(wire.Answer)) {
	switch {
	case r == nil:
	case r.Missing != "":
		a.Missing = r.Missing
	case r.Size > inline:
		a.Fetch = true
	default:
		if stored, ok := l.results.get(resultName(r.Attempt, r.Digest)); ok {
			answer(l.holding(ctx, a, &stored.Result, inline))
			return
		}
		go func() {
			stored, err := l.result(ctx, key, r)
			switch {
			case errors.Is(err, store.ErrNotFound):
				a.Missing = wire.MissingErased
			case err != nil:
				a = l.failure("", err)
			default:
				a = l.holding(ctx, a, &stored.Result, inline)
			}
			answer(a)
		}()
		return
	}
	answer(a)
}

// holding puts a result into an answer, or says that it must be fetched. A fetch that finds its reply full is to come
// again: in a reply of its own every result fits.
func (l *Ledger) holding(ctx context.Context, a wire.Answer, r *wire.Result, inline int64) wire.Answer {
	fetched := inline == whole
	switch {
	case !fetched && resultSize(r) > inline:
		a.Fetch = true
	case fits(ctx, r):
		a.Result = r
	case fetched:
		return wire.Answer{Kind: wire.AnswerError, Now: a.Now, Code: wire.CodeOverloaded, RetryAfterMS: retryOverloaded.Milliseconds(),
			Detail: "the results before it fill the reply: fetch it by a request of its own"}
	default:
		a.Fetch = true
	}
	return a
}

// storedName is the name of bytes in the store. An attempt's id is chosen outside, so that two intents may have one: each
// has a name of its own there. What an earlier ledgerd stored stands under the attempt alone.
func storedName(key, attempt string) string { return key + attempt }

// dropped gives every name that bytes of a record may stand under which it no longer names.
func dropped(key string, attempts []string) (names []string) {
	for _, attempt := range attempts {
		names = append(names, storedName(key, attempt), attempt)
	}
	return names
}

// stored reads the bytes of an attempt.
func (l *Ledger) stored(ctx context.Context, key, attempt string) ([]byte, error) {
	b, err := l.store.Result(ctx, storedName(key, attempt))
	if errors.Is(err, store.ErrNotFound) {
		return l.store.Result(ctx, attempt)
	}
	return b, err
}

// result reads the bytes that a record names. Bytes that are not those the record remembers, which their own intent is
// among, are as good as none.
func (l *Ledger) result(ctx context.Context, key string, r *intent.Result) (*storedResult, error) {
	epoch := l.results.now()
	ctx, cancel := context.WithTimeout(ctx, l.o.OperationTimeout)
	defer cancel()
	b, err := l.stored(ctx, key, r.Attempt)
	if errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if err != nil {
		return nil, unavailable(err)
	}
	stored, err := decodeResult(b)
	if err != nil || digest(b) != r.Digest {
		if missed, due := l.mixedUp.Due(time.Now()); due {
			l.o.Log.Error("a stored result is not the one that its record names; it is given to nobody", "intent", key, "attempt", r.Attempt, "error", err, "more_since_last", missed)
		}
		return nil, fmt.Errorf("ledger: the result of %s: %w", r.Attempt, store.ErrNotFound)
	}
	l.results.put(epoch, resultName(r.Attempt, r.Digest), stored, stored.weight(cap(b)))
	return stored, nil
}

// resultName names a result in memory; the digest is of its intent too. An attempt's failure and its late commit stand
// under one name in the store, and are two results here.
func resultName(attempt, digest string) string { return attempt + " " + digest }

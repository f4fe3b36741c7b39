package ledger

import (
	"context"
	"errors"

	"idem/ledgerd/store"
)

// Ready says why the ledger cannot work now: nil if the store answers, and takes every kind of write that calls need.
// Where no call has shown that a moment ago, or one failed, it costs three writes; who lets everybody ask keeps the
// answer for a while.
func (l *Ledger) Ready(ctx context.Context) error {
	l.gate.RLock()
	closed := l.closed
	l.gate.RUnlock()
	if closed {
		return ErrStopping
	}
	ctx, cancel := context.WithTimeout(ctx, l.o.OperationTimeout)
	defer cancel()
	now, err := l.Now(ctx)
	if err != nil {
		return err
	}
	if l.proof.fresh() {
		return nil
	}
	proved := make(chan error, 1)
	go func() { proved <- l.prove(ctx, now) }()
	select {
	case err := <-proved:
		if errors.Is(err, store.ErrOverloaded) && !l.proof.doubted() {
			return nil // it has much to do, and does it
		}
		return err
	case <-ctx.Done(): // whatever the store does with that
		return unavailable(ctx.Err())
	}
}

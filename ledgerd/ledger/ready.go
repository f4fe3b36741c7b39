package ledger

import (
	"context"
)

// settingReady holds the moment at which the ledger was last found to be ready.
const settingReady = "ledger.ready"

// Ready says why the ledger cannot work now: nil if the store answers and writes. It costs a write; who lets everybody
// ask keeps the answer for a while.
func (l *Ledger) Ready(ctx context.Context) error {
	l.gate.RLock()
	closed := l.closed
	l.gate.RUnlock()
	if closed {
		return ErrStopping
	}
	now, err := l.Now(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, l.o.StoreTimeout)
	defer cancel()
	if err := l.setMoment(ctx, settingReady, now); err != nil {
		return unavailable(err)
	}
	return nil
}

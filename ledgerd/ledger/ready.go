package ledger

import (
	"context"
	"sync"
	"time"
)

// readiness keeps the last look at whether the store can be written, so that a probe costs one write a second at most.
type readiness struct {
	mu  sync.Mutex
	at  time.Time // of this process's clock
	err error
}

const (
	settingReady = "ledger.ready"
	readyTerm    = time.Second
)

// Ready says why the ledger cannot work now: nil if the store answers and writes.
func (l *Ledger) Ready(ctx context.Context) error {
	l.gate.RLock()
	closed := l.closed
	l.gate.RUnlock()
	if closed {
		return errClosed
	}
	r := &l.ready
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.at.IsZero() && time.Since(r.at) < readyTerm {
		return r.err
	}
	now, err := l.Now(ctx)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, l.o.StoreTimeout)
		defer cancel()
		if err = l.setMoment(ctx, settingReady, now); err != nil {
			err = unavailable(err)
		}
	}
	r.at, r.err = time.Now(), err
	return err
}

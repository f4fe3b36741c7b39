package ledger

import (
	"context"
	"sync"
)

// turn lets only so many things be under way at once. One goroutine lets them begin; they end anywhere.
type turn struct {
	most func() int // how many may be under way now; 1 at least

	mu       sync.Mutex
	underWay int
	ended    chan struct{} // has room for one: some have ended since it was read
}

func newTurn(most func() int) *turn { return &turn{most: most, ended: make(chan struct{}, 1)} }

// enter waits until one more may begin; false: ctx has ended.
func (t *turn) enter(ctx context.Context) bool {
	return t.until(ctx, func() bool {
		free := t.underWay < t.most()
		if free {
			t.underWay++
		}
		return free
	})
}

// leave says that one has ended.
func (t *turn) leave() {
	t.mu.Lock()
	t.underWay--
	t.mu.Unlock()
	select {
	case t.ended <- struct{}{}:
	default:
	}
}

// wait waits until all have ended, or ctx has. Nothing more may begin.
func (t *turn) wait(ctx context.Context) { t.until(ctx, func() bool { return t.underWay == 0 }) }

// until waits for a condition that comes true, if at all, when something ends.
func (t *turn) until(ctx context.Context, reached func() bool) bool {
	for {
		t.mu.Lock()
		ok := reached()
		t.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-t.ended:
		case <-ctx.Done():
			return false
		}
	}
}

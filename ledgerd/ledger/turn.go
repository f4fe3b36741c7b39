package ledger

import "context"

// turn lets only so many things be under way at once.
type turn chan struct{}

func newTurn(atOnce int) turn { return make(turn, atOnce) }

// enter waits until one more may begin; false: ctx has ended.
func (t turn) enter(ctx context.Context) bool {
	select {
	case t <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// leave says that one has ended.
func (t turn) leave() { <-t }

// wait waits until all have ended, or ctx has. Nothing more may begin.
func (t turn) wait(ctx context.Context) {
	for range cap(t) {
		if !t.enter(ctx) {
			return
		}
	}
}

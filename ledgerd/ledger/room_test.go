package ledger

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/memory"
	"idem/ledgerd/wire"
)

// full is a store that has no room: it answers and removes, and takes nothing else.
type full struct {
	store.Store
	is bool
}

var errFull = fmt.Errorf("%w: full", store.ErrUnfit)

func (s *full) SetSetting(ctx context.Context, name, value string) error {
	if s.is {
		return errFull
	}
	return s.Store.SetSetting(ctx, name, value)
}

func (s *full) Swap(ctx context.Context, w store.Write) (uint64, error) {
	if s.is && w.Data != nil {
		return 0, errFull
	}
	return s.Store.Swap(ctx, w)
}

// What keeps the nodes of a store together needs room too; a store that is full must become empty all the same.
func TestWhatIsOverMakesRoomInAFullStore(t *testing.T) {
	c := newClock()
	kept := &full{Store: memory.New(memory.Options{Clock: c.now})}
	b := openOver(t, c, &watched{Store: kept}, shared)
	b.must(wire.AnswerExecute, reserve("live", "live", "live", "r"))
	b.must(wire.AnswerExecute, reserve("stays", "stays", "stays", "r"))
	b.must(wire.AnswerOK, commit("stays", "stays", "done"))
	b.gone(1500)
	kept.is = true
	b.pass(time.Minute) // longer than the lease, too: the outage is the store's, not the execution's
	if left, err := kept.Newest(t.Context(), 10); err != nil || len(left) != 2 {
		t.Errorf("%d records are left, %v; want the one that executes and the one whose retention is not over", len(left), err)
	}
	if _, err := b.stored(t.Context(), hash("gone-0"), "gone-0"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the result of a record that went: %v, want ErrNotFound", err)
	}
	b.must(wire.AnswerError, reserve("new", "new", "new", "r"))

	kept.is = false
	b.pass(time.Second)
	b.must(wire.AnswerExecute, reserve("new", "new", "new", "r"))
	b.must(wire.AnswerReplay, reserve("again", "stays", "stays", "r"))
	b.must(wire.AnswerOK, extend("live", "live"))
	b.must(wire.AnswerInFlight, reserve("join", "live", "live", "s"))
}

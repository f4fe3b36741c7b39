package ledger

import (
	"errors"
	"fmt"
	"time"

	"idem/ledgerd/store"
)

// ErrNotFound says that the ledger knows no hold, row or doubt of that id.
var ErrNotFound = errors.New("ledger: not found")

// ConflictError says that a human's answer came to something that is not open to it: it was answered before, has
// another version, or cannot be answered so yet.
type ConflictError struct {
	Why        string        // one sentence
	RetryAfter time.Duration // when the same answer may be given; 0: never
}

func (e *ConflictError) Error() string { return "ledger: " + e.Why }

// ErrStopping is what operations get once the ledger is closing: nothing was done. Whoever ends the context of waits
// because ledgerd stops gives it as the cause.
var ErrStopping = fmt.Errorf("%w: ledgerd is stopping", store.ErrUnavailable)

// limitError is one of the ledger's own limits: nothing was done.
type limitError struct{ detail string }

func (e *limitError) Error() string { return "ledger: " + e.detail }
func (e *limitError) Unwrap() error { return store.ErrOverloaded }

// queueFull says that as many operations are under way as may be.
func queueFull(most int64, ends bool) error {
	if ends {
		return &limitError{fmt.Sprintf("%d operations are under way, twice --max-queued-operations, as many as may be: send it again", most)}
	}
	return &limitError{fmt.Sprintf("%d operations are under way, as many as may be (--max-queued-operations)", most)}
}

// errContended says that other nodes changed the record each time before the write: nothing was done.
var errContended = fmt.Errorf("%w: the record changes faster than it can be decided", store.ErrUnavailable)

// errUncertain says of a human's answer that it may have taken effect, and that others changed the record since.
var errUncertain = fmt.Errorf("%w: the answer may have taken effect, look at it again", store.ErrUnavailable)

// errLate says that others were decided first until it was too late: nothing was done.
var errLate = fmt.Errorf("%w: the operation waited for as long as it may take", store.ErrUnavailable)

// errSlow says that the time of an operation was over before it was decided. It may have its effect still.
var errSlow = fmt.Errorf("%w: it did not answer within the time that an operation may take", store.ErrUnavailable)

// errPending says that a write was sent whose effect is not known, and that it may happen still.
var errPending = fmt.Errorf("%w: a write may have happened, or may happen yet", store.ErrUnavailable)

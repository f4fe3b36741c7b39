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

// errClosed is what operations get once the ledger is closing: nothing was done.
var errClosed = fmt.Errorf("%w: ledgerd is stopping", store.ErrUnavailable)

// errQueueFull is the ledger's own limit of operations that wait: nothing was done.
var errQueueFull = fmt.Errorf("%w: ledgerd has as many operations as it may have under way", store.ErrOverloaded)

// errContended says that other nodes changed the record each time before the write: nothing was done.
var errContended = fmt.Errorf("%w: the record changes faster than it can be decided", store.ErrUnavailable)

// errUncertain says of a human's answer that it may have taken effect, and that others changed the record since.
var errUncertain = fmt.Errorf("%w: the answer may have taken effect, look at it again", store.ErrUnavailable)

// errPending says that a write was sent whose effect is not known, and that it may happen still.
var errPending = fmt.Errorf("%w: a write may have happened, or may happen yet", store.ErrUnavailable)

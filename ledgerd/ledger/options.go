package ledger

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"idem/ledgerd/store"
)

// Options are a ledger's settings. A zero member means its default.
type Options struct {
	// Store keeps everything. Required. It stays the caller's: Close does not close it.
	Store store.Store
	// SoleOwner says that no other process writes to the store while this one does (sqlite, memory). Records may then
	// be answered from memory, and a start is known to end an outage of the whole ledger.
	SoleOwner bool
	// Actions says what is stored of a call for people. Default: all of it.
	Actions Actions

	// MaxResultBytes is the largest result that is stored, whatever a rule allows. Default 16 MiB: in base64 it still
	// fits the 32 MB that Envoy takes from one reply. A larger one is committed without its bytes.
	MaxResultBytes int64
	// InlineBytes is the largest result, headers and body, that reserve and await carry; a larger one is fetched, as is
	// one that would make its whole reply too large. Default 64 KiB.
	InlineBytes int64
	// QueuedOps is how many operations may be under way; further reserves are refused. Default 10,000. What ends or
	// prolongs an execution may take the same number again, for refusing it leaves a call in doubt.
	QueuedOps int
	// WaitersPerRow is how many awaits one row or hold may have; further ones are refused. Default 10,000.
	WaitersPerRow int
	// CachedRecordBytes and CachedResultBytes are how much memory the records and the results that were used last may
	// take, with all that it costs to keep them. Default 32 MiB and 64 MiB.
	CachedRecordBytes, CachedResultBytes int64

	// OperationTimeout is how long an operation may take, whatever the store does, the wait of an await apart: at its
	// end it is answered with ledger_unavailable. It also bounds each call of the store that an operation makes. Default
	// 4 s: less than the 5 s that a filter waits by default (ledger.timeout), so that it hears the ledger's own words.
	OperationTimeout time.Duration
	// StoreTimeout bounds each call of the store that is made for people, or for housekeeping. Default 10 s.
	StoreTimeout time.Duration
	// SweepEvery is how often records that are due are looked for, and PollEvery how often those are looked at again
	// that somebody waits for. Default 1 s.
	SweepEvery, PollEvery time.Duration

	// Log gets what an operator should know. Default: nothing is logged.
	Log *slog.Logger
	// NewID gives the id of a hold: 1 to 128 printable ASCII characters, never the same twice. Default: random.
	NewID func() string
}

// withDefaults gives the options with every member set, or every mistake at once.
func (o Options) withDefaults() (Options, error) {
	var wrong []error
	if o.Store == nil {
		wrong = append(wrong, errors.New("no Store is given, want one"))
	}
	if err := o.Actions.validate(); err != nil {
		wrong = append(wrong, err)
	}
	if o.Actions.MaxBytes == 0 {
		o.Actions.MaxBytes = defaultActionBytes
	}
	number(&wrong, "MaxResultBytes", &o.MaxResultBytes, 16<<20)
	number(&wrong, "InlineBytes", &o.InlineBytes, 64<<10)
	number(&wrong, "QueuedOps", &o.QueuedOps, 10_000)
	number(&wrong, "WaitersPerRow", &o.WaitersPerRow, 10_000)
	number(&wrong, "CachedRecordBytes", &o.CachedRecordBytes, 32<<20)
	number(&wrong, "CachedResultBytes", &o.CachedResultBytes, 64<<20)
	number(&wrong, "OperationTimeout", &o.OperationTimeout, 4*time.Second)
	number(&wrong, "StoreTimeout", &o.StoreTimeout, 10*time.Second)
	number(&wrong, "SweepEvery", &o.SweepEvery, time.Second)
	number(&wrong, "PollEvery", &o.PollEvery, time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.NewID == nil {
		o.NewID = func() string { return "h-" + rand.Text() }
	}
	if len(wrong) > 0 {
		return o, fmt.Errorf("ledger: options: %w", errors.Join(wrong...))
	}
	return o, nil
}

func number[N ~int | ~int64](wrong *[]error, name string, n *N, def N) {
	switch {
	case *n == 0:
		*n = def
	case *n < 0:
		*wrong = append(*wrong, fmt.Errorf("%s is %v, want a positive number, or 0 for %v", name, *n, def))
	}
}

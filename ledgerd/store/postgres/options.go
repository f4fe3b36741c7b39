package postgres

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Options are the settings of a Store. A zero member means its default, which its comment names.
type Options struct {
	Clock func() time.Time // what Now reads, for tests; the server's clock
	Log   *slog.Logger     // gets what an operator should know; nothing is logged

	// Migrate brings an older schema up to date. Without it only a schema that is not there yet is made, and an older one
	// is refused: other nodes may be using it.
	Migrate bool

	QueueWrites int           // writes that may wait for the writers, and reads for the readers; 10,000. Further ones get store.ErrOverloaded
	QueueBytes  int64         // bytes that the waiting writes may carry; 64 MiB. One write alone may carry more
	GroupWrites int           // writes in one transaction at most; 256
	GroupBytes  int64         // bytes after which a transaction takes in no further write; 4 MiB
	Writers     int           // connections that write; 2
	Readers     int           // connections that load records, beside one that loads results; 2
	Timeout     time.Duration // how long the server may take for one request; 8 s

	steps []string // the schema's; steps. Tests have more
}

// maxWrite bounds what one write may carry, far below what PostgreSQL takes in one value (1 GB).
const maxWrite = 256 << 20

// seldomAtOnce bounds how many requests run at once that are neither a Swap nor a Load nor a Result, so that they never
// take a connection that a writer or a reader waits for.
const seldomAtOnce = 2

// connections is how many there are at most in the pool: each writer's and reader's, the one that loads results, those
// for what is asked seldom, one for the clock and one that notifies. The one that listens stands beside the pool.
func (o Options) connections() int32 { return int32(o.Writers + o.Readers + 1 + seldomAtOnce + 2) }

func (o Options) withDefaults() Options {
	def(&o.QueueWrites, 10_000)
	def(&o.QueueBytes, 64<<20)
	def(&o.GroupWrites, 256)
	def(&o.GroupBytes, 4<<20)
	def(&o.Writers, 2)
	def(&o.Readers, 2)
	def(&o.Timeout, 8*time.Second)
	if o.steps == nil {
		o.steps = steps
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func def[T ~int | ~int64](v *T, value T) {
	if *v == 0 {
		*v = value
	}
}

// validate reports every mistake at once.
func (o Options) validate() error {
	var errs []error
	atLeast := func(name string, value, least int64) {
		if value < least {
			errs = append(errs, fmt.Errorf("store/postgres: option %s is %d, want at least %d", name, value, least))
		}
	}
	atLeast("QueueWrites", int64(o.QueueWrites), 1)
	atLeast("QueueBytes", o.QueueBytes, 1)
	atLeast("GroupWrites", int64(o.GroupWrites), 1)
	atLeast("GroupBytes", o.GroupBytes, 1)
	atLeast("Writers", int64(o.Writers), 1)
	atLeast("Readers", int64(o.Readers), 1)
	if o.Timeout < 0 {
		errs = append(errs, fmt.Errorf("store/postgres: option Timeout is %v, want a positive duration", o.Timeout))
	}
	return errors.Join(errs...)
}

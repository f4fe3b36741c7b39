package postgres

import (
	"log/slog"
	"time"

	"idem/ledgerd/store/option"
)

// Options are the settings of a Store. A zero member means its default, which its comment names.
type Options struct {
	Clock func() time.Time // what Now reads, for tests; the server's clock
	Log   *slog.Logger     // gets what an operator should know; nothing is logged

	// Migrate makes the schema where there is none, and brings an older one up to date. Without it both are refused: the
	// first may be a database that lost its store, the second may be in use by other nodes.
	Migrate bool
	// Reset says that Reset will be asked for: a role that may not do it is refused, as for all else that is needed.
	Reset bool

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
	option.Default(&o.QueueWrites, 10_000)
	option.Default(&o.QueueBytes, 64<<20)
	option.Default(&o.GroupWrites, 256)
	option.Default(&o.GroupBytes, 4<<20)
	option.Default(&o.Writers, 2)
	option.Default(&o.Readers, 2)
	option.Default(&o.Timeout, 8*time.Second)
	if o.steps == nil {
		o.steps = steps
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// validate reports every mistake at once.
func (o Options) validate() error {
	c := option.NewCheck("store/postgres")
	c.Queue(o.QueueWrites, o.QueueBytes, o.GroupWrites, o.GroupBytes)
	c.Number("Writers", int64(o.Writers), 1)
	c.Number("Readers", int64(o.Readers), 1)
	c.Duration("Timeout", o.Timeout, 1)
	return c.Err()
}

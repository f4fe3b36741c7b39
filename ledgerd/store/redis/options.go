package redis

import (
	"log/slog"
	"time"

	"idem/ledgerd/store/option"
)

// Options are the settings of a Store that do not stand in its URL. A zero member means its default, which its comment
// names.
type Options struct {
	Clock func() time.Time // what Now reads; the server's clock
	// Migrate makes the store where there is none. Without it that is refused: the server may have lost it.
	Migrate bool
	Log     *slog.Logger // where it says what is promised, and what became of it; slog.Default()

	QueueWrites    int           // writes to one master that may wait; 10,000. Further ones get store.ErrOverloaded
	QueueBytes     int64         // bytes that they may carry; 64 MiB. One write alone may carry more
	GroupWrites    int           // writes in one round trip at most; 512
	GroupBytes     int64         // bytes after which a round trip takes in no further write; 4 MiB
	Writers        int           // round trips with writes under way to one master; 2
	Readers        int           // the same with reads; 2
	Timeout        time.Duration // for connecting, and for each answer of a server; 3 s
	ConfirmTimeout time.Duration // how long the server may take to sync or replicate a group of writes; 3 s
	CheckEvery     time.Duration // how often the server's clock is read; 1 s. Its configuration is looked at every tenth time
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	option.Default(&o.QueueWrites, 10_000)
	option.Default(&o.QueueBytes, 64<<20)
	option.Default(&o.GroupWrites, 512)
	option.Default(&o.GroupBytes, 4<<20)
	option.Default(&o.Writers, 2)
	option.Default(&o.Readers, 2)
	option.Default(&o.Timeout, 3*time.Second)
	option.Default(&o.ConfirmTimeout, 3*time.Second)
	option.Default(&o.CheckEvery, time.Second)
	return o
}

// validate reports every mistake at once.
func (o Options) validate() error {
	c := option.NewCheck("store/redis")
	c.Queue(o.QueueWrites, o.QueueBytes, o.GroupWrites, o.GroupBytes)
	c.Number("Writers", int64(o.Writers), 1)
	c.Number("Readers", int64(o.Readers), 1)
	c.Duration("Timeout", o.Timeout, time.Millisecond)
	c.Duration("ConfirmTimeout", o.ConfirmTimeout, time.Millisecond)
	c.Duration("CheckEvery", o.CheckEvery, time.Millisecond)
	return c.Err()
}

package redis

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Options are the settings of a Store that do not stand in its URL. A zero member means its default, which its comment
// names.
type Options struct {
	Clock func() time.Time // what Now reads; the server's clock
	Log   *slog.Logger     // where it says what is promised, and what became of it; slog.Default()

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
	def(&o.QueueWrites, 10_000)
	def(&o.QueueBytes, 64<<20)
	def(&o.GroupWrites, 512)
	def(&o.GroupBytes, 4<<20)
	def(&o.Writers, 2)
	def(&o.Readers, 2)
	def(&o.Timeout, 3*time.Second)
	def(&o.ConfirmTimeout, 3*time.Second)
	def(&o.CheckEvery, time.Second)
	return o
}

func def[T int | int64 | time.Duration](v *T, value T) {
	if *v == 0 {
		*v = value
	}
}

// validate reports every mistake at once.
func (o Options) validate() error {
	var errs []error
	atLeast := func(name string, value, least int64) {
		if value < least {
			errs = append(errs, fmt.Errorf("store/redis: option %s is %d, want at least %d", name, value, least))
		}
	}
	atLeast("QueueWrites", int64(o.QueueWrites), 1)
	atLeast("QueueBytes", o.QueueBytes, 1)
	atLeast("GroupWrites", int64(o.GroupWrites), 1)
	atLeast("GroupBytes", o.GroupBytes, 1)
	atLeast("Writers", int64(o.Writers), 1)
	atLeast("Readers", int64(o.Readers), 1)
	for name, d := range map[string]time.Duration{
		"Timeout": o.Timeout, "ConfirmTimeout": o.ConfirmTimeout, "CheckEvery": o.CheckEvery,
	} {
		if d < time.Millisecond {
			errs = append(errs, fmt.Errorf("store/redis: option %s is %v, want at least 1ms", name, d))
		}
	}
	return errors.Join(errs...)
}

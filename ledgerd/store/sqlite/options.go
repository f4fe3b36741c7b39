package sqlite

import (
	"errors"
	"fmt"
	"time"
)

// Options are the settings of a Store. A zero member means its default, which its comment names.
type Options struct {
	Clock func() time.Time // what Now reads; time.Now

	QueueWrites int   // writes that may wait for the writer; 10,000. Further ones get store.ErrOverloaded
	QueueBytes  int64 // bytes that the waiting writes may carry; 64 MiB. One write alone may carry more
	GroupWrites int   // writes in one transaction at most; 1,024
	GroupBytes  int64 // bytes after which a transaction takes in no further write; 8 MiB
	Readers     int   // connections that read; 4
	RecentBytes int64 // memory for records written last, which spares reading them back; 32 MiB; negative: none
	PageBytes   int64 // memory for database pages, of the writer; 64 MiB. Each reader has an eighth of it
	CheckBytes  int64 // a database up to this size is checked whole when it is opened; 256 MiB; negative: none
	LogPages    int   // pages of 4 KiB in the write-ahead log after which it is copied into the database; 8,000
}

// maxWrite bounds what one write may carry, far below what SQLite takes (1e9 bytes), so that no single write can make
// the transaction fail that others share.
const maxWrite = 256 << 20

func (o Options) withDefaults() Options {
	def(&o.QueueWrites, 10_000)
	def(&o.QueueBytes, 64<<20)
	def(&o.GroupWrites, 1024)
	def(&o.GroupBytes, 8<<20)
	def(&o.Readers, 4)
	def(&o.RecentBytes, 32<<20)
	def(&o.PageBytes, 64<<20)
	def(&o.CheckBytes, 256<<20)
	def(&o.LogPages, 8000)
	return o
}

func def[T int | int64](v *T, value T) {
	if *v == 0 {
		*v = value
	}
}

// validate reports every mistake at once.
func (o Options) validate() error {
	var errs []error
	atLeast := func(name string, value, least int64) {
		if value < least {
			errs = append(errs, fmt.Errorf("store/sqlite: option %s is %d, want at least %d", name, value, least))
		}
	}
	atLeast("QueueWrites", int64(o.QueueWrites), 1)
	atLeast("QueueBytes", o.QueueBytes, 1)
	atLeast("GroupWrites", int64(o.GroupWrites), 1)
	atLeast("GroupBytes", o.GroupBytes, 1)
	atLeast("Readers", int64(o.Readers), 1)
	atLeast("PageBytes", o.PageBytes, 1<<20)
	atLeast("LogPages", int64(o.LogPages), 100)
	return errors.Join(errs...)
}

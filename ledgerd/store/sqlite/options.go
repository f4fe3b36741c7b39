package sqlite

import (
	"time"

	"idem/ledgerd/store/option"
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
	option.Default(&o.QueueWrites, 10_000)
	option.Default(&o.QueueBytes, 64<<20)
	option.Default(&o.GroupWrites, 1024)
	option.Default(&o.GroupBytes, 8<<20)
	option.Default(&o.Readers, 4)
	option.Default(&o.RecentBytes, 32<<20)
	option.Default(&o.PageBytes, 64<<20)
	option.Default(&o.CheckBytes, 256<<20)
	option.Default(&o.LogPages, 8000)
	return o
}

// validate reports every mistake at once.
func (o Options) validate() error {
	c := option.NewCheck("store/sqlite")
	c.Queue(o.QueueWrites, o.QueueBytes, o.GroupWrites, o.GroupBytes)
	c.Number("Readers", int64(o.Readers), 1)
	c.Number("PageBytes", o.PageBytes, 1<<20)
	c.Number("LogPages", int64(o.LogPages), 100)
	return c.Err()
}

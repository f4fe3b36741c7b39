package ledger

import (
	"context"
	"time"

	"idem/ledgerd/store"
)

// guarded is a store in which nothing panics: a driver that stumbles over one thing that it is asked is unavailable for
// that, and what the process is doing for others goes on. Nothing is known of the effect of such a call.
type guarded struct{ store.Store }

// recovered turns a panic into an error. It is deferred.
func recovered(doing string, err *error) {
	if what := recover(); what != nil {
		*err = store.Panicked("the store's "+doing, what)
	}
}

func (g guarded) Load(ctx context.Context, key string) (r store.Record, err error) {
	defer recovered("Load", &err)
	return g.Store.Load(ctx, key)
}

func (g guarded) Swap(ctx context.Context, w store.Write) (version uint64, err error) {
	defer recovered("Swap", &err)
	return g.Store.Swap(ctx, w)
}

func (g guarded) Result(ctx context.Context, attempt string) (data []byte, err error) {
	defer recovered("Result", &err)
	return g.Store.Result(ctx, attempt)
}

func (g guarded) Lookup(ctx context.Context, index store.Index, id string) (e store.Entry, err error) {
	defer recovered("Lookup", &err)
	return g.Store.Lookup(ctx, index, id)
}

func (g guarded) Scan(ctx context.Context, index store.Index, until time.Time, after *store.Entry, limit int) (list []store.Entry, err error) {
	defer recovered("Scan", &err)
	return g.Store.Scan(ctx, index, until, after, limit)
}

func (g guarded) Newest(ctx context.Context, limit int) (list []store.Record, err error) {
	defer recovered("Newest", &err)
	return g.Store.Newest(ctx, limit)
}

func (g guarded) Now(ctx context.Context) (now time.Time, err error) {
	defer recovered("Now", &err)
	return g.Store.Now(ctx)
}

func (g guarded) Watch(ctx context.Context, changed func(key string)) (err error) {
	defer recovered("Watch", &err)
	return g.Store.Watch(ctx, changed)
}

func (g guarded) Setting(ctx context.Context, name string) (value string, err error) {
	defer recovered("Setting", &err)
	return g.Store.Setting(ctx, name)
}

func (g guarded) SetSetting(ctx context.Context, name, value string) (err error) {
	defer recovered("SetSetting", &err)
	return g.Store.SetSetting(ctx, name, value)
}

func (g guarded) Reset(ctx context.Context) (err error) {
	defer recovered("Reset", &err)
	return g.Store.Reset(ctx)
}

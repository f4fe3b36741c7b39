package faulty

import (
	"context"
	"sync/atomic"
	"time"

	"idem/ledgerd/store"
)

// Swap implements store.Store.
func (s *Store) Swap(ctx context.Context, w store.Write) (uint64, error) {
	var given atomic.Uint64 // a late write may give one long after its caller has gone
	err := s.write(ctx, Op{Kind: "swap", Key: w.Key}, func(ctx context.Context) error {
		v, err := s.inner.Swap(ctx, w)
		given.Store(v)
		return err
	})
	if err != nil {
		return 0, err
	}
	return given.Load(), nil
}

// SetSetting implements store.Store.
func (s *Store) SetSetting(ctx context.Context, name, value string) error {
	return s.write(ctx, Op{Kind: "setting", Key: name}, func(ctx context.Context) error {
		return s.inner.SetSetting(ctx, name, value)
	})
}

// Reset implements store.Store.
func (s *Store) Reset(ctx context.Context) error {
	return s.write(ctx, Op{Kind: "reset"}, s.inner.Reset)
}

// Load implements store.Store.
func (s *Store) Load(ctx context.Context, key string) (store.Record, error) {
	if err := s.reach(ctx); err != nil {
		return store.Record{}, err
	}
	return s.inner.Load(ctx, key)
}

// Result implements store.Store.
func (s *Store) Result(ctx context.Context, attempt string) ([]byte, error) {
	if err := s.reach(ctx); err != nil {
		return nil, err
	}
	return s.inner.Result(ctx, attempt)
}

// Lookup implements store.Store.
func (s *Store) Lookup(ctx context.Context, index store.Index, id string) (store.Entry, error) {
	if err := s.reach(ctx); err != nil {
		return store.Entry{}, err
	}
	return s.inner.Lookup(ctx, index, id)
}

// Scan implements store.Store.
func (s *Store) Scan(ctx context.Context, index store.Index, until time.Time, after *store.Entry, limit int) ([]store.Entry, error) {
	if err := s.reach(ctx); err != nil {
		return nil, err
	}
	return s.inner.Scan(ctx, index, until, after, limit)
}

// Newest implements store.Store.
func (s *Store) Newest(ctx context.Context, limit int) ([]store.Record, error) {
	if err := s.reach(ctx); err != nil {
		return nil, err
	}
	return s.inner.Newest(ctx, limit)
}

// Now implements store.Store.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if err := s.reach(ctx); err != nil {
		return time.Time{}, err
	}
	return s.inner.Now(ctx)
}

// Setting implements store.Store.
func (s *Store) Setting(ctx context.Context, name string) (string, error) {
	if err := s.reach(ctx); err != nil {
		return "", err
	}
	return s.inner.Setting(ctx, name)
}

// Watch implements store.Store. What changes while the store is cut off is not told, then or later.
func (s *Store) Watch(ctx context.Context, changed func(key string)) error {
	if err := s.reach(ctx); err != nil {
		return err
	}
	return s.inner.Watch(ctx, func(key string) {
		s.mu.Lock()
		cut := s.cut
		s.mu.Unlock()
		if !cut {
			changed(key)
		}
	})
}

// Close implements store.Store: what is late lands first.
func (s *Store) Close() error {
	s.mu.Lock()
	late := s.late
	s.late = nil
	s.mu.Unlock()
	for _, land := range late {
		land()
	}
	return s.inner.Close()
}

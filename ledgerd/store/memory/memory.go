// Package memory is the store of `--store memory` and of tests: it keeps the contract of package store to the letter,
// except that nothing outlives the process. Every method takes one lock for as long as it touches memory, so its
// writes are linearizable by construction and the suite in storetest has a driver to be judged by.
//
// It bounds nothing: records go when the ledger removes them.
package memory

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tidwall/btree"

	"idem/ledgerd/store"
)

// Options are the settings of a Store. The zero value is ready to use.
type Options struct {
	Clock func() time.Time // what Now reads; nil: time.Now
}

// Store is a store.Store in memory.
type Store struct {
	clock    *store.Clock
	watchers store.Watchers

	mu       sync.RWMutex
	closed   bool
	versions uint64 // the last version given, over all keys
	records  map[string]*record
	created  btree.Map[uint64, *record] // by first version: the order of creation
	results  map[string][]byte
	settings map[string]string
	byID     map[name]*record // of Holds and Doubts
	byTime   map[store.Index]*btree.BTreeG[store.Entry]
}

type record struct {
	store.Record
	first   uint64 // the version it was created with
	entries []store.Entry
}

// name is an entry's id in its index.
type name struct {
	index store.Index
	id    string
}

// New gives an empty store.
func New(o Options) *Store {
	s := &Store{clock: store.NewClock(o.Clock, time.Time{}), settings: map[string]string{}}
	s.empty()
	return s
}

// empty drops everything but the settings, the clock and the versions. The caller holds mu, or is alone.
func (s *Store) empty() {
	s.records, s.results, s.byID = map[string]*record{}, map[string][]byte{}, map[name]*record{}
	s.created = btree.Map[uint64, *record]{}
	s.byTime = map[store.Index]*btree.BTreeG[store.Entry]{}
	for _, i := range []store.Index{store.Holds, store.Doubts, store.Due} {
		s.byTime[i] = btree.NewBTreeGOptions(before, btree.Options{NoLocks: true})
	}
}

// ready says why nothing can be done, if so. The caller holds mu.
func (s *Store) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("store/memory: %w", err)
	}
	if s.closed {
		return fmt.Errorf("%w: the store is closed", store.ErrUnavailable)
	}
	return nil
}

// Load implements store.Store.
func (s *Store) Load(ctx context.Context, key string) (store.Record, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(ctx); err != nil {
		return store.Record{}, err
	}
	r, ok := s.records[key]
	if !ok {
		return store.Record{}, store.ErrNotFound
	}
	return r.Record, nil
}

// Swap implements store.Store.
func (s *Store) Swap(ctx context.Context, w store.Write) (uint64, error) {
	if err := w.Check(); err != nil {
		return 0, err
	}
	version, err := s.swap(ctx, w)
	if err != nil {
		return 0, err
	}
	s.watchers.Tell(w.Key)
	return version, nil
}

func (s *Store) swap(ctx context.Context, w store.Write) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx); err != nil {
		return 0, err
	}
	old := s.records[w.Key]
	if (old == nil && w.Expect != 0) || (old != nil && old.Version != w.Expect) {
		return 0, store.ErrConflict
	}

	s.unindex(old)
	s.versions++
	version := s.versions
	if w.Data == nil {
		delete(s.records, w.Key)
		s.created.Delete(old.first)
		version = 0
	} else {
		r := &record{Record: store.Record{Key: w.Key, Version: version, Data: w.Data}, first: version}
		if old != nil {
			r.first = old.first
		}
		s.records[w.Key] = r
		s.created.Set(r.first, r)
		s.index(r, w.Entries)
	}
	for _, attempt := range w.Drop {
		delete(s.results, attempt)
	}
	for _, p := range w.Put {
		s.results[p.Attempt] = p.Data
	}
	s.clock.Raise(w.Now)
	return version, nil
}

// Result implements store.Store.
func (s *Store) Result(ctx context.Context, attempt string) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	data, ok := s.results[attempt]
	if !ok {
		return nil, store.ErrNotFound
	}
	return data, nil
}

// Newest implements store.Store.
func (s *Store) Newest(ctx context.Context, limit int) ([]store.Record, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	var list []store.Record
	s.created.Reverse(func(_ uint64, r *record) bool {
		if len(list) >= limit {
			return false
		}
		list = append(list, r.Record)
		return true
	})
	return list, nil
}

// Now implements store.Store.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(ctx); err != nil {
		return time.Time{}, err
	}
	return s.clock.Now(), nil
}

// Watch implements store.Store.
func (s *Store) Watch(ctx context.Context, changed func(key string)) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(ctx); err != nil {
		return err
	}
	s.watchers.Add(ctx, changed)
	return nil
}

// Setting implements store.Store.
func (s *Store) Setting(ctx context.Context, name string) (string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(ctx); err != nil {
		return "", err
	}
	value, ok := s.settings[name]
	if !ok {
		return "", store.ErrNotFound
	}
	return value, nil
}

// SetSetting implements store.Store.
func (s *Store) SetSetting(ctx context.Context, name, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx); err != nil {
		return err
	}
	s.settings[name] = value
	return nil
}

// Reset implements store.Store.
func (s *Store) Reset(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx); err != nil {
		return err
	}
	s.empty()
	return nil
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

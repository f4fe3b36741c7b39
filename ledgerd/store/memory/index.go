package memory

import (
	"cmp"
	"context"
	"time"

	"idem/ledgerd/store"
)

// before is the order of every index: At, then Key, then ID.
func before(a, b store.Entry) bool {
	if c := a.At.Compare(b.At); c != 0 {
		return c < 0
	}
	if c := cmp.Compare(a.Key, b.Key); c != 0 {
		return c < 0
	}
	return a.ID < b.ID
}

// index makes entries the record's own. An id that another record wrote goes over to this one. The caller holds mu.
func (s *Store) index(r *record, entries []store.Entry) {
	r.entries = make([]store.Entry, len(entries))
	for i, e := range entries {
		e.Key, e.At = r.Key, e.At.UTC().Truncate(time.Microsecond)
		if e.Index != store.Due {
			n := name{e.Index, e.ID}
			if other := s.byID[n]; other != nil {
				s.byTime[e.Index].Delete(*other.entry(n))
			}
			s.byID[n] = r
		}
		s.byTime[e.Index].Set(e)
		r.entries[i] = e
	}
}

// unindex removes the entries that are still the record's. The caller holds mu.
func (s *Store) unindex(r *record) {
	if r == nil {
		return
	}
	for _, e := range r.entries {
		if e.Index != store.Due {
			n := name{e.Index, e.ID}
			if s.byID[n] != r {
				continue
			}
			delete(s.byID, n)
		}
		s.byTime[e.Index].Delete(e)
	}
}

func (r *record) entry(n name) *store.Entry {
	for i := range r.entries {
		if r.entries[i].Index == n.index && r.entries[i].ID == n.id {
			return &r.entries[i]
		}
	}
	return nil
}

// Lookup implements store.Store.
func (s *Store) Lookup(ctx context.Context, index store.Index, id string) (store.Entry, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(ctx); err != nil {
		return store.Entry{}, err
	}
	n := name{index, id}
	if r := s.byID[n]; r != nil {
		return *r.entry(n), nil
	}
	return store.Entry{}, store.ErrNotFound
}

// Scan implements store.Store.
func (s *Store) Scan(ctx context.Context, index store.Index, until time.Time, after *store.Entry, limit int) ([]store.Entry, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	tree := s.byTime[index]
	if tree == nil {
		return nil, nil
	}
	var from store.Entry // the zero Entry, whose At is the zero time, is before all others
	if after != nil {
		from = *after
	}
	var list []store.Entry
	tree.Ascend(from, func(e store.Entry) bool {
		if len(list) >= limit || e.At.After(until) {
			return false
		}
		if after == nil || before(*after, e) {
			list = append(list, e)
		}
		return true
	})
	return list, nil
}

package sqlite

import (
	"context"

	"idem/ledgerd/store"
)

// Swap implements store.Store.
func (s *Store) Swap(ctx context.Context, w store.Write) (uint64, error) {
	size, err := w.CheckSize(maxWrite)
	if err != nil {
		return 0, err
	}
	return s.do(ctx, request{swap: w}, size)
}

// SetSetting implements store.Store.
func (s *Store) SetSetting(ctx context.Context, name, value string) error {
	_, err := s.do(ctx, request{kind: setSetting, setting: [2]string{name, value}}, int64(len(name)+len(value)))
	return err
}

// Reset implements store.Store.
func (s *Store) Reset(ctx context.Context) error {
	_, err := s.do(ctx, request{kind: reset}, 0)
	return err
}

// Watch implements store.Store.
func (s *Store) Watch(ctx context.Context, changed func(key string)) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	s.watchers.Add(ctx, changed)
	return nil
}

// Stats is how the writer is doing.
type Stats struct {
	Commits   uint64 // transactions committed, each with one sync
	Writes    uint64 // writes in them
	Conflicts uint64 // writes that found another version
	Failures  uint64 // transactions that failed
	Waiting   int    // writes in the queue now
}

// Stats gives the counts since the store was opened.
func (s *Store) Stats() Stats {
	w := s.writer
	return Stats{
		Commits: w.commits.Load(), Writes: w.writes.Load(), Conflicts: w.conflicts.Load(), Failures: w.failures.Load(),
		Waiting: s.queue.State().Waiting,
	}
}

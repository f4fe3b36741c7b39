package sqlite

import (
	"errors"
	"path/filepath"
	"testing"

	"idem/ledgerd/store"
	"idem/ledgerd/store/storetest"
)

func TestGroups(t *testing.T) {
	storetest.RunGroups(t, storetest.Groups{Hold: hold, Shares: 1, Settings: true})
}

// hold opens a store whose next transaction cannot begin: another connection has the database's write lock.
func hold(t *testing.T, b storetest.Bounds) storetest.Held {
	t.Helper()
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{QueueWrites: b.QueueWrites, QueueBytes: b.QueueBytes, GroupWrites: b.GroupWrites, GroupBytes: b.GroupBytes})
	other, err := connect(t.Context(), filepath.Join(dir, databaseFile))
	if err == nil {
		err = other.exec("BEGIN IMMEDIATE")
	}
	if err != nil {
		t.Fatal(err)
	}
	return storetest.Held{
		Store: s, First: store.Write{Key: hexKey("first"), Data: []byte("x")}, Queue: s.queue.State,
		Stats: func() (uint64, uint64) { st := s.Stats(); return st.Commits, st.Writes },
		Free: func() {
			t.Helper()
			if err := errors.Join(other.exec("COMMIT"), other.close()); err != nil {
				t.Errorf("letting the write lock go: %v", err)
			}
		},
	}
}

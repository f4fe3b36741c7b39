package sqlite

import (
	"context"
	"errors"
	"os"
	"testing"

	"idem/ledgerd/store"
	"idem/ledgerd/store/storetest"
)

// The process that has the database is killed; the next one finds everything that it acknowledged, in a database that
// does not contradict itself.
func TestNothingAcknowledgedIsLostInAKill(t *testing.T) {
	dir := t.TempDir()
	storetest.RunCrash(t, storetest.Crash{
		Cycles: 8, Writes: 4000,
		Kill: func(t *testing.T, name string, writes int) []*storetest.Life {
			return storetest.LiveInChild(t, dir, name, writes)
		},
		Open: func(t *testing.T) map[string]store.Store {
			s, err := Open(t.Context(), dir, Options{})
			if err != nil {
				t.Fatalf("opening after the kill: %v", err)
			}
			return map[string]store.Store{"the next process": s}
		},
		Close: func(t *testing.T, stores map[string]store.Store) error {
			s := stores["the next process"].(*Store)
			return errors.Join(s.Check(t.Context()), s.Close())
		},
	})
}

func TestMain(m *testing.M) {
	storetest.CrashChild(func(ctx context.Context, dir string) (store.Store, error) {
		return Open(ctx, dir, Options{LogPages: 200}) // a small log: kills meet checkpoints too
	})
	os.Exit(m.Run())
}

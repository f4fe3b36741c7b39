package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"idem/ledgerd/store"
)

func TestBackupUnderLoadHoldsAllThatWasAcknowledgedBefore(t *testing.T) {
	dir, backup := t.TempDir(), t.TempDir()
	s := mustOpen(t, dir, Options{LogPages: 100})
	var before []string
	for i := range 500 {
		before = append(before, fmt.Sprint("before", i))
	}
	mustCreate(t, s, before...)

	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for i := 0; ; i++ {
				_, err := s.Swap(ctx, store.Write{Key: hexKey(fmt.Sprint(w, "/", i)), Data: make([]byte, 500)})
				if errors.Is(err, context.Canceled) {
					return
				}
				if err != nil {
					t.Errorf("a write during the backup: %v", err)
					return
				}
			}
		})
	}
	alter(t, dir, "VACUUM INTO '"+filepath.Join(backup, databaseFile)+"'") // as the README says
	stop()
	writers.Wait()

	restored := mustOpen(t, backup, Options{})
	for _, name := range before {
		if _, err := restored.Load(t.Context(), hexKey(name)); err != nil {
			t.Fatalf("record %s: %v", name, err)
		}
	}
	if err := restored.Check(t.Context()); err != nil {
		t.Error(err)
	}
	mustCreate(t, restored, "after")
}

func TestCopyOfAStoppedStoreIsABackup(t *testing.T) {
	dir, backup := t.TempDir(), t.TempDir()
	s := mustOpen(t, dir, Options{})
	mustCreate(t, s, "a")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, databaseFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(backup, databaseFile), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mustOpen(t, backup, Options{}).Load(t.Context(), hexKey("a")); err != nil {
		t.Error(err)
	}
}

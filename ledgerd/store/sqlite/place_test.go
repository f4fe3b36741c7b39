package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/store"
)

// wantLost wants that nothing is answered any more, in words that name the path.
func wantLost(t *testing.T, s *Store, path string) {
	t.Helper()
	_, now := s.Now(t.Context())
	_, load := s.Load(t.Context(), hexKey("before"))
	_, result := s.Result(t.Context(), "a")
	_, swap := s.Swap(t.Context(), store.Write{Key: hexKey("later"), Data: []byte("x")})
	for what, err := range map[string]error{"Now": now, "Load": load, "Result": result, "Swap": swap,
		"SetSetting": s.SetSetting(t.Context(), "ledger.ready", "1")} {
		if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want ErrUnavailable that names %s", what, err, path)
		}
	}
}

// Whoever starts by the path after each of these knows nothing of what this store has: what it goes on acknowledging
// would be executed twice.
func TestNothingIsAcknowledgedOnceTheFilesAreElsewhere(t *testing.T) {
	file := func(name string, f func(path string) error) func(string) (string, error) {
		return func(dir string) (string, error) { return filepath.Join(dir, name), f(filepath.Join(dir, name)) }
	}
	replace := func(path string) error {
		data, err := os.ReadFile(path)
		return errors.Join(err, os.Rename(path, path+".old"), os.WriteFile(path, data, 0o600))
	}
	for name, c := range map[string]func(dir string) (string, error){
		"directory moved":   func(dir string) (string, error) { return dir, os.Rename(dir, dir+".moved") },
		"directory removed": func(dir string) (string, error) { return dir, os.RemoveAll(dir) },
		"directory and new one": func(dir string) (string, error) {
			return dir, errors.Join(os.Rename(dir, dir+".moved"), os.Mkdir(dir, 0o700))
		},
		"database removed":      file(databaseFile, os.Remove),
		"database replaced":     file(databaseFile, replace),
		"log removed":           file(databaseFile+"-wal", os.Remove),
		"shared memory removed": file(databaseFile+"-shm", os.Remove),
		"lock removed":          file(lockFile, os.Remove),
		"lock of somebody else": file(lockFile, replace),
		"directory is now a file": func(dir string) (string, error) {
			return dir, errors.Join(os.Rename(dir, dir+".moved"), os.WriteFile(dir, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			s := mustOpen(t, dir, Options{})
			mustCreate(t, s, "before")
			path, err := c(dir)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Swap(t.Context(), store.Write{Key: hexKey("after"), Data: []byte("x")}); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("the write that came next: got %v, want ErrUnavailable", err)
			}
			wantLost(t, s, path)
		})
	}
}

func TestPuttingTheFilesBackDoesNotBringAStoreBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := mustOpen(t, dir, Options{})
	if err := os.Rename(dir, dir+".moved"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Swap(t.Context(), store.Write{Key: hexKey("a"), Data: []byte("x")})
	if !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("got %v, want ErrUnavailable", err)
	}
	if err := os.Rename(dir+".moved", dir); err != nil {
		t.Fatal(err)
	}
	wantLost(t, s, dir) // another ledgerd may have written meanwhile
}

func TestIdleStoreNoticesThatItsFilesAreElsewhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := mustOpen(t, dir, Options{})
	if err := os.Rename(dir, dir+".moved"); err != nil {
		t.Fatal(err)
	}
	tick, deadline := time.NewTicker(10*time.Millisecond), time.After(10*time.Second)
	defer tick.Stop()
	for {
		select {
		case <-deadline:
			t.Fatal("it never did")
		case <-tick.C:
		}
		if _, err := s.Now(t.Context()); err != nil {
			wantLost(t, s, dir)
			return
		}
	}
}

// Where no lock can be had at all, the last one to open the database is the only one that commits.
func TestOnlyTheLastToOpenTheDatabaseCommits(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	mustCreate(t, s, "a")
	alter(t, dir, "UPDATE ledger SET owner = 'another'")
	_, err := s.Swap(t.Context(), store.Write{Key: hexKey("b"), Data: []byte("x")})
	if !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("got %v, want ErrUnavailable", err)
	}
	wantLost(t, s, databaseFile)
	c, err := connect(t.Context(), filepath.Join(dir, databaseFile))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.number("SELECT count(*) FROM records"); err != nil || n != 1 {
		t.Errorf("the database has %d records, %v, want only the one from before", n, err)
	}
	if err := c.close(); err != nil {
		t.Error(err)
	}
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"idem/ledgerd/store"
	"idem/ledgerd/store/storetest"
)

func hexKey(name string) string { return storetest.Key(name) }

func mustOpen(t *testing.T, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir, o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// mustCreate creates records, all at once.
func mustCreate(t *testing.T, s *Store, names ...string) {
	t.Helper()
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() {
			if _, err := s.Swap(t.Context(), store.Write{Key: hexKey(name), Data: []byte(name)}); err != nil {
				t.Errorf("creating %s: %v", name, err)
			}
		})
	}
	all.Wait()
}

// wantRefusal opens dir, wants to be refused with that error, and that the message has all of these words.
func wantRefusal(t *testing.T, dir string, want error, words ...string) {
	t.Helper()
	s, err := Open(t.Context(), dir, Options{})
	if err == nil {
		t.Fatalf("Open: got a store, want %v", errors.Join(want, s.Close()))
	}
	if !errors.Is(err, want) {
		t.Errorf("Open: got %v, want %v", err, want)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the message %q does not say %q", err, w)
		}
	}
}

func TestSecondProcessIsRefusedAndToldWhoHasTheDirectory(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	wantRefusal(t, dir, ErrInUse, filepath.Join(dir, lockFile), fmt.Sprint(os.Getpid()))
	mustCreate(t, s, "still working")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, dir, Options{}) // free again
}

func TestEveryCommitIsSynced(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{})
	const full = 2 // the log is synced at every commit: https://sqlite.org/pragma.html#pragma_synchronous
	if level, err := s.writer.conn.number("PRAGMA synchronous"); err != nil || level != full {
		t.Errorf("synchronous is %d, %v, want %d (FULL)", level, err, full)
	}
	if mode, err := s.writer.conn.text("PRAGMA journal_mode"); err != nil || mode != "wal" {
		t.Errorf("journal_mode is %q, %v, want wal", mode, err)
	}
}

func TestFilesBelongToTheOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	s := mustOpen(t, dir, Options{})
	mustCreate(t, s, "a")
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the data directory has mode %v, %v, want 0700", info.Mode().Perm(), err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 4 {
		t.Fatalf("got %v, %v, want the database, its log, its shared memory and the lock", files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v, want 0600", f.Name(), info.Mode().Perm(), err)
		}
	}
}

func TestAnyDirectoryNameWorks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "50% of #1? ü&mode=memory")
	mustCreate(t, mustOpen(t, dir, Options{}), "a")
	if _, err := os.Stat(filepath.Join(dir, databaseFile)); err != nil {
		t.Error(err)
	}
}

func TestEveryWrongOptionIsNamedAtOnce(t *testing.T) {
	_, err := Open(context.Background(), t.TempDir(), Options{QueueWrites: -1, Readers: -2, PageBytes: 5})
	for _, want := range []string{"QueueWrites is -1", "Readers is -2", "PageBytes is 5, want at least 1048576"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to say %q", err, want)
		}
	}
}

func TestDataDirectoryThatIsAFileIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), file, Options{}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v, want an error that names %s", err, file)
	}
}

func TestDamagedDatabaseIsRefusedAndLeftAsItIs(t *testing.T) {
	for name, damage := range map[string]func(data []byte) []byte{
		"no database at all":  func([]byte) []byte { return []byte(strings.Repeat("this is a diary, not a database. ", 100)) },
		"cut short":           func(data []byte) []byte { return data[:len(data)/2/4096*4096] },
		"zeros in the middle": func(data []byte) []byte { clear(data[len(data)/2 : len(data)/2+16384]); return data },
		"a page overwritten": func(data []byte) []byte {
			copy(data[4*4096:], strings.Repeat("\xff", 4096))
			return data
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := mustOpen(t, dir, Options{})
			for i := range 2000 {
				go func() {
					_, _ = s.Swap(context.Background(), store.Write{Key: hexKey(fmt.Sprint(i)), Data: make([]byte, 300)})
				}()
			}
			mustCreate(t, s, "last")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, databaseFile)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			data = damage(data)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			wantRefusal(t, dir, ErrDamaged, path, "backup")
			if after, err := os.ReadFile(path); err != nil || string(after) != string(data) {
				t.Errorf("the refused file was changed (%v)", err)
			}
		})
	}
}

func TestDatabaseOfANewerLedgerdIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	alter(t, dir, "PRAGMA user_version = 99")
	wantRefusal(t, dir, ErrForeign, "99", "newer ledgerd")
}

func TestDatabaseOfAnotherProgramIsRefused(t *testing.T) {
	dir := t.TempDir()
	alter(t, dir, "CREATE TABLE diary (day TEXT)")
	wantRefusal(t, dir, ErrForeign, "application_id")
}

// alter runs SQL on the database of dir behind the store's back.
func alter(t *testing.T, dir, sql string) {
	t.Helper()
	c, err := connect(t.Context(), filepath.Join(dir, databaseFile))
	if err == nil {
		err = errors.Join(c.exec(sql), c.close())
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func TestCheckFindsDamageInARunningStore(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	mustCreate(t, s, "a")
	if err := s.Check(t.Context()); err != nil {
		t.Fatalf("a sound database: %v", err)
	}
	// An index that says something else than its table.
	alter(t, dir, "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'entries_at'")
	if err := s.Check(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
	}
}

// A database that is gone is not made anew beside what it left: the new one would let everything execute again.
func TestDatabaseThatIsGoneIsNotMadeAnew(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	mustCreate(t, s, "a")
	if made := s.Made(); !made {
		t.Error("a database that was not there: Made says no")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if again := mustOpen(t, dir, Options{}); again.Made() {
		t.Error("a database that was there: Made says yes")
	} else if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, databaseFile)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a refusal leaves nothing that would be taken for a database
		wantRefusal(t, dir, ErrGone, databaseFile, lockFile, "begin anew")
	}
	for _, name := range []string{lockFile, databaseFile + "-wal", databaseFile + "-shm"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if anew := mustOpen(t, dir, Options{}); !anew.Made() {
		t.Error("a directory that was cleared: Made says no")
	}
}

// Neither is one that was emptied, be it by a copy that found no room or by a crash of the file system: SQLite takes an
// empty file for a new database and throws away the log beside it.
func TestDatabaseThatWasEmptiedIsNotMadeAnew(t *testing.T) {
	from, dir := t.TempDir(), t.TempDir()
	mustCreate(t, mustOpen(t, from, Options{}), "a")
	read := func(name string) []byte {
		t.Helper()
		content, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	write := func(name string, content []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(lockFile, read(lockFile))
	write(databaseFile, read(databaseFile)) // nothing of it but the log has the record, and the tables
	for range 2 {
		wantRefusal(t, dir, ErrGone, lockFile, databaseFile+"-wal", "begin anew")
	}
	write(databaseFile, nil)
	if err := os.Remove(filepath.Join(dir, databaseFile+"-wal")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for range 2 {
		wantRefusal(t, dir, ErrGone, databaseFile, "is empty", lockFile, "begin anew")
	}
	// As a ledgerd that was killed leaves it: what is only in the log must still be there once the database is back.
	write(databaseFile+"-wal", read(databaseFile+"-wal"))
	wantRefusal(t, dir, ErrGone, databaseFile, "is empty", databaseFile+"-wal", lockFile)
	write(databaseFile, read(databaseFile))
	if _, err := mustOpen(t, dir, Options{}).Load(t.Context(), hexKey("a")); err != nil {
		t.Errorf("a record that was only in the log: %v", err)
	}
}

// A first start that was broken off, by a full disk or a kill, left no database: the next one is a first start too.
func TestFirstStartThatWasBrokenOffIsDoneAgain(t *testing.T) {
	for what, files := range map[string][]string{
		"before there was a database": {lockFile},
		"before it was filled":        {lockFile, databaseFile},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range files {
				if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if s := mustOpen(t, dir, Options{}); !s.Made() {
				t.Error("Made says no")
			}
		})
	}
}

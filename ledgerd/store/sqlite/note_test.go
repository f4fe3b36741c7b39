package sqlite

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"idem/ledgerd/store"
)

// killed copies the files of a store that is open, as a kill of its process leaves them.
func killed(t *testing.T, from string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{databaseFile, databaseFile + "-wal", lockFile} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// contents gives the database, its log and the lock file as they are.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{databaseFile, databaseFile + "-wal", lockFile} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		files[name] = string(data)
	}
	return files
}

// After a kill the newest commits are in the log alone. One that is missing, emptied, cut, or of another time is not taken
// for a log that had nothing.
func TestLogThatLacksCommitsAfterAKillIsRefused(t *testing.T) {
	live := t.TempDir()
	s := mustOpen(t, live, Options{})
	if err := s.Close(); err != nil { // the tables are in the database
		t.Fatal(err)
	}
	s = mustOpen(t, live, Options{})
	mustCreate(t, s, "a")
	early, err := os.ReadFile(filepath.Join(live, databaseFile+"-wal"))
	if err != nil {
		t.Fatal(err)
	}
	mustCreate(t, s, "b")
	log := func(dir string) string { return filepath.Join(dir, databaseFile+"-wal") }
	for name, spoil := range map[string]func(dir string) error{
		"removed": func(dir string) error { return os.Remove(log(dir)) },
		"emptied": func(dir string) error { return os.Truncate(log(dir), 0) },
		"cut": func(dir string) error {
			info, err := os.Stat(log(dir))
			if err != nil {
				return err
			}
			return os.Truncate(log(dir), info.Size()-100)
		},
		"an earlier one": func(dir string) error { return os.WriteFile(log(dir), early, 0o600) },
		"removed, and the machine was started anew": func(dir string) error {
			note := note{state: running, version: 0, boot: "another"} // after a power cut it may say too little
			if err := os.WriteFile(filepath.Join(dir, lockFile), note.text(), 0o600); err != nil {
				return err
			}
			return os.Remove(log(dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := killed(t, live)
			whole, err := os.ReadFile(log(dir))
			if err != nil {
				t.Fatal(err)
			}
			if err := spoil(dir); err != nil {
				t.Fatal(err)
			}
			files := contents(t, dir)
			for range 2 { // a start that was refused makes nothing right
				wantRefusal(t, dir, ErrGone, databaseFile+"-wal", lockFile, "executes again")
			}
			if !maps.Equal(contents(t, dir), files) {
				t.Error("the start that was refused changed the database, its log or the lock file")
			}
			if err := os.WriteFile(log(dir), whole, 0o600); err != nil {
				t.Fatal(err)
			}
			again := mustOpen(t, dir, Options{})
			for _, key := range []string{"a", "b"} {
				if _, err := again.Load(t.Context(), hexKey(key)); err != nil {
					t.Errorf("with its log again: %s: %v", key, err)
				}
			}
		})
	}
}

// A log of an earlier time would put old pages over new ones, were it copied into the database before it is refused.
func TestRefusedLogOfAnEarlierTimeLeavesTheDatabaseWhole(t *testing.T) {
	live := t.TempDir()
	s := mustOpen(t, live, Options{LogPages: 1 << 20})
	log := func(dir string) string { return filepath.Join(dir, databaseFile+"-wal") }
	mustCreate(t, s, "a")
	early, err := os.ReadFile(log(live))
	if err != nil {
		t.Fatal(err)
	}
	mustCreate(t, s, "b")
	if err := s.writer.conn.exec("PRAGMA wal_checkpoint(RESTART)"); err != nil {
		t.Fatal(err)
	}
	if err := s.SetSetting(t.Context(), "name", "value"); err != nil { // the log, begun anew, has nothing of a and b
		t.Fatal(err)
	}
	mustCreate(t, s, "c")
	dir := killed(t, live)
	whole, err := os.ReadFile(log(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{early, whole} {
		if err := os.WriteFile(log(dir), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data, whole) {
			wantRefusal(t, dir, ErrGone)
		}
	}
	again := mustOpen(t, dir, Options{})
	for _, key := range []string{"a", "b", "c"} {
		if _, err := again.Load(t.Context(), hexKey(key)); err != nil {
			t.Errorf("with its log again: %s: %v", key, err)
		}
	}
	if err := again.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// A power cut may come when the log has just been begun anew: everything is in the database then.
func TestLogThatWasBegunAnewAtAPowerCutIsNoReasonToRefuse(t *testing.T) {
	live := t.TempDir()
	s := mustOpen(t, live, Options{})
	mustCreate(t, s, "a")
	if err := s.writer.conn.exec("PRAGMA wal_checkpoint(RESTART)"); err != nil {
		t.Fatal(err)
	}
	dir := killed(t, live)
	log := filepath.Join(dir, databaseFile+"-wal")
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	copy(data[16:24], "new salt") // frames of the one before no longer count
	note := note{state: running, version: s.note.version, boot: "another"}
	if err := errors.Join(os.WriteFile(log, data, 0o600), os.WriteFile(filepath.Join(dir, lockFile), note.text(), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := mustOpen(t, dir, Options{}).Load(t.Context(), hexKey("a")); err != nil {
		t.Error(err)
	}
}

// Whoever put an older database in the place of one that was in use is told so at the next start, though ledgerd was
// stopped in between.
func TestStoreWhoseFilesWereReplacedIsNotClosedForTheOlderOnes(t *testing.T) {
	live := t.TempDir()
	path := filepath.Join(live, databaseFile)
	s := mustOpen(t, live, Options{})
	mustCreate(t, s, "a")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	older, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, live, Options{})
	mustCreate(t, s, "b")
	if err := errors.Join(os.Rename(path, path+".right"), os.WriteFile(path, older, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Logf("Close: %v", err)
	}
	wantRefusal(t, live, ErrGone, "executes again")
	if err := os.Rename(path+".right", path); err != nil {
		t.Fatal(err)
	}
	again := mustOpen(t, live, Options{})
	for _, key := range []string{"a", "b"} {
		if _, err := again.Load(t.Context(), hexKey(key)); err != nil {
			t.Errorf("with the right one again: %s: %v", key, err)
		}
	}
}

// The way out that the refusal names is one.
func TestStoreWithoutItsLogStartsOnceTheLockFileIsRemoved(t *testing.T) {
	live := t.TempDir()
	s := mustOpen(t, live, Options{})
	mustCreate(t, s, "a")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, live, Options{})
	mustCreate(t, s, "b")
	dir := killed(t, live)
	for _, name := range []string{databaseFile + "-wal", lockFile} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if name != lockFile {
			wantRefusal(t, dir, ErrGone)
		}
	}
	again := mustOpen(t, dir, Options{})
	if _, err := again.Load(t.Context(), hexKey("a")); err != nil {
		t.Error(err)
	}
}

// A clean end leaves no log, an end by a kill one that is whole, and a store that was closed may be put back.
func TestStoreThatIsWholeOpens(t *testing.T) {
	live := t.TempDir()
	s := mustOpen(t, live, Options{})
	mustCreate(t, s, "a")
	again := mustOpen(t, killed(t, live), Options{})
	if _, err := again.Load(t.Context(), hexKey("a")); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	backup, err := os.ReadFile(filepath.Join(live, databaseFile))
	if err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, live, Options{})
	if _, err := s.Swap(t.Context(), store.Write{Key: hexKey("b"), Data: []byte("b")}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(live, databaseFile), backup, 0o600); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, live, Options{})
}

package sqlite

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDatabaseIsHeldWithoutTheLockFile(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	mustCreate(t, s, "a")
	if err := os.Remove(filepath.Join(dir, lockFile)); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, dir, ErrInUse, databaseFile, lockFile)
}

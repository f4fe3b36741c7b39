package server

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestPinnedProgramIsFoundFromAnyFolderOfTheRepository(t *testing.T) {
	root := t.TempDir()
	program, inside := filepath.Join(root, ".tools", "bin", "server"), filepath.Join(root, "a", "b")
	for _, dir := range []string{filepath.Dir(program), inside} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{program, filepath.Join(root, "go.mod")} {
		if err := os.WriteFile(file, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(inside)
	got, err := Pinned(".tools/bin/server")
	if err != nil {
		t.Fatal(err)
	}
	if a, b := stat(t, got), stat(t, program); !os.SameFile(a, b) {
		t.Errorf("got %s, want %s", got, program)
	}
	if _, err := Pinned(".tools/bin/other"); err == nil || !strings.Contains(err.Error(), ".tools/bin/other is missing: run `make tools`") {
		t.Errorf("a missing program: got %v, want the make target that brings it", err)
	}
}

func TestOutsideOfTheRepositoryNothingIsPinned(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := Pinned(".tools/bin/server"); err == nil || !strings.Contains(err.Error(), "inside the repository") {
		t.Errorf("got %v, want to be told to run inside the repository", err)
	}
}

func TestFreePortCanBeListenedOn(t *testing.T) {
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

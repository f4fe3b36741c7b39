package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"idem/e2e/envoytest"
	"idem/ledgerd/store/postgres/pgtest"
	"idem/ledgerd/store/redis/redistest"
)

// kinds are the stores that can be measured. The memory store shows what is left when nothing is made durable.
var kinds = []string{"sqlite", "postgres", "redis", "memory"}

// ledger is a ledgerd with its store.
type ledger struct {
	kind    string
	ledgerd *envoytest.Ledgerd
	disk    func() int64 // bytes that the store has on disk
}

// start starts a ledgerd over a new store.
func start(r *envoytest.Program, kind string) *ledger {
	l := &ledger{kind: kind}
	switch kind {
	case "postgres":
		s := pgtest.Start(r)
		url := s.URL(pgtest.NewSchema())
		envoytest.MakeStore(r, url)
		l.ledgerd = envoytest.StartLedgerd(r, "", "--store", url)
		l.disk = func() int64 { return query(r, s) }
	case "redis":
		s := redistest.Start(r)
		envoytest.MakeStore(r, s.URL())
		l.ledgerd = envoytest.StartLedgerd(r, "", "--store", s.URL())
		l.disk = func() int64 { return size(r, s.Dir) }
	default:
		l.ledgerd = envoytest.StartLedgerd(r, "", "--store", kind)
		l.disk = func() int64 { return size(r, l.ledgerd.Dir) }
	}
	return l
}

// query asks PostgreSQL how large its database is.
func query(r *envoytest.Program, s *pgtest.Server) (bytes int64) {
	if err := s.Connect(r).QueryRow(r.Context(), "SELECT pg_database_size(current_database())").Scan(&bytes); err != nil {
		r.Fatalf("the size of the database: %v", err)
	}
	return bytes
}

// size sums up the files of a folder.
func size(r *envoytest.Program, dir string) (bytes int64) {
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size() // a file that has just gone has none
		}
		return nil
	})
	if err != nil {
		r.Fatalf("the size of %s: %v", dir, err)
	}
	return bytes
}

// memory is what a process has in RAM now, in bytes.
func memory(r *envoytest.Program, pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		r.Fatalf("%v", err)
	}
	for line := range strings.Lines(string(text)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	r.Fatalf("no VmRSS of process %d", pid)
	return 0
}

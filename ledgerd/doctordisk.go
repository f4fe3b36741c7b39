package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// examineDisk looks at the data directory: whether it can be written, how long its disk takes to make something
// durable, and how much room there is.
func examineDisk(dir string) []finding {
	info, err := os.Stat(dir)
	switch {
	case os.IsNotExist(err):
		return []finding{{warn, "data directory", fmt.Sprintf("%s is not there yet; `ledgerd serve` makes it", dir)}}
	case err != nil:
		return []finding{{fail, "data directory", err.Error()}}
	case !info.IsDir():
		return []finding{{fail, "data directory", dir + " is not a directory"}}
	}
	found := []finding{permissions(dir, info)}
	syncs, err := timeSyncs(dir)
	if err != nil {
		return append(found, finding{fail, "durability", err.Error()})
	}
	found = append(found, durability(syncs), examineSpace(dir))
	return found
}

func permissions(dir string, info os.FileInfo) finding {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return finding{warn, "data directory", fmt.Sprintf("%s is open to others (%v): it holds what was called and what came back; want 0700", dir, mode)}
	}
	return finding{well, "data directory", dir}
}

// timeSyncs writes and syncs a small file several times.
func timeSyncs(dir string) ([]time.Duration, error) {
	const times = 16
	f, err := os.CreateTemp(dir, "doctor-*")
	if err != nil {
		return nil, fmt.Errorf("%s cannot be written: %w", dir, err)
	}
	defer discard(f)
	var took []time.Duration
	for range times {
		if _, err := f.Write(make([]byte, 4096)); err != nil {
			return nil, fmt.Errorf("write to %s: %w", filepath.Base(f.Name()), err)
		}
		start := time.Now()
		if err := f.Sync(); err != nil {
			return nil, fmt.Errorf("the file system of %s cannot sync: %w", dir, err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took, nil
}

// discard removes a file that was only made to see whether it can be.
func discard(f *os.File) {
	f.Close()
	_ = os.Remove(f.Name()) // what is left over is empty, and named for what it is
}

// durability judges how long syncs take: far below what a disk can do means that something in between only says so.
func durability(sorted []time.Duration) finding {
	const tooFast, slow = 15 * time.Microsecond, 20 * time.Millisecond
	median := sorted[len(sorted)/2]
	text := fmt.Sprintf("a sync takes %v (median of %d)", median.Round(time.Microsecond), len(sorted))
	switch {
	case median < tooFast:
		return finding{warn, "durability", text + ": no disk is that fast. Is this memory (tmpfs), or a disk that does not sync? A power cut would take back what was answered"}
	case median > slow:
		return finding{warn, "durability", text + ": that bounds how fast a single call can be answered; under load writes share a sync"}
	}
	return finding{well, "durability", text}
}

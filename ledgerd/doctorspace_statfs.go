//go:build linux || darwin

package main

import (
	"fmt"
	"syscall"
)

// examineSpace says how much room the data directory's file system has.
func examineSpace(dir string) finding {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return finding{warn, "free space", err.Error()}
	}
	const little, veryLittle = 1 << 30, 100 << 20
	free := fs.Bavail * uint64(fs.Bsize)
	text := fmt.Sprintf("%d MiB", free>>20)
	switch {
	case free < veryLittle:
		return finding{fail, "free space", text + ": with a full disk every call is refused"}
	case free < little:
		return finding{warn, "free space", text + ": with a full disk every call is refused"}
	}
	return finding{well, "free space", text}
}

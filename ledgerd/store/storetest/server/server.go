// Package server is what tests that run real servers have in common: where `make tools` put the pinned programs, and a
// port that a server keeps when it is stopped and started again.
package server

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// Pinned gives the path of a program that `make tools` installs; file is where it is, from the repository's root:
// ".tools/bin/valkey-server". Where it is missing the error names the make target.
func Pinned(file string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("%s is missing: no go.mod in this folder or above it: run the tests inside the repository", file)
		}
		dir = up
	}
	path := filepath.Join(dir, file)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is missing: run `make tools` (%w)", file, err)
	}
	return path, nil
}

// FreePort gives a port of 127.0.0.1 that nothing listens on, from below the range that the kernel gives to outgoing
// connections, so that a server that is stopped and started again finds it free still.
func FreePort() (int, error) {
	const low, high = 15000, 32000
	for range 100 {
		port := low + rand.IntN(high-low)
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("found no free port between %d and %d on 127.0.0.1", low, high)
}

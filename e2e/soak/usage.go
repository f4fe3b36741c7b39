package soak

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// usage is what a process takes from its machine.
type usage struct {
	memory      int64 // resident, in bytes
	descriptors int
}

// used reads from /proc what a process takes. It is there on Linux, as Envoy is.
func used(pid int) (u usage, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				return u, fmt.Errorf("VmRSS of %d: %w", pid, err)
			}
			u.memory = kb << 10
		}
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	u.descriptors = len(open)
	return u, err
}

func (u usage) String() string {
	return fmt.Sprintf("%d MiB, %d descriptors", u.memory>>20, u.descriptors)
}

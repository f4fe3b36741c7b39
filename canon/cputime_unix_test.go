//go:build unix

package canon_test

import (
	"syscall"
	"testing"
	"time"
)

// worked is how long the processors have worked for this process: on a busy machine a long piece of work waits for its
// turn more often than a short one, and a clock on the wall counts that.
func worked(t *testing.T) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

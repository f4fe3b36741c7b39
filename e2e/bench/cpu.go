package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"idem/e2e/envoytest"
)

// tick is the unit in which Linux tells what a process has used (USER_HZ: 100 a second on every architecture that Go
// runs on).
const tick = 10 * time.Millisecond

// cpu is how long a process and its threads have computed, of their own and in the kernel (proc_pid_stat(5): utime and
// stime).
func cpu(r *envoytest.Program, pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		r.Fatalf("%v", err)
	}
	used, err := computed(string(text))
	if err != nil {
		r.Fatalf("what process %d has computed: %v", pid, err)
	}
	return used
}

// computed reads the line of a process. Its second field, a name in brackets, may hold anything.
func computed(line string) (time.Duration, error) {
	const utime, stime = 14 - 3, 15 - 3 // their numbers in proc_pid_stat(5); what follows the name is the third
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) <= stime {
		return 0, fmt.Errorf("%q has too few fields", line)
	}
	sum := time.Duration(0)
	for _, field := range fields[utime : stime+1] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%q: %w", line, err)
		}
		sum += time.Duration(ticks) * tick
	}
	return sum, nil
}

// perCall is a share of what was computed, in microseconds.
func perCall(used time.Duration, calls int) float64 {
	return float64(used) / float64(time.Microsecond) / float64(max(calls, 1))
}

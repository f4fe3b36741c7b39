package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
)

// run is what envoytest needs in place of a test: failing ends the program, after everything that was started.
type run struct {
	ctx context.Context
	dir string

	mu       sync.Mutex
	cleanups []func()
	failed   bool
}

func newRun(dir string) *run {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	r := &run{ctx: ctx, dir: dir}
	r.Cleanup(stop)
	go func() {
		<-ctx.Done()
		if r.unfinished() {
			r.Fatalf("interrupted")
		}
	}()
	return r
}

func (r *run) Helper()                  {}
func (r *run) Context() context.Context { return r.ctx }

func (r *run) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

func (r *run) TempDir() string {
	dir, err := os.MkdirTemp(r.dir, "idem-bench-")
	if err != nil {
		r.Fatalf("%v", err)
	}
	r.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (r *run) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *run) Logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}

func (r *run) Errorf(format string, args ...any) {
	r.mu.Lock()
	r.failed = true
	r.mu.Unlock()
	r.Logf(format, args...)
}

func (r *run) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	r.finish()
	os.Exit(1)
}

func (r *run) unfinished() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.cleanups) > 0
}

// finish undoes what was started, last first.
func (r *run) finish() {
	r.mu.Lock()
	cleanups := r.cleanups
	r.cleanups = nil
	r.mu.Unlock()
	for _, f := range slices.Backward(cleanups) {
		f()
	}
}

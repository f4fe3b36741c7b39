package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"testing"
)

// run is what the servers' packages need in place of a test: failing ends the program, after everything that was
// started. Of testing.TB it has what they use; nothing else may be called.
type run struct {
	testing.TB
	ctx context.Context
	dir string

	mu       sync.Mutex
	cleanups []func()
	failed   bool
}

var _ testing.TB = (*run)(nil)

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
func (r *run) Name() string             { return "bench" }

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

func (r *run) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }

func (r *run) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

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

// part runs something and ends what it started, so that one store's server does not burden the next one's figures.
func (r *run) part(f func()) {
	r.mu.Lock()
	before := len(r.cleanups)
	r.mu.Unlock()
	f()
	r.undo(before)
}

// finish undoes everything that was started.
func (r *run) finish() { r.undo(0) }

// undo undoes what was started, last first, but the first few.
func (r *run) undo(but int) {
	r.mu.Lock()
	cleanups := slices.Clone(r.cleanups[but:])
	r.cleanups = r.cleanups[:but]
	r.mu.Unlock()
	for _, f := range slices.Backward(cleanups) {
		f()
	}
}

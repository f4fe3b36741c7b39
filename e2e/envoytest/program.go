package envoytest

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

// Program takes the place of a test where there is none: in a benchmark, and for what all tests of a package share.
// Failing ends the program, after everything that was started. Of testing.TB it has what this package and those of the
// stores' servers use; nothing else may be called.
type Program struct {
	testing.TB
	name, dir string
	ctx       context.Context

	mu       sync.Mutex
	cleanups []func()
	failed   bool
}

// NewProgram makes one. name is that of its log lines and temporary folders, dir is where those are (empty: where the
// system has them). An interrupt ends it as a failure does.
func NewProgram(name, dir string) *Program {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := &Program{name: name, dir: dir, ctx: ctx}
	p.Cleanup(stop)
	go func() {
		<-ctx.Done()
		if p.unfinished() {
			p.Fatalf("interrupted")
		}
	}()
	return p
}

// Tests runs a package's tests, ends what they shared, and gives the code to exit with.
func (p *Program) Tests(m *testing.M) (code int) {
	code = m.Run()
	if code != 0 {
		p.fail()
	}
	p.End()
	if code == 0 && p.Failed() {
		code = 1
	}
	return code
}

// Part runs something and ends what it started, so that one store's server does not burden the next one's figures.
func (p *Program) Part(f func()) {
	p.mu.Lock()
	before := len(p.cleanups)
	p.mu.Unlock()
	f()
	p.undo(before)
}

// End ends everything that was started.
func (p *Program) End() { p.undo(0) }

// undo undoes what was started, last first, but the first few.
func (p *Program) undo(but int) {
	p.mu.Lock()
	cleanups := slices.Clone(p.cleanups[but:])
	p.cleanups = p.cleanups[:but]
	p.mu.Unlock()
	for _, f := range slices.Backward(cleanups) {
		f()
	}
}

func (p *Program) unfinished() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.cleanups) > 0
}

func (p *Program) fail() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = true
}

// Helper is of no use outside of tests.
func (p *Program) Helper() {}

// Name is the name that it was made with.
func (p *Program) Name() string { return p.name }

// Context ends with an interrupt.
func (p *Program) Context() context.Context { return p.ctx }

// Cleanup takes down what is to be done at the end, the last first.
func (p *Program) Cleanup(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cleanups = append(p.cleanups, f)
}

// TempDir makes a folder that is there until the end.
func (p *Program) TempDir() string {
	dir, err := os.MkdirTemp(p.dir, "idem-"+p.name+"-")
	if err != nil {
		p.Fatalf("%v", err)
	}
	p.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Failed says whether something has gone wrong.
func (p *Program) Failed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// Logf writes a line for people.
func (p *Program) Logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, p.name+": "+format+"\n", args...)
}

// Error takes down that something has gone wrong.
func (p *Program) Error(args ...any) { p.Errorf("%s", fmt.Sprint(args...)) }

// Errorf is Error with a format.
func (p *Program) Errorf(format string, args ...any) {
	p.fail()
	p.Logf(format, args...)
}

// Fatal ends the program, after everything that was started.
func (p *Program) Fatal(args ...any) { p.Fatalf("%s", fmt.Sprint(args...)) }

// Fatalf is Fatal with a format.
func (p *Program) Fatalf(format string, args ...any) {
	p.Errorf(format, args...)
	p.End()
	os.Exit(1)
}

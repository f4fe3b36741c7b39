package envoytest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// process is one started program with its log.
type process struct {
	name    string
	cmd     *exec.Cmd
	logFile string
	done    chan struct{} // closed once it has ended
	err     error         // how it ended; valid after done
}

// StartProgram runs a program of a test's own, such as a tool that is no Go program, until the test ends. What it logged
// is shown if the test fails. stop asks it to end, waits, and gives its error: nil where it ended well.
func StartProgram(t TB, name string, env []string, program string, args ...string) (stop func() error) {
	t.Helper()
	p := start(t, name, filepath.Join(t.TempDir(), "log"), env, program, args...)
	return func() error { return p.stop(t) }
}

// start runs a program that logs to a file. What it logged is shown if the test fails; whatever still runs when the
// test ends is killed.
func start(t TB, name, logFile string, env []string, program string, args ...string) *process {
	t.Helper()
	out, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer out.Close()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = out, out
	dieWithParent(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	p := &process{name: name, cmd: cmd, logFile: logFile, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of the log of %s:\n%s", p.name, tail(p.log(), 16<<10))
		}
		p.kill(t)
	})
	return p
}

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

func (p *process) log() []byte {
	text, _ := os.ReadFile(p.logFile)
	return text
}

// kill ends the process at once, as a crash does: nothing is drained, nothing is flushed.
func (p *process) kill(t TB) {
	t.Helper()
	p.signal(t, syscall.SIGKILL, patience)
}

// stop asks the process to end, waits for it and gives its error: nil where it ended well.
func (p *process) stop(t TB) error {
	t.Helper()
	p.signal(t, syscall.SIGTERM, patience)
	return p.err
}

func (p *process) signal(t TB, s syscall.Signal, limit time.Duration) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("signal %v to %s: %v", s, p.name, err)
	}
	select {
	case <-p.done:
	case <-time.After(limit):
		t.Errorf("%s did not end within %v of %v", p.name, limit, s)
		p.cmd.Process.Kill()
		<-p.done
	}
}

// tail gives the last whole lines of a text, at most n bytes.
func tail(text []byte, n int) []byte {
	if len(text) <= n {
		return text
	}
	text = text[len(text)-n:]
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	return text
}

package redistest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/store/storetest/server"
)

// patience bounds how long a server may take to start or to end. It ends a failing test; it never paces one.
const patience = 30 * time.Second

// safe is how a server is set up that a ledger may be kept on.
var safe = []string{
	"--appendonly", "yes", "--appendfsync", "always", "--save", "", "--maxmemory-policy", "noeviction",
	"--repl-diskless-sync-delay", "0", "--loglevel", "warning", "--bind", "127.0.0.1", "--daemonize", "no",
}

// Server is a Valkey server.
type Server struct {
	Address string // 127.0.0.1:port
	Dir     string // its folder

	settings []string
	command  *exec.Cmd
	life     io.Closer // the server lives while this is open
	ended    chan struct{}
	errors   bytes.Buffer
}

// Start runs a server of its own for a test, safe to keep a ledger on. settings are further ones, as on the command
// line ("--maxmemory", "10mb"); the last of a name counts.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "idem-valkey-")
	if err != nil {
		t.Fatal(err)
	}
	address, err := free()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Address: address, Dir: dir, settings: settings}
	t.Cleanup(func() {
		s.end()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	s.Restart(t)
	return s
}

// URL gives the URL of the server's store, with parameters such as "prefix=x".
func (s *Server) URL(parameters ...string) string {
	url := "redis://" + s.Address
	if len(parameters) > 0 {
		url += "?" + strings.Join(parameters, "&")
	}
	return url
}

// Restart runs the server again where it was, on what it has on disk. settings come on top of those it was started with.
func (s *Server) Restart(t testing.TB, settings ...string) {
	t.Helper()
	if err := s.run(binary(t), settings); err != nil {
		t.Fatalf("starting valkey-server: %v", err)
	}
}

func (s *Server) run(program string, settings []string) error {
	_, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		return err
	}
	args := append([]string{"--port", port, "--dir", s.Dir, "--logfile", s.log()}, safe...)
	args = append(append(args, s.settings...), settings...)
	// The shell ends the server as soon as its standard input ends: when Kill closes it, or when the test's process is
	// gone.
	script := `"$0" "$@" </dev/null & server=$!; read -r _; kill -9 $server; wait $server`
	s.command = exec.Command("/bin/sh", append([]string{"-c", script, program}, args...)...)
	s.errors.Reset()
	s.command.Stdout, s.command.Stderr = &s.errors, &s.errors
	life, err := s.command.StdinPipe()
	if err != nil {
		return err
	}
	if err := s.command.Start(); err != nil {
		return err
	}
	s.life, s.ended = life, make(chan struct{})
	go func(c *exec.Cmd, ended chan struct{}) {
		_ = c.Wait() // killed, as it should be
		close(ended)
	}(s.command, s.ended)
	err = s.until(func() error {
		answer, err := s.ask("PING")
		if err == nil && answer != "+PONG" && !strings.HasPrefix(answer, "-NOAUTH") {
			err = errors.New(answer) // it still reads its data
		}
		return err
	})
	if err != nil {
		s.end()
	}
	return err
}

// log is the server's log file.
func (s *Server) log() string { return filepath.Join(s.Dir, "log") }

// Do gives the server a command, and its answer back: a text, or the first line of any other answer. An error ends the
// test. It serves for settings and faults, not for data.
func (s *Server) Do(t testing.TB, words ...string) string {
	t.Helper()
	answer, err := s.ask(words...)
	if err != nil || strings.HasPrefix(answer, "-") {
		t.Fatalf("%s to %s: got %q, %v", strings.Join(words, " "), s.Address, answer, err)
	}
	return answer
}

func (s *Server) ask(words ...string) (string, error) {
	c, err := net.DialTimeout("tcp", s.Address, patience)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := c.Write(b.Bytes()); err != nil {
		return "", err
	}
	answer := bufio.NewReader(c)
	line, err := answer.ReadString('\n')
	line = strings.TrimRight(line, "\r\n")
	if size, long := strings.CutPrefix(line, "$"); long && err == nil {
		n, err := strconv.Atoi(size)
		if err != nil || n < 0 {
			return line, err
		}
		b := make([]byte, n)
		_, err = io.ReadFull(answer, b)
		return string(b), err
	}
	return line, err
}

// Kill ends the server as kill -9 does and returns once it is gone. What it has on disk stays.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if !s.end() {
		t.Fatalf("valkey-server on %s did not end within %v", s.Address, patience)
	}
}

func (s *Server) end() bool {
	if s.life == nil {
		return true
	}
	_ = s.life.Close() // it may be closed already
	select {
	case <-s.ended:
		return true
	case <-time.After(patience):
		return false
	}
}

// binary gives the path of the server that `make tools` installed.
func binary(t testing.TB) string {
	t.Helper()
	path, err := server.Pinned(".tools/bin/valkey-server")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// free gives an address that nothing listens on, and that a server finds free still when it is started again.
func free() (string, error) {
	port, err := server.FreePort()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), err
}

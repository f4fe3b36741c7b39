package pgtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// shared is the server of the test binary, started when it is first asked for.
var shared struct {
	once   sync.Once
	server *Server
	err    error
}

// Main runs the tests and ends the server that they shared. It gives the exit code.
func Main(m *testing.M) int {
	code := m.Run()
	if shared.server != nil {
		if err := shared.server.remove(); err != nil {
			fmt.Fprintln(os.Stderr, "pgtest:", err)
			code = max(code, 1)
		}
	}
	return code
}

// Shared gives the server that all tests of the binary share. [Main] ends it.
func Shared(t TB) *Server {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.err = start() })
	if shared.err != nil {
		t.Fatalf("%v", shared.err)
	}
	return shared.server
}

// Start starts a server of the test's own, with further settings (name=value). It is gone when the test ends.
func Start(t TB, settings ...string) *Server {
	t.Helper()
	s, err := start(settings...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of the log of the PostgreSQL server:\n%s", s.Log())
		}
		if err := s.remove(); err != nil {
			t.Errorf("%v", err)
		}
	})
	return s
}

// Kill9 ends the server as a crash of its machine does, as far as a test can: all its processes are killed at once.
func (s *Server) Kill9(t TB) {
	t.Helper()
	children := s.children()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatalf("kill the PostgreSQL server: %v", err)
	}
	for _, pid := range children {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
	}
	<-s.done
}

// children gives the server's other processes. Where the system does not say, they end when they notice that their
// parent is gone.
func (s *Server) children() (pids []int) {
	pid := strconv.Itoa(s.cmd.Process.Pid)
	text, _ := os.ReadFile(filepath.Join("/proc", pid, "task", pid, "children"))
	for _, field := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Stop ends the server in an orderly way: connections are cut, what they were doing is undone.
func (s *Server) Stop(t TB) {
	t.Helper()
	if err := s.signal(syscall.SIGINT); err != nil {
		t.Fatalf("%v", err)
	}
}

// Restart starts a server that was stopped or killed again, on the same data and port. After a kill it waits until
// none of the former processes is left.
func (s *Server) Restart(t TB) {
	t.Helper()
	err := s.run()
	for strings.Contains(s.Log(), inUse) && err != nil && t.Context().Err() == nil {
		if err := os.Truncate(s.logFile(), 0); err != nil {
			t.Fatalf("%v", err)
		}
		err = s.run()
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// inUse is what the server says while a child of its killed predecessor still lives.
const inUse = "pre-existing shared memory block"

// Do runs SQL on the server, as its superuser, in the way of psql: several statements, no arguments.
func (s *Server) Do(t TB, sql string) {
	t.Helper()
	if _, err := s.Connect(t).PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// Set changes settings of the server (name = value) for whoever connects from now on, and for those connected that may
// be changed while it runs.
func (s *Server) Set(t TB, settings ...string) {
	t.Helper()
	for _, setting := range settings {
		s.Do(t, "ALTER SYSTEM SET "+setting)
	}
	var before time.Time
	if err := s.Connect(t).QueryRow(t.Context(), "SELECT clock_timestamp()").Scan(&before); err != nil {
		t.Fatalf("%v", err)
	}
	s.Do(t, "SELECT pg_reload_conf()")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for done := false; !done; { // the server reads them in its own time, and hands them to new connections
		conn, err := pgx.Connect(ctx, s.URL(""))
		if err == nil {
			err = conn.QueryRow(ctx, "SELECT pg_conf_load_time() >= $1", before).Scan(&done)
			_ = conn.Close(ctx) // it has answered, or err says why not
		}
		if err != nil {
			t.Fatalf("waiting for the server to read its settings: %v", err)
		}
	}
}

// Connect connects as the superuser, until the test ends.
func (s *Server) Connect(t TB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL(""))
	if err != nil {
		t.Fatalf("connect to the PostgreSQL server: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // the server may be gone
	return conn
}

package pgtest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

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

// Kill9 ends the server as a crash does: its first process is killed, and the others follow when they notice.
func (s *Server) Kill9(t TB) {
	t.Helper()
	if err := s.signal(syscall.SIGKILL); err != nil {
		t.Fatalf("%v", err)
	}
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
	if err := s.do(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (s *Server) do(ctx context.Context, sql string) error {
	conn, err := pgx.Connect(ctx, s.URL(""))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // what was done is done
	_, err = conn.PgConn().Exec(ctx, sql).ReadAll()
	return err
}

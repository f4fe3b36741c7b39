package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"idem/ledgerd/store/storetest/server"
)

// StartStandby starts a standby that streams from the server under that name, and returns once it does. It is gone when
// the test ends.
func (s *Server) StartStandby(t TB, name string) *Server {
	t.Helper()
	standby, err := s.follow(name)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of the log of the standby:\n%s", standby.Log())
		}
		if err := standby.remove(); err != nil {
			t.Errorf("%v", err)
		}
	})
	s.AwaitStandby(t, name, "streaming")
	return standby
}

// follow makes a standby's folder from a backup of the server, and starts it.
func (s *Server) follow(name string) (*Server, error) {
	standby := &Server{bin: s.bin, owner: s.owner}
	var err error
	if standby.dir, err = os.MkdirTemp("", "pgtest-*"); err != nil {
		return nil, err
	}
	if standby.Port, err = server.FreePort(); err == nil {
		err = s.owner.give(standby.dir)
	}
	if err == nil {
		primary := fmt.Sprintf("host=127.0.0.1 port=%d user=%s application_name=%s", s.Port, superuser, name)
		backup := exec.Command(filepath.Join(s.bin, "pg_basebackup"), "--pgdata", standby.data(), "--dbname", primary,
			"--write-recovery-conf", "--wal-method", "stream", "--checkpoint", "fast", "--no-sync")
		backup.Dir, backup.SysProcAttr = standby.dir, s.owner.attributes()
		var out []byte
		if out, err = backup.CombinedOutput(); err != nil {
			err = fmt.Errorf("pg_basebackup: %w\n%s", err, out)
		}
	}
	if err == nil {
		err = standby.configure(fmt.Sprintf("port = %d\n", standby.Port))
	}
	if err == nil {
		err = standby.run()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(standby.dir))
	}
	return standby, nil
}

// configure adds lines to the server's settings; the last of a name counts.
func (s *Server) configure(lines string) error {
	conf, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = conf.WriteString(lines)
	return errors.Join(err, conf.Close())
}

// AwaitStandby waits until the standby of that name is in a state: streaming, or sync, which is one that commits wait
// for.
func (s *Server) AwaitStandby(t TB, name, state string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.URL(""))
	if err != nil {
		t.Fatalf("connect to the PostgreSQL server: %v", err)
	}
	defer func() { _ = conn.Close(context.Background()) }() // it has answered
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for there := false; !there; {
		err := conn.QueryRow(ctx, "SELECT count(*) > 0 FROM pg_stat_replication WHERE application_name = $1 AND $2 IN (state, sync_state)", name, state).Scan(&there)
		if err != nil {
			t.Fatalf("waiting for the standby %s to be %s: %v", name, state, err)
		}
		<-tick.C
	}
}

// Promote makes a standby the server that takes writes.
func (s *Server) Promote(t TB) { s.Do(t, "SELECT pg_promote(true, 60)") }

package pgtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"idem/ledgerd/store/storetest/server"
)

// How long the package waits for something that should be there at once, on a machine that is busy with other things.
const patience = time.Minute

// The server's only role and database.
const superuser = "ledgerd"

// Server is a PostgreSQL server with a data folder and a port that outlive its process.
type Server struct {
	Port int

	dir, bin string
	owner    *owner
	cmd      *exec.Cmd
	done     chan struct{} // closed once the process has ended
}

// settings make the server small and quick to start, and change nothing of what it promises.
var settings = []string{
	"listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200", "shared_buffers=64MB",
	"dynamic_shared_memory_type=mmap", "io_method=sync", "huge_pages=off", "max_wal_size=2GB",
	"fsync=on", "full_page_writes=on", "synchronous_commit=on", "log_min_messages=warning", "lc_messages=C",
}

// start makes a data folder and starts a server on it. Further settings are name=value.
func start(extra ...string) (*Server, error) {
	s := &Server{}
	tree, err := install()
	if err != nil {
		return nil, err
	}
	if s.owner, err = serverUser(); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "pgtest-*"); err != nil {
		return nil, err
	}
	if s.owner != nil && !reachable(tree) {
		private := tree
		tree = filepath.Join(s.dir, "install")
		if err := os.CopyFS(tree, os.DirFS(private)); err != nil {
			return nil, errors.Join(err, os.RemoveAll(s.dir))
		}
	}
	s.bin = filepath.Join(tree, "bin")
	if err := s.initialize(extra); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	if err := s.run(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s, nil
}

// initialize makes the cluster.
func (s *Server) initialize(extra []string) error {
	if err := s.owner.give(s.dir); err != nil {
		return err
	}
	initdb := exec.Command(filepath.Join(s.bin, "initdb"), "--pgdata", s.data(), "--username", superuser, "--auth", "trust",
		"--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions") // not synced: nothing is lost before it is used
	initdb.Dir = s.dir
	initdb.SysProcAttr = s.owner.attributes()
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	var err error
	if s.Port, err = server.FreePort(); err != nil {
		return err
	}
	conf, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	for _, setting := range append(append([]string{"port=" + strconv.Itoa(s.Port)}, settings...), extra...) {
		name, value, _ := strings.Cut(setting, "=")
		fmt.Fprintf(conf, "%s = '%s'\n", name, strings.ReplaceAll(value, "'", "''"))
	}
	return conf.Close()
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) logFile() string { return filepath.Join(s.dir, "server.log") }

// run starts the process and waits until it takes connections.
func (s *Server) run() error {
	out, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	s.cmd = exec.Command(filepath.Join(s.bin, "postgres"), "-D", s.data())
	s.cmd.Dir = s.dir
	s.cmd.Stdout, s.cmd.Stderr = out, out
	s.cmd.SysProcAttr = s.owner.attributes()
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("start the PostgreSQL server: %w", err)
	}
	done, cmd := make(chan struct{}), s.cmd
	s.done = done
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		close(done)
	}()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.URL(""))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-tick.C:
		case <-s.done:
			return fmt.Errorf("the PostgreSQL server ended while it started:\n%s", s.Log())
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("the PostgreSQL server is not ready after %v: %w", patience, err), s.signal(syscall.SIGQUIT))
		}
	}
}

// signal sends a signal and waits for the end.
func (s *Server) signal(sig syscall.Signal) error {
	if err := s.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %v to the PostgreSQL server: %w", sig, err)
	}
	select {
	case <-s.done:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("the PostgreSQL server did not end within %v of %v", patience, sig)
	}
}

// remove ends the server and removes its folder.
func (s *Server) remove() error {
	return errors.Join(s.signal(syscall.SIGQUIT), os.RemoveAll(s.dir))
}

// Log gives the end of what the server logged.
func (s *Server) Log() string {
	text, err := os.ReadFile(s.logFile())
	if err != nil {
		return err.Error()
	}
	const most = 8 << 10
	if len(text) > most {
		text = text[len(text)-most:]
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			text = text[i+1:]
		}
	}
	return string(text)
}

// Address is where the server listens: ip:port.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)) }

// URL gives what `--store` takes for a schema; for an empty one what any client of PostgreSQL takes.
func (s *Server) URL(schema string) string {
	url := fmt.Sprintf("postgres://%s@%s/postgres?sslmode=disable", superuser, s.Address())
	if schema != "" {
		url += "&schema=" + schema
	}
	return url
}

// NewSchema gives a name that no schema has.
func NewSchema() string { return "t_" + strings.ToLower(rand.Text()) }

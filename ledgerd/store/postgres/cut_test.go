package postgres

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/postgres/pgtest"
)

// fault is what befalls the connection that carries a record's key to the server.
type fault int

const (
	none    fault = iota
	lost          // it is cut before the server gets the key
	unheard       // it is cut before the server's answer comes back
	silent        // nothing more comes through, in either direction, and nothing says so
)

// line is the way to the server, which a test can cut.
type line struct {
	listener net.Listener

	mu     sync.Mutex
	server string
	fault  fault
	key    []byte
}

func newLine(t *testing.T, server *pgtest.Server) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{listener: listener, server: server.Address()}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { l.carry(t.Context(), client) })
		}
	})
	t.Cleanup(func() { // the test's context has ended by now
		l.listener.Close()
		all.Wait()
	})
	return l
}

// lead makes the line lead to another server.
func (l *line) lead(server *pgtest.Server) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.server = server.Address()
}

// arm makes a fault befall the next connection that carries the key.
func (l *line) arm(f fault, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault, l.key = f, pack(key)
}

// meets gives the fault that a message meets, which happens once.
func (l *line) meets(message []byte) fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault == none || !bytes.Contains(message, l.key) {
		return none
	}
	f := l.fault
	l.fault = none
	return f
}

func (l *line) carry(ctx context.Context, client net.Conn) {
	defer client.Close()
	context.AfterFunc(ctx, func() { client.Close() })
	l.mu.Lock()
	address := l.server
	l.mu.Unlock()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	var back sync.Mutex // held to let nothing through from the server
	mute := false
	go func() {
		defer client.Close()
		buffer := make([]byte, 64<<10)
		for {
			n, err := server.Read(buffer)
			back.Lock()
			muted := mute
			back.Unlock()
			if err != nil || muted {
				return // the answer is here, and is not handed on
			}
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		switch l.meets(buffer[:n]) {
		case lost:
			return
		case unheard:
			back.Lock()
			mute = true
			back.Unlock()
		case silent:
			_, _ = io.Copy(io.Discard, client) // until the client gives up
			return
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// over gives a store's URL that leads over the line.
func (l *line) over(server *pgtest.Server, schema string) string {
	return strings.Replace(server.URL(schema), server.Address(), l.listener.Addr().String(), 1)
}

func TestConnectionCutMidCommitLeavesTheWriteUnknown(t *testing.T) {
	server := pgtest.Shared(t)
	l := newLine(t, server)
	s := mustOpen(t, l.over(server, pgtest.NewSchema()), Options{Timeout: time.Second})
	defer s.Close()
	for name, c := range map[string]struct {
		fault fault
		there bool
	}{
		"the server never got it":     {lost, false},
		"its answer never came":       {unheard, true},
		"nobody is heard of any more": {silent, false},
	} {
		t.Run(name, func(t *testing.T) {
			l.arm(c.fault, hexKey(name))
			before := time.Now()
			_, err := s.Swap(context.Background(), store.Write{Key: hexKey(name), Data: []byte("x")})
			if !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("got %v, want ErrUnavailable", err)
			}
			if took := time.Since(before); took > time.Minute {
				t.Errorf("it took %v, want about the store's Timeout", took)
			}
			r, err := s.Load(context.Background(), hexKey(name))
			if there := err == nil; there != c.there || (err != nil && !errors.Is(err, store.ErrNotFound)) {
				t.Errorf("looking for the write: got %v, %v, want it there: %t", r, err, c.there)
			}
			// Whoever looked goes on from what it found, and the former write never comes back.
			if _, err := s.Swap(context.Background(), store.Write{Key: hexKey(name), Expect: r.Version, Data: []byte("y")}); err != nil {
				t.Errorf("the next write: %v", err)
			}
		})
	}
}

func TestStoreGoesOnWhenTheServerIsBack(t *testing.T) {
	server := pgtest.Start(t)
	s := mustOpen(t, server.URL(pgtest.NewSchema()), Options{Timeout: 5 * time.Second})
	defer s.Close()
	version := mustSwap(t, s, "a", 0)
	server.Stop(t)
	if _, err := s.Swap(t.Context(), store.Write{Key: hexKey("a"), Expect: version, Data: []byte("y")}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("while the server is away: got %v, want ErrUnavailable", err)
	}
	if _, err := s.Load(t.Context(), hexKey("a")); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("while the server is away: got %v, want ErrUnavailable", err)
	}
	server.Restart(t)
	r, err := loadPatiently(s, hexKey("a"))
	if err != nil || r.Version != version {
		t.Fatalf("got %+v, %v, want version %d", r, err, version)
	}
	mustSwap(t, s, "b", 0)
}

// The wait for a synchronous standby is cut off: the server has committed, and says success with a warning. That is not
// what was promised.
func TestCommitThatReachedNoStandbyIsUnknown(t *testing.T) {
	server := pgtest.Start(t)
	url := server.URL(pgtest.NewSchema())
	setup := mustOpen(t, url, Options{})
	setup.Close()
	server.Set(t, "synchronous_standby_names = 'nobody'")
	s := mustOpen(t, url, Options{})
	defer s.Close()
	if text := s.Promise().String(); !strings.Contains(text, "synchronous standbys' (nobody)") {
		t.Errorf("the promise is %q", text)
	}
	done := swapAsync(s, "a", 0)
	admin := server.Connect(t)
	for cancelled := false; !cancelled; {
		err := admin.QueryRow(t.Context(), "SELECT count(pg_cancel_backend(pid)) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'").Scan(&cancelled)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "synchronous replication") {
		t.Errorf("got %v, want ErrUnavailable with the server's warning", err)
	}
}

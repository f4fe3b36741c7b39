package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/redis/redistest"
	"idem/ledgerd/store/storetest"
)

// through opens a store behind a proxy.
func through(t *testing.T, o Options) (*Store, *proxy, *redistest.Server) {
	t.Helper()
	server := redistest.Start(t)
	p := newProxy(t, server.Address, nil)
	s := mustOpen(t, "redis://"+p.address(), o)
	t.Cleanup(func() { s.Close() })
	return s, p, server
}

func TestWriteWithoutAnAnswerIsUnknownAndNotSentAgain(t *testing.T) {
	s, p, server := through(t, Options{Timeout: 100 * time.Millisecond, ConfirmTimeout: 100 * time.Millisecond})
	server.Do(t, "CONFIG", "RESETSTAT")
	p.setMute(true)
	_, err := s.Swap(t.Context(), store.Write{Key: hexKey("a"), Data: []byte("x")})
	if !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable: sent again it would have met itself, and be told of a conflict", err)
	}
	// One script call reached the server, and no more.
	eventually(t, func() error {
		if stats := server.Do(t, "INFO", "commandstats"); !strings.Contains(stats, "cmdstat_evalsha:calls=1,") {
			return fmt.Errorf("the server was called otherwise than once:\n%s", stats)
		}
		return nil
	})
	p.setMute(false)
	p.cut()
	var r store.Record
	eventually(t, func() (err error) { r, err = s.Load(t.Context(), hexKey("a")); return err })
	if string(r.Data) != "x" {
		t.Errorf("got %q, want what was written", r.Data)
	}
}

func TestBrokenConnectionsAreMadeAnew(t *testing.T) {
	s, p, _ := through(t, Options{})
	for i := range 5 {
		p.cut()
		eventually(t, func() error {
			_, err := s.Swap(t.Context(), store.Write{Key: rare(), Data: []byte("x")})
			if err != nil && !errors.Is(err, store.ErrUnavailable) {
				t.Fatalf("round %d: %v", i, err)
			}
			return err
		})
	}
}

func TestForgottenScriptsAreGivenAgain(t *testing.T) {
	server := redistest.Start(t)
	s := mustOpen(t, server.URL(), Options{})
	defer s.Close()
	stop := make(chan struct{})
	var flushes sync.WaitGroup
	flushes.Go(func() {
		for {
			server.Do(t, "SCRIPT", "FLUSH")
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	storetest.Each(2000, func(i int) {
		key := hexKey(fmt.Sprint(i))
		v, err := s.Swap(context.Background(), store.Write{Key: key, Data: []byte("x")})
		if err == nil {
			_, err = s.Swap(context.Background(), store.Write{Key: key, Expect: v})
		}
		if err != nil {
			t.Errorf("write %d: %v", i, err)
		}
	})
	close(stop)
	flushes.Wait()
}

func TestStoresThatContendLoseNothing(t *testing.T) {
	url := redistest.Shared(t)
	contend(t, mustOpen(t, url, Options{}), mustOpen(t, url, Options{}), mustOpen(t, url, Options{}))
}

// contend lets stores contend for a few records, and closes them.
func contend(t *testing.T, stores ...store.Store) {
	t.Helper()
	storetest.Contend(t, 2, stores...)
	for _, s := range stores {
		must(t, s.Close())
	}
}

func TestOthersAreToldAndToldAgainAfterABreak(t *testing.T) {
	here, p, server := through(t, Options{})
	there := mustOpen(t, server.URL(), Options{})
	defer there.Close()
	var last atomic.Pointer[string]
	must(t, here.Watch(t.Context(), func(key string) { last.Store(&key) }))
	told := func() {
		t.Helper()
		eventually(t, func() error { // what is published during a break is not heard
			key := rare()
			_, err := there.Swap(t.Context(), store.Write{Key: key, Data: []byte("x")})
			must(t, err)
			for range 100 {
				if k := last.Load(); k != nil && *k == key {
					return nil
				}
				if _, err := there.Load(t.Context(), key); err != nil { // takes a moment
					return err
				}
			}
			return errors.New("nobody was told")
		})
	}
	told()
	p.cut()
	told()
	server.Do(t, "CLIENT", "KILL", "TYPE", "pubsub")
	told()
}

// What a reader is given is as safe as what a writer was told, where a reply alone does not say that.
func TestReaderConfirmsWhatItWasNotToldIsSafe(t *testing.T) {
	server := redistest.Start(t)
	writer := mustOpen(t, server.URL(), Options{})
	defer writer.Close()
	reader := mustOpen(t, server.URL(), Options{})
	defer reader.Close()
	reader.promise.dirty = true                                // as with replicas
	server.Do(t, "ACL", "SETUSER", "default", "resetchannels") // so that nobody hears of anything
	confirmations := func() int {
		n, _ := strconv.Atoi(server.Do(t, "HGET", reader.parts[0].meta, "confirmed")) // none yet: 0
		return max(n, 0)
	}

	key := strings.Repeat("00", packedSize) // in the first shard
	v, err := writer.Swap(t.Context(), store.Write{Key: key, Data: []byte("x")})
	must(t, err)
	reader.durable[0].Store(v - 1)
	before := confirmations()
	for range 3 {
		_, err := reader.Load(t.Context(), key)
		must(t, err)
	}
	if n := confirmations() - before; n != 1 {
		t.Errorf("what another process wrote was confirmed %d times while it was read 3 times, want once", n)
	}
}

func TestDeadServerIsUnavailableWithinTheTimeout(t *testing.T) {
	s, p, _ := through(t, Options{Timeout: 50 * time.Millisecond, ConfirmTimeout: 50 * time.Millisecond})
	p.setMute(true)
	if _, err := s.Load(t.Context(), hexKey("a")); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, err := s.Load(ctx, hexKey("a")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
}

package redis

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/redis/redistest"
)

func TestServerThatWouldForgetIsRefused(t *testing.T) {
	s := redistest.Start(t)
	url := s.URL()
	for _, c := range []struct {
		setting, value, back string
		want                 string
		accepted             bool // by accept_loss
	}{
		{"maxmemory-policy", "allkeys-lru", "noeviction", "maxmemory-policy is allkeys-lru, want noeviction", false},
		{"maxmemory-policy", "volatile-ttl", "noeviction", "maxmemory-policy is volatile-ttl, want noeviction", false},
		{"appendfsync", "everysec", "always", "appendfsync is everysec, want always", true},
		{"appendfsync", "no", "always", "appendfsync is no, want always", true},
		{"no-appendfsync-on-rewrite", "yes", "no", "no-appendfsync-on-rewrite is yes, want no", true},
		{"appendonly", "no", "yes", "appendonly is no, want yes", false},
	} {
		s.Do(t, "CONFIG", "SET", c.setting, c.value)
		if _, err := Open(t.Context(), url, Options{}); !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: got %v, want ErrUnsafe with %q", c.setting, c.value, err, c.want)
		}
		kept, err := Open(t.Context(), s.URL("accept_loss=true"), Options{Log: silent, Migrate: true})
		if accepted := err == nil; accepted != c.accepted {
			t.Errorf("%s %s with accept_loss: got %v, want it accepted: %t", c.setting, c.value, err, c.accepted)
		}
		if err == nil {
			if p := kept.Promise(); !strings.Contains(p, "a power cut may lose") {
				t.Errorf("%s %s with accept_loss promises %q", c.setting, c.value, p)
			}
			must(t, kept.Close())
		}
		s.Do(t, "CONFIG", "SET", c.setting, c.back)
	}
	must(t, mustOpen(t, url, Options{}).Close())
}

func TestUserWithoutConfigIsNotTakenAtItsWord(t *testing.T) {
	s := redistest.Start(t)
	s.Do(t, "ACL", "SETUSER", "ledger", "on", ">secret", "~idem:*", "&idem:*", "+@all", "-config")
	url := strings.Replace(s.URL(), "://", "://ledger:secret@", 1)
	if _, err := Open(t.Context(), url, Options{}); !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), "appendfsync is unknown") {
		t.Errorf("got %v, want ErrUnsafe: appendfsync cannot be known", err)
	}
}

// The rights that the README names are enough.
func TestUserNeedsFewRights(t *testing.T) {
	s := redistest.Start(t)
	s.Do(t, append([]string{"ACL", "SETUSER", "ledger", "on", ">secret"}, strings.Fields(rights)...)...)
	kept := mustOpen(t, strings.Replace(s.URL(), "://", "://ledger:secret@", 1), Options{})
	defer kept.Close()
	told := watch(t, kept)
	v, err := kept.Swap(t.Context(), store.Write{Key: hexKey("a"), Data: []byte("x"), Entries: []store.Entry{{Index: store.Holds, ID: "h", At: time.Now()}}})
	must(t, err)
	wantTold(t, told, hexKey("a"))
	_, err = kept.Load(t.Context(), hexKey("a"))
	must(t, err)
	_, err = kept.Scan(t.Context(), store.Holds, time.Now(), nil, 1)
	must(t, err)
	_, err = kept.Newest(t.Context(), 1)
	must(t, err)
	must(t, kept.SetSetting(t.Context(), "a", "b"))
	_, err = kept.Swap(t.Context(), store.Write{Key: hexKey("a"), Expect: v})
	must(t, err)
	must(t, kept.Reset(t.Context()))
	if _, err := Open(t.Context(), strings.Replace(s.URL(), "://", "://ledger:wrong@", 1), Options{}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("with a wrong password: got %v, want ErrUnavailable", err)
	}
}

func TestReplicaIsRefused(t *testing.T) {
	r := redistest.Start(t).StartReplica(t)
	if _, err := Open(t.Context(), r.URL("accept_loss=true"), Options{}); !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), "it is a replica") {
		t.Errorf("got %v, want ErrUnsafe: it is a replica", err)
	}
}

func TestFailoverThatMayLoseWantsToBeAccepted(t *testing.T) {
	s := redistest.Start(t)
	replica := s.StartReplica(t)
	if _, err := Open(t.Context(), s.URL(), Options{}); !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), "want min_replicas=1") {
		t.Fatalf("got %v, want ErrUnsafe that names min_replicas and accept_loss", err)
	}
	loose := mustOpen(t, s.URL("accept_loss=true"), Options{})
	if p := loose.Promise(); !strings.Contains(p, "a failover to a replica may lose") {
		t.Errorf("with accept_loss it promises %q", p)
	}
	must(t, loose.Close())

	var strict *Store
	eventually(t, func() (err error) { // a new replica takes a second until it acknowledges at once
		strict, err = Open(t.Context(), s.URL("min_replicas=1"), Options{ConfirmTimeout: 300 * time.Millisecond, Log: silent, Migrate: true})
		return err
	})
	defer strict.Close()
	v, err := strict.Swap(t.Context(), store.Write{Key: hexKey("a"), Data: []byte("one")})
	must(t, err)

	// A replica that is gone acknowledges nothing: the write is on the master, and not known to be safe.
	replica.Kill(t)
	if _, err := strict.Swap(t.Context(), store.Write{Key: hexKey("a"), Expect: v, Data: []byte("two")}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("without its replica: got %v, want ErrUnavailable", err)
	}
	// Nor is it handed out, for a failover could take it back.
	if r, err := strict.Load(t.Context(), hexKey("a")); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("reading what is not replicated: got %q, %v, want ErrUnavailable", r.Data, err)
	}
	replica.Restart(t)
	eventually(t, func() error {
		r, err := strict.Load(t.Context(), hexKey("a"))
		if err == nil && string(r.Data) != "two" {
			t.Fatalf("got %q, want what was written", r.Data)
		}
		return err
	})
}

func TestServerThatBecomesUnsafeIsNotUsedUntilItIsSafeAgain(t *testing.T) {
	s := redistest.Start(t)
	kept := mustOpen(t, s.URL(), Options{CheckEvery: time.Millisecond})
	defer kept.Close()
	write := func(name string) error {
		_, err := kept.Swap(t.Context(), store.Write{Key: hexKey(name), Data: []byte("x")})
		return err
	}
	must(t, write("a"))

	// Switched off while it runs: WAITAOF notices at once, at the first write.
	s.Do(t, "CONFIG", "SET", "appendonly", "no")
	if err := write("b"); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("without an append-only file: got %v, want ErrUnavailable", err)
	}
	s.Do(t, "CONFIG", "SET", "appendonly", "yes")
	eventually(t, func() error { return write(rare()) })

	s.Do(t, "CONFIG", "SET", "maxmemory-policy", "allkeys-random")
	eventually(t, func() error {
		_, err := kept.Load(t.Context(), hexKey("a"))
		if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "maxmemory-policy") {
			return errors.New("it still reads")
		}
		return nil
	})
	s.Do(t, "CONFIG", "SET", "maxmemory-policy", "noeviction")
	eventually(t, func() error { return write(rare()) })
}

func TestStoreWithAMissingShardIsRefused(t *testing.T) {
	s := redistest.Start(t)
	must(t, mustOpen(t, s.URL(), Options{}).Close())
	for _, shard := range []int{7, 0} {
		s.Do(t, "DEL", parts("idem")[shard].meta)
		if _, err := Open(t.Context(), s.URL(), Options{}); !errors.Is(err, ErrDamaged) {
			t.Errorf("without shard %d: got %v, want ErrDamaged", shard, err)
		}
	}
}

func TestStoreOfANewerLedgerdIsRefused(t *testing.T) {
	s := redistest.Start(t)
	must(t, mustOpen(t, s.URL(), Options{}).Close())
	s.Do(t, "HSET", parts("idem")[3].meta, "layout", "2")
	if _, err := Open(t.Context(), s.URL(), Options{}); !errors.Is(err, ErrForeign) {
		t.Errorf("got %v, want ErrForeign", err)
	}
}

func TestServerAtItsMemoryLimitRefusesAndRemovalsMakeRoom(t *testing.T) {
	s := redistest.Start(t)
	kept := mustOpen(t, s.URL(), Options{})
	defer kept.Close()
	v, err := kept.Swap(t.Context(), store.Write{Key: hexKey("a"), Data: make([]byte, 1<<20), Put: []store.Result{{Attempt: "att", Data: []byte("r")}}})
	must(t, err)
	s.Do(t, "CONFIG", "SET", "maxmemory", "1mb")
	_, err = kept.Swap(t.Context(), store.Write{Key: hexKey("b"), Data: []byte("x")})
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "maxmemory") {
		t.Errorf("got %v, want ErrUnavailable that names maxmemory", err)
	}
	if _, err := kept.Load(t.Context(), hexKey("b")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the refused write: got %v, want ErrNotFound", err)
	}
	if _, err := kept.Swap(t.Context(), store.Write{Key: hexKey("a"), Expect: v, Drop: []string{"att"}}); err != nil {
		t.Errorf("a removal: %v", err)
	}
}

func TestNothingListensGivesUnavailable(t *testing.T) {
	s := redistest.Start(t)
	s.Kill(t)
	if _, err := Open(context.Background(), s.URL(), Options{}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}

// A write whose confirmation failed is not confirmed by being read back: on a server that has stopped to write its file
// it would be gone with the server.
func TestWriteThatWasNotSyncedIsNotReadAsIfItWere(t *testing.T) {
	server := redistest.Start(t)
	s := mustOpen(t, server.URL(), Options{})
	defer s.Close()
	other := mustOpen(t, server.URL(), Options{})
	defer other.Close()
	before := hexKey("before")
	_, err := s.Swap(t.Context(), store.Write{Key: before, Data: []byte("x")})
	must(t, err)
	server.Do(t, "CONFIG", "SET", "appendonly", "no")
	key := hexKey("lost")
	if _, err := s.Swap(t.Context(), store.Write{Key: key, Data: []byte("x")}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("the write got %v, want ErrUnavailable", err)
	}
	for name, reader := range map[string]*Store{"the writer": s, "another": other} {
		if r, err := reader.Load(t.Context(), key); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s reads %v, %v; want ErrUnavailable", name, r, err)
		}
	}
}

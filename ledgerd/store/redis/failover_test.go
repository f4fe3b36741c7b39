package redis

import (
	"errors"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/redis/redistest"
	"idem/ledgerd/store/storetest"
)

// The master is killed under load and its replica is promoted. With min_replicas nothing that was answered is missing.
func TestNothingAcknowledgedIsLostWhenAReplicaThatWasWaitedForIsPromoted(t *testing.T) {
	master := redistest.Start(t)
	p := newProxy(t, master.Address, nil)
	url := "redis://" + p.address() + "?min_replicas=1"
	replica := master.StartReplica(t)
	var s *Store
	eventually(t, func() (err error) { // a new replica takes a second until it acknowledges at once
		s, err = Open(t.Context(), url, Options{Log: silent, Migrate: true, ConfirmTimeout: time.Second})
		return err
	})
	defer s.Close()
	const another = "a process that remembers nothing"
	storetest.RunCrash(t, storetest.Crash{
		Cycles: 2, Writes: 2000,
		Kill: func(t *testing.T, name string, writes int) []*storetest.Life {
			eventually(t, func() error { return s.SetSetting(t.Context(), "replica", "has it") })
			all := storetest.LiveUntil(t, s, name, writes, func() { master.Kill(t) })
			replica.Do(t, "REPLICAOF", "NO", "ONE")
			p.lead(replica.Address) // as a proxy does, or a name that moves
			master, replica = replica, replica.StartReplica(t)
			return all
		},
		Open: func(t *testing.T) map[string]store.Store {
			var other *Store
			eventually(t, func() (err error) {
				other, err = Open(t.Context(), url, Options{Log: silent, ConfirmTimeout: time.Second})
				return err
			})
			eventually(t, func() error { return s.SetSetting(t.Context(), "replica", "has it") })
			return map[string]store.Store{"the store that lived through it": s, another: other}
		},
		Close: func(_ *testing.T, stores map[string]store.Store) error { return stores[another].Close() },
	})
	if err := s.lost.Load(); err != nil {
		t.Errorf("the store took the promoted replica for another store: %v", *err)
	}
}

// A replica keeps the store's id, so it looks like the store; it may lack the newest writes all the same. A node that
// knows of them says so: it refuses, or, where the loss was accepted, warns and goes on.
func TestReplicaThatLacksWritesIsNoticedWhenItIsPromoted(t *testing.T) {
	for _, accept := range []bool{false, true} {
		master := redistest.Start(t)
		p := newProxy(t, master.Address, nil)
		url := "redis://" + p.address()
		if accept {
			url += "?accept_loss=true"
		}
		var log storetest.Log
		o := idle
		o.Log = log.Logger()
		s := mustOpen(t, url, o)
		defer s.Close()
		_, err := s.Swap(t.Context(), store.Write{Key: hexKey("a"), Data: []byte("x")})
		must(t, err)
		replica := master.StartReplica(t)       // added while ledgerd runs
		replica.Do(t, "REPLICAOF", "NO", "ONE") // as if it were cut off: it hears of nothing more
		_, err = s.Swap(t.Context(), store.Write{Key: hexKey("lost"), Data: []byte("x")})
		must(t, err)
		master.Kill(t)
		p.lead(replica.Address)
		eventually(t, func() error {
			_, err = s.Load(t.Context(), hexKey("lost"))
			if err == nil || !strings.Contains(err.Error(), "went back") {
				return errors.Join(errors.New("it does not notice"), err)
			}
			return nil
		})
		_, err = s.Swap(t.Context(), store.Write{Key: hexKey("lost"), Data: []byte("again")})
		if accept {
			must(t, err)
		} else if !errors.Is(err, store.ErrUnfit) {
			t.Errorf("what was lost is written again: got %v, want ErrUnfit", err)
		}
		log.WantHas(t, map[bool]string{false: "level=ERROR", true: "level=WARN"}[accept], "went back")
		again := mustOpen(t, replica.URL(), Options{})
		if again.Made() || again.ID() != s.ID() {
			t.Errorf("the replica's store is %s, made %t, want the master's %s", again.ID(), again.Made(), s.ID())
		}
		if _, err := again.Load(t.Context(), hexKey("a")); err != nil {
			t.Errorf("what the replica had: %v", err)
		}
		must(t, again.Close())
	}
}

package postgres

import (
	"errors"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/postgres/pgtest"
	"idem/ledgerd/store/storetest"
)

// The primary is killed under load, its synchronous standby is promoted, and the address leads there, as a proxy or a
// name that moves does. The store stays open all the time, and nothing that was answered is missing.
func TestNothingAcknowledgedIsLostWhenASynchronousStandbyIsPromoted(t *testing.T) {
	primary := pgtest.Start(t)
	schema := pgtest.NewSchema()
	mustOpen(t, primary.URL(schema), Options{}).Close()
	l := newLine(t, primary)
	url := l.over(primary, schema)
	s := mustOpen(t, url, Options{})
	defer s.Close()
	const another = "a process that remembers nothing"
	storetest.RunCrash(t, storetest.Crash{
		Cycles: 2, Writes: 2000, Patience: connections,
		Kill: func(t *testing.T, name string, writes int) []*storetest.Life {
			standby := primary.StartStandby(t, "standby")
			primary.Set(t, "synchronous_standby_names = 'standby'")
			primary.AwaitStandby(t, "standby", "sync")
			all := storetest.LiveUntil(t, s, name, writes, func() { primary.Kill9(t) })
			standby.Promote(t)
			l.lead(standby)
			primary = standby
			return all
		},
		Open: func(t *testing.T) map[string]store.Store {
			return map[string]store.Store{"the store that lived through it": s, another: mustOpen(t, url, Options{})}
		},
		Close: func(_ *testing.T, stores map[string]store.Store) error { return stores[another].Close() },
	})
	if err := s.gone(); err != nil {
		t.Errorf("the store took the promoted standby for another store: %v", err)
	}
}

// A standby that lacks the newest writes is promoted: what it lacks is gone, and executes again once somebody starts
// ledgerd anew. The nodes that know better refuse until then, and say why.
func TestNodesRefuseAStandbyThatLacksWhatTheyKnow(t *testing.T) {
	primary := pgtest.Start(t)
	schema := pgtest.NewSchema()
	standby := primary.StartStandby(t, "standby")
	// Of several hosts the one that takes writes is used.
	url := strings.Replace(primary.URL(schema), primary.Address(), primary.Address()+","+standby.Address(), 1)
	var log storetest.Log
	s := mustOpen(t, url, Options{Log: log.Logger()})
	defer s.Close()
	log.WantHas(t, "promoting one loses the newest writes")
	mustSwap(t, s, "kept", 0)
	var at string
	if err := primary.Connect(t).QueryRow(t.Context(), "SELECT pg_current_wal_lsn()::text").Scan(&at); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() (has bool) {
		return standby.Connect(t).QueryRow(t.Context(), "SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn", at).Scan(&has) == nil && has
	})
	standby.Stop(t)
	if _, err := s.Swap(t.Context(), store.Write{Key: hexKey("lost"), Data: []byte("x"), Now: time.Now().Add(time.Second)}); err != nil {
		t.Fatal(err)
	}
	primary.Kill9(t)
	standby.Restart(t)
	standby.Promote(t)
	var err error
	eventually(t, func() bool { // connections from before the failover fail first
		_, err = s.Load(t.Context(), hexKey("lost"))
		return errors.Is(err, store.ErrUnfit)
	})
	if !strings.Contains(err.Error(), "went back") {
		t.Errorf("got %v, want ErrUnfit that says that the store went back", err)
	}
	if _, err := s.Swap(t.Context(), store.Write{Key: hexKey("lost"), Data: []byte("again")}); !errors.Is(err, store.ErrUnfit) {
		t.Errorf("what was lost is written again: got %v, want ErrUnfit", err)
	}
	log.WantHas(t, "level=ERROR", "went back", "possibly executed")
	again := mustOpen(t, url, Options{})
	defer again.Close()
	if _, err := again.Load(t.Context(), hexKey("kept")); err != nil {
		t.Errorf("what the standby had: %v", err)
	}
	if _, err := again.Load(t.Context(), hexKey("lost")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what the standby lacked: %v, want ErrNotFound", err)
	}
	if again.ID() != s.ID() {
		t.Errorf("the id is %s, want the primary's %s", again.ID(), s.ID())
	}
}

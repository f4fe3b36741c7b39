package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/redis/redistest"
	"idem/ledgerd/store/storetest"
)

// TestCluster runs on one cluster of three masters, in this order.
func TestCluster(t *testing.T) {
	masters := redistest.StartCluster(t, 3)
	var places atomic.Int64
	place := func() string { return "prefix=t" + strconv.FormatInt(places.Add(1), 10) }
	t.Run("KeepsTheContract", func(t *testing.T) {
		storetest.Run(t, storetest.Driver{
			Durable: true,
			New: func(t *testing.T) func(func() time.Time) store.Store {
				url := masters[0].URL(place(), "addr="+masters[1].Address)
				return func(clock func() time.Time) store.Store { return mustOpen(t, url, Options{Clock: clock}) }
			},
		})
	})
	t.Run("IsUsedByManyFromAnyNode", func(t *testing.T) { usedByMany(t, masters, place()) })
	t.Run("HasNoOtherDatabase", func(t *testing.T) {
		url := strings.Replace(masters[0].URL(), masters[0].Address, masters[0].Address+"/1", 1)
		if _, err := Open(t.Context(), url, Options{}); !errors.Is(err, ErrURL) || !strings.Contains(err.Error(), "database 0 only") {
			t.Errorf("got %v, want ErrURL: of a cluster only database 0 is used", err)
		}
	})
	t.Run("AShardMovesWhileItIsWrittenTo", func(t *testing.T) { moveShard(t, masters, place()) })
	t.Run("ALostMasterHoldsUpItsOwnShardsOnly", func(t *testing.T) { loseMaster(t, masters, place()) })
}

func usedByMany(t *testing.T, masters []*redistest.Server, place string) {
	s := mustOpen(t, masters[0].URL(place), Options{})
	defer s.Close()
	seen := map[string]int{}
	for i := range shards {
		m, err := s.topology.master(t.Context(), i)
		must(t, err)
		seen[m.Options().Addr]++
	}
	for _, m := range masters {
		if n := seen[m.Address]; n < shards/3 {
			t.Errorf("%s has %d of %d shards", m.Address, n, shards)
		}
	}
	other := mustOpen(t, masters[2].URL(place), Options{})
	defer other.Close()
	told := watch(t, other)
	for i := range 3 {
		key := inShard(i*shards/3, "a")
		_, err := s.Swap(t.Context(), store.Write{Key: key, Data: []byte("x")})
		must(t, err)
		wantTold(t, told, key)
	}
	contend(t, mustOpen(t, masters[0].URL(place), Options{}), mustOpen(t, masters[1].URL(place), Options{}))
}

// A shard's slot moves to another master while it is written to: no write fails, none is lost.
func moveShard(t *testing.T, masters []*redistest.Server, place string) {
	s := mustOpen(t, masters[0].URL(place), Options{})
	defer s.Close()
	target := masters[1].Do(t, "CLUSTER", "MYID")
	moved := strconv.Itoa(slot(tags[2])) // in the first third of the slots, so the first master's
	key := inShard(2, "a")
	version, err := s.Swap(t.Context(), store.Write{Key: key, Data: []byte("0")})
	must(t, err)
	started := false
	for i := 1; ; i++ {
		version, err = s.Swap(t.Context(), store.Write{Key: key, Expect: version, Data: fmt.Append(nil, i)})
		if err != nil {
			t.Fatalf("write %d: %v", i, err)
		}
		if r, err := s.Load(t.Context(), key); err != nil || r.Version != version || string(r.Data) != fmt.Sprint(i) {
			t.Fatalf("write %d: read back as %q at %d, %v", i, r.Data, r.Version, err)
		}
		if i == 100 {
			masters[0].Do(t, "CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", moved, moved, "NODE", target)
			started = true
		}
		if m, err := s.topology.master(t.Context(), 2); started && err == nil && m.Options().Addr == masters[1].Address {
			break
		}
		if i == 200_000 {
			t.Fatal("the slot has not moved")
		}
	}
}

// A master that is gone takes its own shards along, and no others.
func loseMaster(t *testing.T, masters []*redistest.Server, place string) {
	for _, m := range masters { // or the others would refuse too, until it is back
		m.Do(t, "CONFIG", "SET", "cluster-require-full-coverage", "no")
	}
	s := mustOpen(t, masters[0].URL(place), Options{})
	defer s.Close()
	masters[2].Kill(t)
	for i := range shards {
		_, err := s.Swap(context.Background(), store.Write{Key: inShard(i, "a"), Data: []byte("x")})
		if last := slot(tags[i]) >= slots*2/3; last && !errors.Is(err, store.ErrUnavailable) || !last && err != nil {
			t.Errorf("shard %d (of the lost master: %t): %v", i, last, err)
		}
	}
	masters[2].Restart(t)
	eventually(t, func() error {
		_, err := s.Swap(t.Context(), store.Write{Key: inShard(shards-1, rare()), Data: []byte("x")})
		return err
	})
}

package redis

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/redis/redistest"
	"idem/ledgerd/store/storetest"
)

// inShard gives a key of a shard.
func inShard(shard int, name string) string {
	return fmt.Sprintf("%02x", shard*256/shards) + hexKey(name)[2:]
}

func hold(id string, at int) store.Entry {
	return store.Entry{Index: store.Holds, ID: id, At: time.UnixMicro(int64(at)).UTC()}
}

// An id goes over to the record that wrote it last, be it in the same shard or in another one.
func TestIDGoesOverFromShardToShard(t *testing.T) {
	s := mustOpen(t, redistest.Shared(t), Options{})
	defer s.Close()
	keys := []string{inShard(3, "a"), inShard(3, "b"), inShard(9, "c"), inShard(0, "d"), inShard(3, "a")}
	versions := map[string]uint64{}
	for i, key := range keys {
		v, err := s.Swap(t.Context(), store.Write{Key: key, Expect: versions[key], Data: []byte("x"), Entries: []store.Entry{hold("h", i), hold("own "+key, i)}})
		must(t, err)
		versions[key] = v
		e, err := s.Lookup(t.Context(), store.Holds, "h")
		if err != nil || e.Key != key || e.At.UnixMicro() != int64(i) {
			t.Errorf("write %d: the id leads to %v, %v, want %.8s", i, e, err, key)
		}
		list, err := s.Scan(t.Context(), store.Holds, time.Now(), nil, 100)
		must(t, err)
		if n := len(slices.DeleteFunc(list, func(e store.Entry) bool { return e.ID != "h" })); n != 1 {
			t.Errorf("write %d: the index has the id %d times", i, n)
		}
	}
	// Those who lost it take nothing away when they are written again.
	for _, key := range keys[1:4] {
		_, err := s.Swap(t.Context(), store.Write{Key: key, Expect: versions[key], Data: []byte("y")})
		must(t, err)
	}
	if e, err := s.Lookup(t.Context(), store.Holds, "h"); err != nil || e.Key != keys[0] {
		t.Errorf("got %v, %v, want %.8s", e, err, keys[0])
	}
}

// A scan merges the shards: many entries in one of them, few in the others, and any page size give the same order.
func TestScanMergesUnevenShards(t *testing.T) {
	s := mustOpen(t, redistest.Shared(t), Options{})
	defer s.Close()
	const n = 400
	storetest.Each(n, func(i int) {
		shard := 5
		if i%10 == 0 {
			shard = i / 10 % shards
		}
		_, err := s.Swap(t.Context(), store.Write{Key: inShard(shard, fmt.Sprint(i)), Data: []byte("x"), Entries: []store.Entry{{Index: store.Due, At: time.UnixMicro(int64(i / 3))}}})
		must(t, err)
	})
	all, err := s.Scan(t.Context(), store.Due, time.Now(), nil, n+1)
	must(t, err)
	if len(all) != n || !slices.IsSortedFunc(all, func(a, b store.Entry) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return strings.Compare(a.Key, b.Key)
	}) {
		t.Fatalf("got %d entries, want %d in order", len(all), n)
	}
	for _, limit := range []int{1, 7, 64, 399, 400} {
		var walked []store.Entry
		for after := (*store.Entry)(nil); ; after = &walked[len(walked)-1] {
			page, err := s.Scan(t.Context(), store.Due, time.Now(), after, limit)
			must(t, err)
			if len(page) == 0 {
				break
			}
			walked = append(walked, page...)
		}
		if !slices.Equal(walked, all) {
			t.Errorf("pages of %d give another order", limit)
		}
	}
}

func TestKeyThatIsNoDigestIsRefused(t *testing.T) {
	s := mustOpen(t, redistest.Shared(t), Options{})
	defer s.Close()
	if _, err := s.Swap(t.Context(), store.Write{Key: "refund-12", Data: []byte("x")}); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "64 hex digits") {
		t.Errorf("got %v, want ErrInvalid", err)
	}
	if _, err := s.Load(t.Context(), "refund-12"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

// Two ledgers with prefixes of their own share a server and nothing else.
func TestPrefixesKeepStoresApart(t *testing.T) {
	server := redistest.Start(t)
	one, two := mustOpen(t, server.URL("prefix=one"), Options{}), mustOpen(t, server.URL("prefix=two"), Options{})
	defer one.Close()
	defer two.Close()
	told := watch(t, two)
	_, err := one.Swap(t.Context(), store.Write{Key: hexKey("a"), Data: []byte("x")})
	must(t, err)
	_, err = two.Swap(t.Context(), store.Write{Key: hexKey("b"), Data: []byte("x")})
	must(t, err)
	wantTold(t, told, hexKey("b")) // and of nothing before it
	must(t, two.Reset(t.Context()))
	if _, err := one.Load(t.Context(), hexKey("a")); err != nil {
		t.Errorf("after a reset of the other store: %v", err)
	}
}

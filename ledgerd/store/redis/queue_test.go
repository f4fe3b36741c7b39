package redis

import (
	"testing"

	"idem/ledgerd/store"
	"idem/ledgerd/store/redis/redistest"
	"idem/ledgerd/store/storetest"
)

func TestGroups(t *testing.T) {
	storetest.RunGroups(t, storetest.Groups{Hold: pause, Shares: shards, Settings: true})
}

// pause opens a store whose next write the server does not take yet: it is paused.
func pause(t *testing.T, b storetest.Bounds) storetest.Held {
	t.Helper()
	server := redistest.Start(t)
	s := mustOpen(t, server.URL(), Options{
		Writers: 1, QueueWrites: b.QueueWrites, QueueBytes: b.QueueBytes, GroupWrites: b.GroupWrites, GroupBytes: b.GroupBytes,
	})
	t.Cleanup(func() { must(t, s.Close()) })
	server.Do(t, "CLIENT", "PAUSE", "60000", "WRITE")
	l, err := s.lane(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return storetest.Held{
		Store: s, First: store.Write{Key: hexKey("first"), Data: []byte("x")}, Queue: l.writes.State,
		Stats: func() (uint64, uint64) { st := s.Stats(); return st.Groups, st.Writes },
		Free:  func() { t.Helper(); server.Do(t, "CLIENT", "UNPAUSE") },
	}
}

package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"testing"
	"time"

	"idem/ledgerd/store/storetest"
)

// What the tests of this package share.

// rights is what the README names for the ACL of the ledger's user.
const rights = "~idem:* &idem:* +@connection +evalsha +script|load +hget +hmget +hset +hsetnx +hincrby +hdel +zadd +zrem +zrange " +
	"+zrangebylex +unlink +publish +subscribe +info +time +wait +waitaof +config|get +cluster|slots"

// hexKey is the intent called name.
func hexKey(name string) string { return storetest.Key(name) }

// silent is a log that nobody reads.
var silent = slog.New(slog.DiscardHandler)

// rare is an intent that nobody has used.
func rare() string { return hexKey(rand.Text()) }

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// eventually returns when f gives no error; it ends the test with what f gave last.
func eventually(t *testing.T, f func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		err := f()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal(err)
		}
	}
}

// watch gives what a store tells of. More than a few that nobody takes are dropped.
func watch(t *testing.T, s *Store) <-chan string {
	t.Helper()
	told := make(chan string, 10)
	must(t, s.Watch(t.Context(), func(key string) {
		select {
		case told <- key:
		default:
		}
	}))
	return told
}

// wantTold ends the test if the next key that is told is not this one.
func wantTold(t *testing.T, told <-chan string, key string) {
	t.Helper()
	select {
	case got := <-told:
		if got != key {
			t.Fatalf("told of %.8s, want %.8s", got, key)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("nobody was told of %.8s", key)
	}
}

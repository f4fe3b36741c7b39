package redis

import (
	"errors"
	"strings"
	"testing"

	"idem/ledgerd/store"
	"idem/ledgerd/store/redis/redistest"
	"idem/ledgerd/store/storetest"
)

// A user who lacks rights is told all of them at once, when the store is opened and not by the first call.
func TestUserWhoLacksRightsIsToldWhichWhenTheStoreIsOpened(t *testing.T) {
	server := redistest.Start(t)
	must(t, mustOpen(t, server.URL(), Options{}).Close())
	url := strings.Replace(server.URL(), "://", "://ledger:secret@", 1)
	for taken, want := range map[string]string{
		"-evalsha -script|load -wait -waitaof": "ACL SETUSER ledger +script|load +evalsha +wait +waitaof",
		"-info":                                "'info'",
		"-time -publish":                       "ACL SETUSER ledger +time +publish",
		"-subscribe":                           "ACL SETUSER ledger +subscribe",
		"-hset -hget -hmget -hdel -hincrby -hsetnx":   "ACL SETUSER ledger +hset +hsetnx +hincrby +hget +hmget +hdel",
		"-zadd -zrem -zrange -zrangebylex -unlink":    "ACL SETUSER ledger +unlink +zadd +zrem +zrange +zrangebylex",
		"resetkeys ~other:* resetchannels &channel:*": "ACL SETUSER ledger ~idem:* &idem:*",
		"-config|get": "+config|get",
	} {
		server.Do(t, "ACL", "SETUSER", "ledger", "reset")
		server.Do(t, append([]string{"ACL", "SETUSER", "ledger", "on", ">secret"}, strings.Fields(rights)...)...)
		server.Do(t, append([]string{"ACL", "SETUSER", "ledger"}, strings.Fields(taken)...)...)
		s, err := Open(t.Context(), url, Options{Log: silent})
		if err == nil {
			must(t, s.Close())
		}
		if kind := errors.Is(err, ErrRights) || taken == "-config|get" && errors.Is(err, ErrUnsafe); !kind || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", taken, err, want)
		}
		if keys := server.Do(t, "EXISTS", "idem:{"+tags[0]+"}:probe"); keys != ":0" {
			t.Errorf("%s: the key that was tried with is still there", taken)
		}
	}
}

// A right that is taken away while ledgerd runs is not a server that is away.
func TestUserWhoLosesARightIsToldWhatItIs(t *testing.T) {
	server := redistest.Start(t)
	server.Do(t, append([]string{"ACL", "SETUSER", "ledger", "on", ">secret"}, strings.Fields(rights)...)...)
	s := mustOpen(t, strings.Replace(server.URL(), "://", "://ledger:secret@", 1), Options{})
	defer s.Close()
	server.Do(t, "ACL", "SETUSER", "ledger", "-evalsha")
	if _, err := s.Swap(t.Context(), store.Write{Key: hexKey("a"), Data: []byte("x")}); !errors.Is(err, store.ErrUnfit) || !strings.Contains(err.Error(), "evalsha") {
		t.Errorf("got %v, want ErrUnfit that names evalsha", err)
	}
}

// A server without WAITAOF (before 7.2, or where an operator took it away) is used by appendfsync always alone, and it is
// said so. A file that is switched off is noticed by the very next write all the same.
func TestServerWithoutWAITAOFIsUsedAndSaidSo(t *testing.T) {
	server := redistest.Start(t, "--rename-command", "WAITAOF", "")
	var log storetest.Log
	s := mustOpen(t, server.URL(), Options{Log: log.Logger()})
	defer s.Close()
	_, err := s.Swap(t.Context(), store.Write{Key: hexKey("a"), Data: []byte("x")})
	must(t, err)
	log.WantHas(t, "each write is synced before it is acknowledged (appendfsync always)", "level=WARN", "has no WAITAOF")
	server.Do(t, "CONFIG", "SET", "appendonly", "no")
	if _, err := s.Swap(t.Context(), store.Write{Key: hexKey("b"), Data: []byte("x")}); !errors.Is(err, store.ErrUnfit) || !strings.Contains(err.Error(), "appendonly is no") {
		t.Errorf("without an append-only file: got %v, want ErrUnfit", err)
	}
}

// What an acknowledged write rests on was so when the server did it, not ten seconds before.
func TestSettingsThatChangeAreNoticedByTheNextWrite(t *testing.T) {
	server := redistest.Start(t)
	for _, c := range []struct {
		setting, value, back string
		accepted             bool // by accept_loss
	}{
		{"appendfsync", "everysec", "always", true},
		{"no-appendfsync-on-rewrite", "yes", "no", true},
		{"maxmemory-policy", "allkeys-lru", "noeviction", false},
		{"appendonly", "no", "yes", false},
	} {
		for _, accept := range []bool{false, true} {
			url := server.URL()
			if accept {
				url = server.URL("accept_loss=true")
			}
			s := mustOpen(t, url, idle) // nothing looks by itself
			server.Do(t, "CONFIG", "SET", c.setting, c.value)
			_, err := s.Swap(t.Context(), store.Write{Key: rare(), Data: []byte("x")})
			if accept && c.accepted {
				must(t, err)
			} else if !errors.Is(err, store.ErrUnfit) || !strings.Contains(err.Error(), c.setting+" is "+c.value) {
				t.Errorf("%s %s, accept_loss %t: got %v, want ErrUnfit that names it", c.setting, c.value, accept, err)
			}
			server.Do(t, "CONFIG", "SET", c.setting, c.back)
			eventually(t, func() error { // the file that is switched on is written first
				_, err := s.Swap(t.Context(), store.Write{Key: rare(), Data: []byte("x")})
				return err
			})
			must(t, s.Close())
		}
	}
}

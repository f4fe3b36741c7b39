package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"idem/ledgerd/store"
	"idem/ledgerd/store/redis/redistest"
	"idem/ledgerd/store/storetest"
)

// Credentials that stop working while ledgerd runs (a rotation, a user who is removed) are met by each new connection.
// Nothing may be taken for an answer then, an empty result least of all; and once they work again, so does the store.
func TestCredentialsThatAreRefusedAreSaidSoAndNothingIsTakenForAnAnswer(t *testing.T) {
	server := redistest.Start(t)
	server.Do(t, "ACL", "SETUSER", "admin", "on", "nopass", "~*", "&*", "+@all")
	admin := redis.NewClient(&redis.Options{Addr: server.Address, Username: "admin", Password: "any"})
	defer admin.Close()
	do := func(words ...string) {
		t.Helper()
		for _, line := range words {
			args := []any{}
			for _, w := range strings.Fields(line) {
				args = append(args, w)
			}
			must(t, admin.Do(context.Background(), args...).Err())
		}
	}
	for name, c := range map[string]struct{ user, before, refuse, back string }{
		"another password of the server": {"", "CONFIG SET requirepass one", "CONFIG SET requirepass two", "CONFIG SET requirepass one"},
		"a user who is switched off":     {"ledger", "ACL SETUSER ledger on >one " + rights, "ACL SETUSER ledger off", "ACL SETUSER ledger on"},
		"a user without the password":    {"ledger", "ACL SETUSER ledger on >one " + rights, "ACL SETUSER ledger resetpass", "ACL SETUSER ledger >one"},
		"a user who is removed":          {"ledger", "ACL SETUSER ledger on >one " + rights, "ACL DELUSER ledger", "ACL SETUSER ledger on >one " + rights},
	} {
		t.Run(name, func(t *testing.T) {
			do(c.before)
			s := mustOpen(t, strings.Replace(server.URL(), "://", "://"+c.user+":one@", 1), Options{})
			defer s.Close()
			key := rare()
			version, err := s.Swap(t.Context(), store.Write{Key: key, Data: []byte("x"), Put: []store.Result{{Attempt: "att", Data: []byte("result")}}})
			must(t, err)
			do(c.refuse, "CLIENT KILL TYPE normal SKIPME yes", "CLIENT KILL TYPE pubsub")
			for range 3 {
				for request, ask := range storetest.Requests {
					if err := ask(t.Context(), s); !errors.Is(err, store.ErrRefused) {
						t.Errorf("%s: got %v, want ErrRefused", request, err)
					}
				}
			}
			if _, err := Open(t.Context(), strings.Replace(server.URL(), "://", "://"+c.user+":one@", 1), Options{Log: silent}); !errors.Is(err, store.ErrRefused) {
				t.Errorf("Open: got %v, want ErrRefused", err)
			}
			do(c.back)
			eventually(t, func() error {
				r, err := s.Load(t.Context(), key)
				if err == nil && r.Version != version {
					err = fmt.Errorf("got version %d, want %d", r.Version, version)
				}
				return err
			})
			if data, err := s.Result(t.Context(), "att"); err != nil || string(data) != "result" {
				t.Errorf("the result: got %q, %v", data, err)
			}
			_, err = s.Swap(t.Context(), store.Write{Key: key, Expect: version})
			must(t, err)
		})
	}
}

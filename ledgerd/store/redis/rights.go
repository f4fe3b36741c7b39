package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// checkRights tries every command that the store will send and names all that the user may not: else the first call
// would find out. What it writes is a key of its own that is gone at once.
func (s *Store) checkRights(ctx context.Context) error {
	done := map[*redis.Client]bool{}
	var lacking []string
	for i := range shards {
		master, err := s.topology.master(ctx, i)
		if err != nil {
			return unavailable("finding the master of a slot", err)
		}
		if done[master] {
			continue
		}
		done[master] = true
		list, err := s.tryAll(ctx, master, strings.TrimSuffix(s.parts[i].meta, "meta")+"probe")
		if err != nil {
			return unavailable("looking for the user's rights", err)
		}
		lacking = append(lacking, list...)
	}
	if len(lacking) == 0 {
		return nil
	}
	user := s.place.username
	if user == "" {
		user = "default"
	}
	return fmt.Errorf("%w: redis: %s needs more to keep a ledger on %s: ACL SETUSER %[2]s %[4]s", ErrRights, user, s.place.addresses[0], strings.Join(unique(lacking), " "))
}

// tryAll gives the rights that the user lacks on one server, as the words that an ACL has for them.
func (s *Store) tryAll(ctx context.Context, c *redis.Client, key string) (lacking []string, err error) {
	tries := []struct {
		right string
		words []any
	}{
		{"+info", []any{"info", "server"}}, {"+time", []any{"time"}},
		{"+hset", []any{"hset", key, "a", 1}}, {"+hsetnx", []any{"hsetnx", key, "a", 1}}, {"+hincrby", []any{"hincrby", key, "n", 1}},
		{"+hget", []any{"hget", key, "a"}}, {"+hmget", []any{"hmget", key, "a"}}, {"+hdel", []any{"hdel", key, "a", "n"}},
		{"+unlink", []any{"unlink", key}},
		{"+zadd", []any{"zadd", key, "xx", 0, "a"}}, {"+zrem", []any{"zrem", key, "a"}}, {"+zrange", []any{"zrange", key, 0, 0}},
		{"+zrangebylex", []any{"zrangebylex", key, "-", "+"}},
		{"+script|load", []any{"script", "load", setScript.text}}, {"+evalsha", []any{"evalsha", strings.Repeat("0", 40), 1, key}},
		{"+publish", []any{"publish", s.place.prefix + ":changed:probe", ""}},
		{"+wait", []any{"wait", 0, 1}}, {"+waitaof", []any{"waitaof", 0, 0, 1}},
	}
	if _, single := s.topology.(alone); !single {
		tries = append(tries, struct {
			right string
			words []any
		}{"+cluster|slots", []any{"cluster", "slots"}})
	}
	pipe := c.Pipeline()
	cmds := make([]*redis.Cmd, len(tries))
	for i, t := range tries {
		cmds[i] = redis.NewCmd(ctx, t.words...)
		_ = pipe.Process(ctx, cmds[i]) // only queues it
	}
	roundTrip(ctx, pipe)
	for i, cmd := range cmds {
		if err := cmd.Err(); err != nil && !answered(err) {
			return nil, err
		}
		lacking = append(lacking, s.lacks(tries[i].right, cmd.Err())...)
	}
	sub := s.topology.subscribe(ctx, s.place.prefix+":changed:probe")
	_, err = sub.Receive(ctx)
	_ = sub.Close() // it has done what it was for
	if err != nil && !answered(err) {
		return nil, err
	}
	return append(lacking, s.lacks("+subscribe", err)...), nil
}

// lacks says which right an answer asks for, if it does. All other errors are for who judges the server.
func (s *Store) lacks(right string, err error) []string {
	switch {
	case !redis.IsPermissionError(err):
		return nil
	case strings.Contains(err.Error(), "key"):
		return []string{"~" + s.place.prefix + ":*"}
	case strings.Contains(err.Error(), "channel"):
		return []string{"&" + s.place.prefix + ":*"}
	}
	return []string{right}
}

func unique(list []string) (once []string) {
	seen := map[string]bool{}
	for _, text := range list {
		if !seen[text] {
			once = append(once, text)
		}
		seen[text] = true
	}
	return once
}

// Examine looks at the server that a URL names as Open does, and says what would be promised there and what an operator
// should not leave so. It changes nothing.
func Examine(ctx context.Context, url string) (promise string, warnings []string, err error) {
	s, err := newStore(url, Options{}.withDefaults())
	if err != nil {
		return "", nil, err
	}
	servers, err := s.examine(ctx)
	if err == nil {
		_, err = s.adopt(ctx)
	}
	if err == nil {
		promise = s.promise.words
		warnings = s.promise.warnings(servers)
	}
	if s.topology != nil {
		s.lanes.close()
		err = errors.Join(err, s.topology.close())
	}
	return promise, warnings, err
}

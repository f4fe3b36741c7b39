package redis

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"idem/ledgerd/store"
)

// adopt makes sure that all of the store's shards are there, and makes them on demand where there are none.
//
// The first shard is marked first, with a new id; then the others with the same one; then the first one as complete.
// Whoever opens the store at the same time does the same, and finds the id of whoever came first.
func (s *Store) adopt(ctx context.Context) (all [shards]meta, err error) {
	meta, err := s.meta(ctx)
	if err != nil {
		return all, err
	}
	if meta[0].id == "" || meta[0].complete == "" {
		if !s.options.Migrate && meta[0].id != "" {
			return all, s.none("the making of one was broken off")
		}
		s.made = true
	}
	if meta[0].id == "" {
		for i, m := range meta {
			if m.id != "" {
				return all, fmt.Errorf("%w: redis: shard %d of %d has the prefix %s, the first one does not", ErrDamaged, i, shards, s.place.prefix)
			}
		}
		if !s.options.Migrate {
			return all, s.none("no key of it is there")
		}
		if err := s.mark(ctx, []int{0}, "id", hex.EncodeToString(random(8))); err != nil {
			return all, err
		}
		if meta, err = s.meta(ctx); err != nil {
			return all, err
		}
	}
	id := meta[0].id
	if meta[0].complete == "" {
		if err := s.mark(ctx, everywhere, "id", id); err != nil {
			return all, err
		}
		if err := s.mark(ctx, everywhere, "layout", layout); err != nil {
			return all, err
		}
		if err := s.mark(ctx, []int{0}, "complete", "1"); err != nil {
			return all, err
		}
		if meta, err = s.meta(ctx); err != nil {
			return all, err
		}
	}
	for i, m := range meta {
		if m.id != id {
			return all, fmt.Errorf("%w: redis: shard %d of %d (%s) belongs to the store %q, the first one to %q: "+
				"the server, or a master of the cluster, came back without its data", ErrDamaged, i, shards, s.parts[i].meta, m.id, id)
		}
		if m.layout != layout {
			return all, fmt.Errorf("%w: redis: the keys with the prefix %s have layout %q, this ledgerd knows %s", ErrForeign, s.place.prefix, m.layout, layout)
		}
	}
	s.id = id // from here on every request asks for it
	s.channel = s.place.prefix + ":changed:" + s.id
	s.herald = newHerald(string(random(senderSize)))
	return meta, nil
}

// meta is what a shard remembers of itself.
type meta struct {
	id, layout, complete string
	version              uint64
}

func (s *Store) meta(ctx context.Context) (list [shards]meta, err error) {
	cmds := make([]redis.Cmder, shards)
	for i := range cmds {
		cmds[i] = redis.NewSliceCmd(ctx, "hmget", s.parts[i].meta, "id", "layout", "complete", "version")
	}
	if err := s.ask(ctx, "reading what the store is", everywhere, cmds...); err != nil {
		return list, err
	}
	for i, cmd := range cmds {
		values := cmd.(*redis.SliceCmd).Val()
		if len(values) != 4 {
			return list, fmt.Errorf("%w: redis: asked what %s remembers, the server gave %d values, want 4", store.ErrUnavailable, s.parts[i].meta, len(values))
		}
		text := func(n int) string { t, _ := values[n].(string); return t }
		list[i] = meta{id: text(0), layout: text(1), complete: text(2)}
		if v := text(3); v != "" {
			if list[i].version, err = strconv.ParseUint(v, 10, 64); err != nil {
				return list, fmt.Errorf("%w: redis: %s has the version %q, want a number", ErrDamaged, s.parts[i].meta, v)
			}
		}
	}
	return list, nil
}

// mark sets what some shards remember, where it is not set yet.
func (s *Store) mark(ctx context.Context, where []int, name, value string) error {
	cmds := make([]redis.Cmder, len(where))
	for i, shard := range where {
		cmds[i] = redis.NewBoolCmd(ctx, "hsetnx", s.parts[shard].meta, name, value)
	}
	return s.ask(ctx, "making the store", where, cmds...)
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

package redis

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"idem/ledgerd/store"
)

// ready says why nothing can be done, if so.
func (s *Store) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("store/redis: %w", err)
	}
	select {
	case <-s.closing:
		return closed()
	default:
	}
	if err := s.lost.Load(); err != nil {
		return *err
	}
	if err := s.refusal.Load(); err != nil {
		return *err
	}
	return nil
}

// read asks several shards at once; cmds has a command for each. That there is nothing is no error here.
func (s *Store) read(ctx context.Context, doing string, from []int, cmds ...redis.Cmder) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	return s.ask(ctx, doing, from, cmds...)
}

// ask is read for whoever finds out whether the server is fit to be read.
func (s *Store) ask(ctx context.Context, doing string, from []int, cmds ...redis.Cmder) error {
	l, err := s.lane(ctx, from[0])
	if err != nil {
		return err
	}
	r := &request{kind: read, reads: make([]call, len(cmds))}
	r.left.Store(int32(len(cmds)))
	for i, cmd := range cmds {
		r.reads[i] = call{from[i], cmd, func(err error) {
			if errors.Is(err, redis.Nil) {
				err = nil
			}
			r.answer(outcome{err: wrapped(doing, err)})
		}}
	}
	_, err = do(ctx, l.reads, r)
	return err
}

// everywhere has the number of each shard.
var everywhere = func() (all []int) {
	for i := range shards {
		all = append(all, i)
	}
	return all
}()

// Load implements store.Store.
func (s *Store) Load(ctx context.Context, key string) (store.Record, error) {
	k, ok := pack(key)
	if !ok {
		if err := s.ready(ctx); err != nil {
			return store.Record{}, err
		}
		return store.Record{}, store.ErrNotFound
	}
	shard := k.shard()
	cmd := redis.NewStringCmd(ctx, "hget", s.parts[shard].records, string(k))
	if err := s.read(ctx, "reading a record", []int{shard}, cmd); err != nil {
		return store.Record{}, err
	}
	if cmd.Err() != nil {
		return store.Record{}, store.ErrNotFound
	}
	c, err := parseContent(cmd.Val())
	if err != nil {
		return store.Record{}, fmt.Errorf("%w: redis: the record of %s cannot be read: %w", store.ErrUnavailable, key, err)
	}
	if err := s.confirmed(ctx, shard, c.version); err != nil {
		return store.Record{}, err
	}
	s.clock.Raise(c.now) // whoever decides by this record does so no earlier than it was decided
	return store.Record{Key: key, Version: c.version, Data: c.data}, nil
}

// Result implements store.Store. An attempt does not say which record it belongs to, so every shard is asked, in one
// round trip.
func (s *Store) Result(ctx context.Context, attempt string) ([]byte, error) {
	cmds := make([]redis.Cmder, shards)
	for i := range cmds {
		cmds[i] = redis.NewStringCmd(ctx, "hget", s.parts[i].results, attempt)
	}
	if err := s.read(ctx, "reading a result", everywhere, cmds...); err != nil {
		return nil, err
	}
	for _, cmd := range cmds {
		if cmd.Err() == nil {
			return cmd.(*redis.StringCmd).Bytes()
		}
	}
	return nil, store.ErrNotFound
}

// Setting implements store.Store.
func (s *Store) Setting(ctx context.Context, name string) (string, error) {
	cmd := redis.NewStringCmd(ctx, "hget", s.settings, name)
	if err := s.read(ctx, "reading a setting", []int{0}, cmd); err != nil {
		return "", err
	}
	if cmd.Err() != nil {
		return "", store.ErrNotFound
	}
	return cmd.Val(), nil
}

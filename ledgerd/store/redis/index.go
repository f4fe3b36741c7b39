package redis

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"idem/ledgerd/store"
)

// owner is what an index says of an id: key, moment, version of the write that made it the key's.
type owner struct {
	key     packed
	at      time.Time
	version uint64
}

const ownerSize = packedSize + 8 + 8

func parseOwner(b string) (owner, bool) {
	if len(b) != ownerSize {
		return owner{}, false
	}
	return owner{packed(b[:packedSize]), moment(b[packedSize : packedSize+8]), binary.BigEndian.Uint64([]byte(b[packedSize+8:]))}, true
}

// Lookup implements store.Store. An id does not say which record it belongs to, so every shard is asked, in one round
// trip. Should two have it (the process that moved it died in between), the later write counts.
func (s *Store) Lookup(ctx context.Context, index store.Index, id string) (store.Entry, error) {
	found, err := s.owners(ctx, index, id)
	if err != nil {
		return store.Entry{}, err
	}
	var last owner
	for _, o := range found {
		if o.version > last.version {
			last = o
		}
	}
	if last.version == 0 {
		return store.Entry{}, store.ErrNotFound
	}
	return store.Entry{Index: index, ID: id, Key: last.key.unpack(), At: last.at}, nil
}

// owners gives who has an id, by shard.
func (s *Store) owners(ctx context.Context, index store.Index, id string) (map[int]owner, error) {
	cmds := make([]redis.Cmder, shards)
	for i := range cmds {
		n, ok := s.parts[i].named(index)
		if !ok {
			return nil, s.ready(ctx)
		}
		cmds[i] = redis.NewStringCmd(ctx, "hget", n.byID, id)
	}
	if err := s.read(ctx, "looking up an id", everywhere, cmds...); err != nil {
		return nil, err
	}
	found := map[int]owner{}
	for i, cmd := range cmds {
		if o, ok := parseOwner(cmd.(*redis.StringCmd).Val()); ok {
			found[i] = o
		}
	}
	return found, nil
}

// claim takes the ids of a write away from records of other shards. The indexes are hints, so a claim that fails harms
// nobody: the later write counts all the same when an id is looked up.
func (s *Store) claim(ctx context.Context, w *store.Write, shard int, version uint64) {
	for i := range w.Entries {
		e := &w.Entries[i]
		if e.Index == store.Due {
			continue
		}
		found, err := s.owners(ctx, e.Index, e.ID)
		if err != nil {
			return
		}
		for other := range found {
			if other == shard {
				continue
			}
			n, _ := s.parts[other].named(e.Index)
			cmd := redis.NewIntCmd(ctx, append(disownScript.start([]string{n.byTime, n.byID}, 2), int64(version), e.ID)...)
			if err := s.read(ctx, "moving an id", []int{other}, cmd); err != nil {
				return
			}
		}
	}
}

// Scan implements store.Store. Each shard gives its oldest entries, and the oldest of all are taken; a shard that had
// to stop short is asked for more where that could matter.
func (s *Store) Scan(ctx context.Context, index store.Index, until time.Time, after *store.Entry, limit int) ([]store.Entry, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	if limit <= 0 || s.parts[0].byTime(index) == "" {
		return nil, nil
	}
	from, to := "-", "+"
	if after != nil {
		key, ok := pack(after.Key)
		if !ok {
			return nil, fmt.Errorf("store/redis: scan of %s: after has the key %.80q, want 64 hex digits", index, after.Key)
		}
		from = "(" + order(after.At.UnixMicro()) + string(key) + after.ID
	}
	if us := until.UnixMicro(); us < math.MaxInt64 {
		to = "(" + order(us+1)
	}
	quota := min(limit, limit/shards*2+8)
	var list []string
	next := make([]string, shards) // where each shard is to be read from; empty: nothing is left there
	for i := range next {
		next[i] = from
	}
	for {
		short, err := s.more(ctx, index, next, to, quota, &list)
		if err != nil {
			return nil, err
		}
		// What is not after the last entry of any shard that stopped short is complete.
		slices.Sort(list)
		if n, _ := slices.BinarySearch(list, short); short == "" || n >= limit {
			break
		}
	}
	list = list[:min(limit, len(list))]
	entries := make([]store.Entry, len(list))
	for i, m := range list {
		e, err := parseMember(index, m)
		if err != nil {
			return nil, fmt.Errorf("%w: redis: %w", store.ErrUnavailable, err)
		}
		entries[i] = e
	}
	return entries, nil
}

// more reads on in each shard that has something left, and gives the first entry at which one stopped short (empty:
// none did).
func (s *Store) more(ctx context.Context, index store.Index, next []string, to string, quota int, list *[]string) (short string, err error) {
	var from []int
	var cmds []redis.Cmder
	for i := range next {
		if next[i] != "" {
			from = append(from, i)
			cmds = append(cmds, redis.NewStringSliceCmd(ctx, "zrangebylex", s.parts[i].byTime(index), next[i], to, "limit", 0, quota))
		}
	}
	if err := s.read(ctx, "scanning an index", from, cmds...); err != nil {
		return "", err
	}
	for n, i := range from {
		page := cmds[n].(*redis.StringSliceCmd).Val()
		*list = append(*list, page...)
		next[i] = ""
		if len(page) == quota {
			last := page[quota-1]
			next[i] = "(" + last
			if short == "" || last < short {
				short = last
			}
		}
	}
	return short, nil
}

// Newest implements store.Store. Records of different shards are ordered by the server's clock, those of one shard by
// the order of their creation.
func (s *Store) Newest(ctx context.Context, limit int) ([]store.Record, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	if limit <= 0 {
		return nil, nil
	}
	cmds := make([]redis.Cmder, shards)
	for i := range cmds {
		cmds[i] = redis.NewZSliceCmd(ctx, "zrange", s.parts[i].created, 0, limit-1, "rev", "withscores")
	}
	if err := s.read(ctx, "listing the newest records", everywhere, cmds...); err != nil {
		return nil, err
	}
	var found []redis.Z
	for _, cmd := range cmds {
		found = append(found, cmd.(*redis.ZSliceCmd).Val()...)
	}
	slices.SortStableFunc(found, func(a, b redis.Z) int { return cmp.Compare(b.Score, a.Score) })
	found = found[:min(limit, len(found))]
	if len(found) == 0 {
		return nil, nil
	}
	keys, from := make([]packed, len(found)), make([]int, len(found))
	reads := make([]redis.Cmder, len(found))
	for i, z := range found {
		name, _ := z.Member.(string)
		if len(name) != packedSize {
			return nil, fmt.Errorf("%w: redis: a record is listed under %d bytes, want %d", store.ErrUnavailable, len(name), packedSize)
		}
		keys[i] = packed(name)
		from[i] = keys[i].shard()
		reads[i] = redis.NewStringCmd(ctx, "hget", s.parts[from[i]].records, name)
	}
	if err := s.read(ctx, "reading the newest records", from, reads...); err != nil {
		return nil, err
	}
	list := make([]store.Record, 0, len(found))
	for i, cmd := range reads {
		if cmd.Err() != nil {
			continue // removed meanwhile
		}
		c, err := parseContent(cmd.(*redis.StringCmd).Val())
		if err != nil {
			return nil, fmt.Errorf("%w: redis: the record of %s cannot be read: %w", store.ErrUnavailable, keys[i].unpack(), err)
		}
		list = append(list, store.Record{Key: keys[i].unpack(), Version: c.version, Data: c.data})
	}
	return list, nil
}

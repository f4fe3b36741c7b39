package redis

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"idem/ledgerd/store"
)

// maxWrite bounds what one write may carry: the server takes no more than 512 MiB in one argument, and reads a request
// whole before it does anything else.
const maxWrite = 256 << 20

// Swap implements store.Store.
func (s *Store) Swap(ctx context.Context, w store.Write) (uint64, error) {
	key, size, err := checkWrite(&w)
	if err != nil {
		return 0, err
	}
	r := &request{kind: swap, swap: w, key: key, shard: key.shard(), size: size}
	r.left.Store(1)
	o, err := s.write(ctx, r)
	if err != nil {
		return 0, err
	}
	if o.fresh {
		s.claim(ctx, &w, key.shard(), o.version)
	}
	return o.version, nil
}

// checkWrite refuses what the layout has no room for, and gives the key and the bytes of a write.
func checkWrite(w *store.Write) (packed, int64, error) {
	size, err := w.CheckSize(maxWrite)
	if err != nil {
		return "", 0, err
	}
	key, ok := pack(w.Key)
	if !ok {
		return "", 0, fmt.Errorf("%w: key %.80q, want 64 hex digits in lower case", store.ErrInvalid, w.Key)
	}
	if len(w.Entries) > math.MaxUint16 {
		return "", 0, fmt.Errorf("%w: %s has %d entries, want at most %d", store.ErrInvalid, w.Key, len(w.Entries), math.MaxUint16)
	}
	for i := range w.Entries {
		if n := len(w.Entries[i].ID); n > math.MaxUint16 {
			return "", 0, fmt.Errorf("%w: entries[%d] of %s: the id has %d bytes, want at most %d", store.ErrInvalid, i, w.Key, n, math.MaxUint16)
		}
	}
	return key, size, nil
}

// SetSetting implements store.Store.
func (s *Store) SetSetting(ctx context.Context, name, value string) error {
	r := &request{kind: setSetting, setting: [2]string{name, value}, size: int64(len(name) + len(value))}
	r.left.Store(1)
	_, err := s.write(ctx, r)
	return err
}

// Reset implements store.Store. Shards are emptied one by one; each is emptied at once.
func (s *Store) Reset(ctx context.Context) error {
	r := &request{kind: reset}
	r.left.Store(shards)
	_, err := s.write(ctx, r)
	return err
}

// confirmed returns when a version of a shard that was read is as safe as one that was written.
func (s *Store) confirmed(ctx context.Context, shard int, version uint64) error {
	if !s.promise.dirty || version <= s.durable[shard].Load() {
		return nil
	}
	r := &request{kind: confirm, shard: shard, version: version}
	r.left.Store(1)
	_, err := s.write(ctx, r)
	return err
}

func (s *Store) write(ctx context.Context, r *request) (outcome, error) {
	if err := s.ready(ctx); err != nil {
		return outcome{}, err
	}
	l, err := s.lane(ctx, r.shard)
	if err != nil {
		return outcome{}, err
	}
	return do(ctx, l.writes, r)
}

// swaps is a call of the script swap: writes to one shard.
type swaps struct {
	store    *Store
	shard    int
	args     []any
	requests []*request
	reply    *redis.IntSliceCmd
}

// calls turns a group of requests into calls: one for each shard that is written to, and one for its removals.
func (s *Store) calls(group []*asked) []call {
	var list []call
	var changes, removals [shards]*swaps
	var confirms [shards][]*request
	for _, a := range group {
		r := a.Ask
		r.asked = a
		switch r.kind {
		case read:
			list = append(list, r.reads...)
		case swap:
			kind, script := &changes, &swapScript
			if r.swap.Data == nil {
				kind, script = &removals, &removeScript
			}
			b := kind[r.shard]
			if b == nil {
				keys := s.parts[r.shard].script
				b = &swaps{store: s, shard: r.shard, args: s.guarded(*script, r.shard, keys, 10*len(group)/4)}
				kind[r.shard] = b
			}
			b.add(r)
		case confirm:
			confirms[r.shard] = append(confirms[r.shard], r)
		case setSetting:
			args := append(s.guarded(setScript, 0, []string{s.parts[0].meta, s.settings}, 2), r.setting[0], r.setting[1])
			cmd := redis.NewIntCmd(context.Background(), args...)
			list = append(list, call{0, cmd, func(err error) { r.answer(outcome{err: wrapped("writing a setting", err)}) }})
		case reset:
			for i := range shards {
				cmd := redis.NewIntCmd(context.Background(), s.guarded(resetScript, i, s.parts[i].script, 0)...)
				list = append(list, call{i, cmd, func(err error) { r.answer(outcome{err: wrapped("emptying the store", err)}) }})
			}
		}
	}
	for i := range shards {
		for _, b := range []*swaps{changes[i], removals[i]} {
			if b != nil {
				b.reply = redis.NewIntSliceCmd(context.Background(), b.args...)
				list = append(list, call{i, b.reply, b.done})
			}
		}
		if len(confirms[i]) > 0 {
			list = append(list, s.confirmation(i, confirms[i]))
		}
	}
	return list
}

// neverWritten is the version that stands for a shard in which nothing was written yet.
const neverWritten = 1

// confirmation writes something that says nothing, so that the connection waits for all that the server wrote before.
func (s *Store) confirmation(shard int, requests []*request) call {
	meta := s.parts[shard].meta
	cmd := redis.NewIntCmd(context.Background(), append(s.guarded(setScript, shard, []string{meta, meta}, 1), "confirmed")...)
	return call{shard, cmd, func(err error) {
		for _, r := range requests {
			if err == nil && r.version > neverWritten {
				s.safe(shard, r.version)
			}
			r.answer(outcome{err: wrapped("confirming what was read", err)})
		}
	}}
}

// add appends a write's arguments, in the script's order.
func (b *swaps) add(r *request) {
	w := &r.swap
	b.requests = append(b.requests, r)
	expect, tail := "", []byte(nil)
	if w.Expect != 0 {
		expect = string(binary.BigEndian.AppendUint64(nil, w.Expect))
	}
	if w.Data != nil {
		tail = appendTail(make([]byte, 0, len(w.Data)+256), w)
	}
	b.args = append(b.args, string(r.key), expect, strconv.FormatInt(store.CeilMicro(w.Now), 10), tail)
	count := len(b.args)
	b.args = append(b.args, 0)
	n := 0
	for i := range w.Entries {
		if e := &w.Entries[i]; e.Index != store.Due {
			n++
			b.args = append(b.args, string(e.Index[:1]), order(e.At.UnixMicro()), e.ID)
		}
	}
	b.args[count] = n
	b.args = append(b.args, len(w.Drop))
	for _, attempt := range w.Drop {
		b.args = append(b.args, attempt)
	}
	b.args = append(b.args, len(w.Put))
	for i := range w.Put {
		data := w.Put[i].Data
		if data == nil {
			data = []byte{}
		}
		b.args = append(b.args, w.Put[i].Attempt, data)
	}
}

// done tells each write how it went.
func (b *swaps) done(err error) {
	s := b.store
	list := b.reply.Val()
	if err == nil && len(list) != 2*len(b.requests) {
		err = fmt.Errorf("the script gave %d numbers for %d writes", len(list), len(b.requests))
	}
	if err != nil {
		s.stats.failures.Add(1)
		err = wrapped("writing", err)
		for _, r := range b.requests {
			r.answer(outcome{err: err})
		}
		return
	}
	s.stats.groups.Add(1)
	newest, latest := uint64(0), time.Time{}
	for i, r := range b.requests {
		if version := list[2*i]; version >= 0 {
			newest = max(newest, uint64(version))
			if r.swap.Now.After(latest) {
				latest = r.swap.Now
			}
		}
	}
	s.safe(b.shard, newest)
	s.clock.Raise(latest)
	for i, r := range b.requests {
		version := list[2*i]
		if version < 0 {
			s.stats.conflicts.Add(1)
			r.answer(outcome{err: store.ErrConflict})
			continue
		}
		s.stats.writes.Add(1)
		s.watchers.Tell(r.swap.Key)
		s.herald.add(r.key, uint64(version))
		r.answer(outcome{version: uint64(version), fresh: list[2*i+1] == 1})
	}
}

// safe says that all versions of a shard up to one are as safe as is promised.
func (s *Store) safe(shard int, version uint64) {
	for {
		old := s.durable[shard].Load()
		if version <= old || s.durable[shard].CompareAndSwap(old, version) {
			return
		}
	}
}

// wrapped is unavailable for a call that may have gone well.
func wrapped(doing string, err error) error {
	if err == nil {
		return nil
	}
	return unavailable(doing, err)
}

package redis

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"idem/ledgerd/store"
)

// Open opens the store at a URL (see parse for its form). One that is not there it makes only with [Options.Migrate]. It
// refuses with ErrURL what is no store's, with ErrNone where there is no store, with ErrRights a user who may not do what
// is needed, with ErrUnsafe what would forget, with ErrDamaged a store of which a part is missing, with ErrForeign a
// newer ledgerd's.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	s, err := newStore(url, o)
	if err != nil {
		return nil, err
	}
	if err := s.open(ctx); err != nil {
		if s.topology != nil {
			s.lanes.close()
			err = errors.Join(err, s.topology.close())
		}
		return nil, err
	}
	return s, nil
}

// newStore gives a store that is not connected yet.
func newStore(url string, o Options) (*Store, error) {
	p, err := parse(url)
	if err != nil {
		return nil, err
	}
	s := &Store{options: o, place: p, closing: make(chan struct{}), parts: parts(p.prefix)}
	s.settings = strings.TrimSuffix(s.parts[0].meta, "meta") + "settings"
	s.lanes.all = map[string]*lane{}
	s.ear.open = make(chan struct{})
	read := o.Clock
	if read == nil {
		read = s.server.read
	}
	s.clock = store.NewClock(read, time.Time{})
	return s, nil
}

// examine finds out whether the servers are fit to keep the store on, and what can be promised there.
func (s *Store) examine(ctx context.Context) ([]facts, error) {
	logging.Disable() // what the client library would log is in the errors that the store gives
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	if err := s.checkRights(ctx); err != nil {
		return nil, err
	}
	servers, err := s.inspect(ctx)
	if err != nil {
		return nil, err
	}
	var wrong []error
	for _, f := range servers {
		wrong = append(wrong, f.judge(s.place), f.judgeFailover(s.place))
	}
	s.promise = promised(servers, s.place)
	return servers, errors.Join(wrong...)
}

func (s *Store) open(ctx context.Context) error {
	servers, err := s.examine(ctx)
	if err != nil {
		return err
	}
	if err := s.load(ctx); err != nil {
		return err
	}
	all, err := s.adopt(ctx)
	if err != nil {
		return err
	}
	for i, m := range all { // what the last process left may not be synced yet
		if err := s.confirmed(ctx, i, max(m.version, neverWritten)); err != nil {
			return err
		}
	}
	if err := s.look(ctx); err != nil {
		return err
	}
	s.start()
	level := slog.LevelInfo
	if s.place.acceptLoss {
		level = slog.LevelWarn
	}
	s.options.Log.Log(ctx, level, "store redis: "+s.promise.words, "server", servers[0].address, "masters", len(servers),
		"version", servers[0].product, "prefix", s.place.prefix, "id", s.id)
	for _, text := range s.promise.warnings(servers) {
		s.options.Log.Warn("store redis", "warning", text)
	}
	if s.made {
		s.options.Log.Warn("store redis: made a new, empty store: it knows of nothing that was executed before", "id", s.id)
	}
	return nil
}

// connect finds out whether the first address belongs to a cluster. Where it does not answer, others may.
func (s *Store) connect(ctx context.Context) error {
	first := *s.place
	first.db = 0 // every server has that one
	client := connectAlone(&first, &s.options)
	text, err := client.Info(ctx, "cluster").Result()
	_ = client.Close() // it has answered, or never will
	if redis.IsPermissionError(err) {
		return fmt.Errorf("%w: redis: %s: %w", ErrRights, first.addresses[0], err)
	}
	if err != nil && len(first.addresses) == 1 {
		return unavailable("connecting to "+first.addresses[0], err)
	}
	isCluster := err != nil || parseInfo(text)["cluster_enabled"] == "1"
	switch {
	case isCluster && s.place.db != 0:
		return fmt.Errorf("%w: %s is a cluster, where ledgerd uses database 0 only, not %d", ErrURL, first.addresses[0], s.place.db)
	case isCluster:
		s.topology = cluster{connectCluster(s.place, &s.options), &s.parts}
	case len(first.addresses) > 1:
		return fmt.Errorf("%w: addr is for a cluster, and %s is a single server", ErrURL, first.addresses[0])
	default:
		s.topology = alone{connectAlone(s.place, &s.options)}
	}
	return nil
}

// masters gives every master that has a shard.
func (s *Store) masters(ctx context.Context) (list []*redis.Client, err error) {
	for i := range shards {
		master, err := s.topology.master(ctx, i)
		if err != nil {
			return nil, unavailable("finding the master of a slot", err)
		}
		if !slices.Contains(list, master) {
			list = append(list, master)
		}
	}
	return list, nil
}

// inspect asks every master how it is set up.
func (s *Store) inspect(ctx context.Context) (servers []facts, err error) {
	masters, err := s.masters(ctx)
	if err != nil {
		return nil, err
	}
	for _, master := range masters {
		f, err := inspect(ctx, master)
		if err != nil {
			return nil, unavailable("asking "+master.Options().Addr+" how it is set up", err)
		}
		servers = append(servers, f)
	}
	return servers, nil
}

// load gives the scripts to every master. Who comes later, or forgets them, gets them when they are missed.
func (s *Store) load(ctx context.Context) error {
	masters, err := s.masters(ctx)
	if err != nil {
		return err
	}
	for _, master := range masters {
		if err := loadScripts(ctx, master); err != nil {
			return unavailable("giving "+master.Options().Addr+" the scripts", err)
		}
	}
	return nil
}

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

// micros reads Unix µs as a script writes them; the zero time where there is nothing.
func micros(v any) (time.Time, error) {
	text, _ := v.(string)
	if text == "" || text == "0" {
		return time.Time{}, nil
	}
	us, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("it is %q, want Unix microseconds", text)
	}
	return time.UnixMicro(us).UTC(), nil
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

package redis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"idem/ledgerd/store"
)

// Open opens the store at a URL (see parse for its form). One that is not there it makes only with [Options.Migrate].
// It refuses with ErrURL what is no store's, with ErrNone where there is no store, with ErrRights a user who may not do
// what is needed, with ErrUnsafe what would forget, with ErrDamaged a store of which a part is missing, with ErrForeign
// a newer ledgerd's.
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

package postgres

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/singleflight"

	"idem/ledgerd/store"
	"idem/ledgerd/store/group"
)

// Store is a store.Store in a schema of a PostgreSQL database.
type Store struct {
	options Options
	location
	promise  Promise
	pool     *pgxpool.Pool
	queue    *group.Queue[store.Write, outcome]
	records  *fetcher[store.Record]
	results  *fetcher[[]byte]
	others   chan struct{} // room for what is asked seldom
	watchers store.Watchers
	notifier *notifier
	listener listener

	id   string // a random name, given when the store was made
	made bool   // by this Open
	lost atomic.Pointer[error]

	clock    *store.Clock
	estimate estimate
	sampling singleflight.Group
	ceiling  atomic.Int64 // the ceiling in the database is at least that, Unix µs

	life    context.Context // ends with Close
	end     context.CancelFunc
	gate    sync.RWMutex // closed changes only while nobody starts something
	closed  bool
	calls   sync.WaitGroup // what is asked seldom and under way
	writers sync.WaitGroup
	behind  sync.WaitGroup // readers, clock, notifier, listener
	close   sync.Once

	commits, writes, conflicts, failures, retries atomic.Uint64 // see Stats
}

// Open opens the store that a URL names (see [parse]). For one that is not there, or has another version, see
// [Options.Migrate]. It gives ErrURL, ErrNone, ErrSchema, ErrPrivilege, ErrUnsafe or ErrServer, wrapped with what an
// operator needs to know.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	l, err := parse(url)
	if err != nil {
		return nil, err
	}
	s := &Store{options: o, location: l, queue: newQueue(o), others: make(chan struct{}, seldomAtOnce)}
	s.life, s.end = context.WithCancel(context.Background())
	if err := s.open(ctx); err != nil {
		s.end()
		return nil, fmt.Errorf("store/postgres: %w", err)
	}
	o.Log.Info("the store", "id", s.id, "promises", s.promise.String())
	if s.made {
		o.Log.Warn("made a new, empty store: it knows of nothing that was executed before", "id", s.id, "schema", s.schema)
	}
	for _, text := range s.promise.Warnings() {
		o.Log.Warn("the store", "warning", text)
	}
	s.records = newFetcher(s, "reading records", recordsSQL, scanRecord)
	s.results = newFetcher(s, "reading results", resultsSQL, scanResult)
	for range o.Readers {
		s.behind.Go(s.records.run)
	}
	s.behind.Go(s.results.run)
	for range o.Writers {
		s.writers.Go(s.runWriter)
	}
	s.notifier = newNotifier(s)
	s.behind.Go(s.notifier.run)
	if o.Clock == nil {
		s.behind.Go(s.keepTime)
	}
	return s, nil
}

// open looks at the server and the schema over one connection, and then makes the pool.
func (s *Store) open(ctx context.Context) error {
	s.config.MaxConns = s.options.connections()
	s.config.PingTimeout = s.options.Timeout / 4
	s.config.ConnConfig.OnNotice = noteWarning
	if !s.options.Migrate { // which takes as long as it takes
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 4*s.options.Timeout)
		defer cancel()
	}
	c, err := pgx.ConnectConfig(ctx, s.config.ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }() // it has done what it was for
	if s.promise, err = s.session(ctx, c); err != nil {
		return err
	}
	if err := s.migrate(ctx, c); err != nil {
		return err
	}
	var ceiling int64
	if err := c.QueryRow(ctx, "SELECT store, ceiling FROM clock").Scan(&s.id, &ceiling); err != nil {
		return fmt.Errorf("reading which store it is: %w", err)
	}
	s.ceiling.Store(ceiling)
	if err := s.ask(ctx, c); err != nil {
		return err
	}
	s.clock = s.newClock(ceiling)
	if now, _ := s.estimate.now(); s.options.Clock == nil && moment(ceiling).Sub(now) > ceilingAhead {
		s.options.Log.Warn("the server's clock is behind what was decided by; time stands still until it has caught up",
			"clock", now, "decided_by", moment(ceiling))
	}
	s.config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		if _, err := s.session(ctx, c); err != nil {
			return err
		}
		if err := s.checkVersion(ctx, c); err != nil {
			return err
		}
		return s.checkStore(ctx, c)
	}
	s.pool, err = pgxpool.NewWithConfig(ctx, s.config)
	return err
}

// ask asks the server for the time.
func (s *Store) ask(ctx context.Context, c *pgx.Conn) error {
	var us int64
	sent := time.Now()
	batch := s.behindGuard()
	batch.Queue(clockSQL).QueryRow(func(row pgx.Row) error { return row.Scan(&us) })
	if err := c.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	if back := s.estimate.hear(sent, time.Now(), us); back > 0 && s.clock != nil {
		s.options.Log.Warn("the server's clock was put back; time stands still until it has caught up", "by", back)
	}
	return nil
}

// Promise says what the server promises.
func (s *Store) Promise() Promise { return s.promise }

// Examine asks the server that a URL names what it promises, and looks whether this ledgerd can use the schema. It
// changes nothing.
func Examine(ctx context.Context, url string) (Promise, error) {
	l, err := parse(url)
	if err != nil {
		return Promise{}, err
	}
	s := &Store{options: Options{}.withDefaults(), location: l}
	c, err := pgx.ConnectConfig(ctx, l.config.ConnConfig)
	if err != nil {
		return Promise{}, fmt.Errorf("store/postgres: %w", err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }() // it has done what it was for
	if err := s.examine(ctx, c); err != nil {
		return s.promise, fmt.Errorf("store/postgres: %w", err)
	}
	return s.promise, nil
}

// Stats is how the writers are doing.
type Stats struct {
	Commits   uint64 // transactions committed
	Writes    uint64 // writes in them
	Conflicts uint64 // writes that found another version
	Failures  uint64 // transactions that failed
	Retries   uint64 // transactions that were tried again, because nothing of them was written
	Waiting   int    // writes in the queue now
}

// Stats gives the counts since the store was opened.
func (s *Store) Stats() Stats {
	return Stats{
		Commits: s.commits.Load(), Writes: s.writes.Load(), Conflicts: s.conflicts.Load(), Failures: s.failures.Load(),
		Retries: s.retries.Load(), Waiting: s.queue.State().Waiting,
	}
}

// ready says why nothing can be done, if so.
func (s *Store) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("store/postgres: %w", err)
	}
	s.gate.RLock()
	defer s.gate.RUnlock()
	if s.closed {
		return closed()
	}
	return s.gone()
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.close.Do(func() {
		s.queue.Close()
		s.writers.Wait() // what was accepted is finished, or has failed within Timeout
		s.gate.Lock()
		s.closed = true
		s.gate.Unlock()
		s.calls.Wait()
		s.records.close()
		s.results.close()
		s.notifier.close()
		s.end()
		s.behind.Wait()
		s.pool.Close()
	})
	return nil
}

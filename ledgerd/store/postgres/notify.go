package postgres

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	mostUntold = 10_000 // keys that wait to be told; further ones are missed
	payload    = 7_900  // bytes of one notification; PostgreSQL takes 8,000
)

// notifier tells other nodes which records this one wrote. It sends what has gathered since it last did, in a
// transaction of its own that is not flushed: a notification that is lost is a poll later.
type notifier struct {
	store *Store
	node  string // names this store, which tells its own watchers itself

	mu     sync.Mutex
	keys   []string
	known  map[string]bool // what is in keys
	closed bool
	wake   chan struct{} // has room for one
}

func newNotifier(s *Store) *notifier {
	return &notifier{store: s, node: rand.Text()[:16], known: map[string]bool{}, wake: make(chan struct{}, 1)}
}

// add says that a record was written.
func (n *notifier) add(key string) {
	n.mu.Lock()
	if !n.known[key] && len(n.keys) < mostUntold {
		n.known[key] = true
		n.keys = append(n.keys, key)
	}
	n.mu.Unlock()
	n.rouse()
}

func (n *notifier) rouse() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// close lets run end once what has gathered is sent.
func (n *notifier) close() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.rouse()
}

func (n *notifier) run() {
	for range n.wake {
		n.mu.Lock()
		keys, closed := n.keys, n.closed
		n.keys = nil
		clear(n.known)
		n.mu.Unlock()
		if len(keys) > 0 {
			if err := n.send(payloads(n.node, keys)); err != nil {
				n.store.options.Log.Debug("other nodes were not told of changes; they find them when they poll", "error", err)
			}
		}
		if closed {
			return
		}
	}
}

func (n *notifier) send(texts []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), n.store.options.Timeout)
	defer cancel()
	batch := &pgx.Batch{}
	batch.Queue("SELECT set_config('synchronous_commit', 'off', true)") // for this transaction
	batch.Queue("SELECT pg_notify($1, text) FROM unnest($2::text[]) AS text", n.store.channel(), texts)
	return n.store.with(ctx, func(c *pgx.Conn) error { return c.SendBatch(ctx, batch).Close() })
}

// channel is where the nodes of a schema tell each other; channels are a database's.
func (l *location) channel() string { return "ledgerd_" + l.schema }

// payloads packs keys into the texts of notifications: the node's name, a space, and in base64 each key's length and
// bytes.
func payloads(node string, keys []string) (texts []string) {
	room := base64.RawStdEncoding.DecodedLen(payload - len(node) - 1)
	var raw []byte
	flush := func() {
		if len(raw) > 0 {
			texts = append(texts, node+" "+base64.RawStdEncoding.EncodeToString(raw))
			raw = raw[:0]
		}
	}
	for _, key := range keys {
		packed := pack(key)
		one := append(binary.AppendUvarint(nil, uint64(len(packed))), packed...)
		if len(one) > room {
			continue // no intent has such a name: it is missed
		}
		if len(raw)+len(one) > room {
			flush()
		}
		raw = append(raw, one...)
	}
	flush()
	return texts
}

// keysIn is the inverse of payloads. What is not a notification of ledgerd's has no keys.
func keysIn(text string) (node string, keys []string) {
	node, packed, _ := strings.Cut(text, " ")
	raw, err := base64.RawStdEncoding.DecodeString(packed)
	if err != nil {
		return node, nil
	}
	for len(raw) > 0 {
		size, n := binary.Uvarint(raw)
		if n <= 0 || uint64(len(raw)-n) < size {
			return node, keys
		}
		if key, err := unpack(raw[n : n+int(size)]); err == nil {
			keys = append(keys, key)
		}
		raw = raw[n+int(size):]
	}
	return node, keys
}

// listener hears what other nodes wrote, over a connection of its own.
type listener struct {
	mu      sync.Mutex
	started bool
}

const (
	listenAgain  = 250 * time.Millisecond // how long after a failure the listener connects again
	listenSilent = 5 * time.Second        // how long nothing is heard before the listener asks whether it is still heard
)

// Watch implements store.Store.
func (s *Store) Watch(ctx context.Context, changed func(key string)) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	l := &s.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.started {
		bounded, cancel := context.WithTimeout(ctx, s.options.Timeout)
		defer cancel()
		conn, err := s.listen(bounded)
		if err != nil {
			return failed(ctx, "listening for changes", err)
		}
		l.started = true
		s.behind.Go(func() { s.hear(conn) })
	}
	s.watchers.Add(ctx, changed)
	return nil
}

// listen makes a connection that listens.
func (s *Store) listen(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, s.config.ConnConfig)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "LISTEN "+s.channel()); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
}

// hear tells the watchers what others write until the store closes. A connection that is lost is made again; what was
// written meanwhile is missed.
func (s *Store) hear(conn *pgx.Conn) {
	for s.life.Err() == nil {
		err := s.hearOver(conn)
		_ = conn.Close(context.Background()) // it has failed, or is no longer wanted
		if s.life.Err() != nil {
			return
		}
		s.options.Log.Warn("changes by other nodes are not told for the moment; they are found by polling", "error", err)
		again := time.NewTicker(listenAgain)
		for conn = nil; conn == nil && s.life.Err() == nil; {
			select {
			case <-again.C:
			case <-s.life.Done():
			}
			ctx, cancel := context.WithTimeout(s.life, s.options.Timeout)
			if conn, err = s.listen(ctx); err != nil {
				conn = nil
			}
			cancel()
		}
		again.Stop()
		if conn == nil {
			return
		}
		s.options.Log.Info("changes by other nodes are told again")
	}
	_ = conn.Close(context.Background()) // the store has closed
}

// hearOver tells what comes over one connection, until it fails.
func (s *Store) hearOver(conn *pgx.Conn) error {
	for {
		silence, cancel := context.WithTimeout(s.life, listenSilent)
		n, err := conn.WaitForNotification(silence)
		quiet := silence.Err() != nil && s.life.Err() == nil && !conn.IsClosed()
		cancel()
		switch {
		case err == nil:
			if node, keys := keysIn(n.Payload); node != s.notifier.node {
				for _, key := range keys {
					s.watchers.Tell(key)
				}
			}
		case quiet: // nothing was to be heard, or nobody is there any more
			ctx, cancel := context.WithTimeout(s.life, s.options.Timeout)
			err := conn.Ping(ctx)
			cancel()
			if err != nil {
				return err
			}
		default:
			return err
		}
	}
}

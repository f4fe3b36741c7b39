package redis

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"idem/ledgerd/store"
)

// A message on the store's channel: the sender (8 bytes), then for each record that was written its key (32) and its
// version (8; 0: it was removed). A message is sent once its writes are as safe as is promised, so a reader who heard
// of a version need not have it confirmed.
const (
	senderSize = 8
	newsSize   = packedSize + 8
	// newsKept bounds what waits to be told. What does not fit is not told: who waits also polls.
	newsKept = 4096
)

// herald tells other processes what this one wrote.
type herald struct {
	sender string

	mu     sync.Mutex
	filled chan struct{} // has room for one
	news   []byte
}

func newHerald(sender string) *herald {
	return &herald{sender: sender, filled: make(chan struct{}, 1), news: []byte(sender)}
}

func (h *herald) add(key packed, version uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.news) >= senderSize+newsKept*newsSize {
		return
	}
	h.news = append(h.news, key...)
	h.news = binary.BigEndian.AppendUint64(h.news, version)
	select {
	case h.filled <- struct{}{}:
	default:
	}
}

func (h *herald) take() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	news := h.news
	h.news = append(make([]byte, 0, len(news)), h.sender...)
	return news
}

// tell publishes what was written until the store closes. What came together goes as one message.
func (s *Store) tell() {
	for {
		select {
		case <-s.herald.filled:
		case <-s.closing:
			select {
			case <-s.herald.filled: // the last writes
				s.publish()
			default:
			}
			return
		}
		s.publish()
	}
}

func (s *Store) publish() {
	master, err := s.topology.master(context.Background(), 0)
	if err == nil {
		err = master.Publish(context.Background(), s.channel, s.herald.take()).Err()
	}
	if err != nil {
		s.stats.untold.Add(1)
	}
}

// Watch implements store.Store. What this process writes is told at once, what others write once it was published.
func (s *Store) Watch(ctx context.Context, changed func(key string)) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	patience := time.NewTimer(s.options.Timeout)
	defer patience.Stop()
	select {
	case <-s.ear.listening():
	case <-ctx.Done():
		return fmt.Errorf("store/redis: %w", ctx.Err())
	case <-s.closing:
		return closed()
	case <-patience.C:
		return fmt.Errorf("%w: redis: the store's channel could not be listened to within %v", store.ErrUnavailable, s.options.Timeout)
	}
	s.watchers.Add(ctx, changed)
	return nil
}

// ear is whether the store is listening now.
type ear struct {
	mu   sync.Mutex
	open chan struct{} // closed while it is listening
}

func (e *ear) listening() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open
}

// set says that it is listening, or no longer.
func (e *ear) set(listening bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case <-e.open:
		if !listening {
			e.open = make(chan struct{})
		}
	default:
		if listening {
			close(e.open)
		}
	}
}

// listen hears what others wrote until ctx ends. A connection that breaks is made anew; what was published meanwhile is
// not heard.
func (s *Store) listen(ctx context.Context) {
	const shortest, longest = 10 * time.Millisecond, 2 * time.Second
	pause := shortest
	for ctx.Err() == nil {
		sub, asked := s.topology.subscribe(ctx, s.channel), false
		stop := context.AfterFunc(ctx, func() { _ = sub.Close() }) // ends Receive, which heeds no context while it waits
		for {
			// A server that went away without a word is noticed by a question that gets no answer.
			message, err := sub.ReceiveTimeout(ctx, 2*s.options.Timeout)
			if isTimeout(err) && !asked && sub.Ping(ctx) == nil {
				asked = true
				continue
			}
			if err != nil {
				break
			}
			asked = false
			switch m := message.(type) {
			case *redis.Subscription:
				pause = shortest
				s.ear.set(m.Kind == "subscribe")
			case *redis.Message:
				s.heard(m.Payload)
			}
		}
		s.ear.set(false)
		stop()
		_ = sub.Close() // it is broken
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
			pause = min(2*pause, longest)
		case <-ctx.Done():
			wait.Stop()
		}
		if ctx.Err() == nil {
			s.topology.moved()
		}
	}
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// heard takes in a message.
func (s *Store) heard(m string) {
	if len(m) < senderSize || m[:senderSize] == s.herald.sender {
		return
	}
	for m = m[senderSize:]; len(m) >= newsSize; m = m[newsSize:] {
		key := packed(m[:packedSize])
		s.safe(key.shard(), binary.BigEndian.Uint64([]byte(m[packedSize:newsSize])))
		s.watchers.Tell(key.unpack())
	}
}

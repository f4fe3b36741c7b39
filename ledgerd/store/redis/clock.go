package redis

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"idem/ledgerd/store"
)

// serverClock reads the clock of the server that has the first shard without asking it each time: it adds to what the
// server said what this machine's monotonic clock has counted since.
//
// The server read its clock at some moment between question and answer. The clock here takes it that this was when the
// answer came, so it is never ahead of the server's, and behind by one round trip at most; of the last few answers it
// believes the one that came fastest.
type serverClock struct {
	mu      sync.Mutex
	samples []sample // the newest last
}

type sample struct {
	server time.Time // what the server said
	heard  time.Time // when its answer came, by this machine
}

const (
	// samplesKept bounds for how many looks a fast answer counts: so long may it take to notice that the server's clock
	// was put back.
	samplesKept = 8
	// sampleTerm is how long an answer counts at most. Within it no two machines' counting differs by a millisecond.
	sampleTerm = 10 * time.Second
)

// learn takes in an answer.
func (c *serverClock) learn(server, heard time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.samples) == samplesKept {
		c.samples = append(c.samples[:0], c.samples[1:]...)
	}
	c.samples = append(c.samples, sample{server, heard})
}

// read gives the server's time. It is what store.Clock reads.
func (c *serverClock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	var best time.Time
	for _, s := range c.samples {
		if t := s.server.Add(time.Since(s.heard)); t.After(best) {
			best = t
		}
	}
	return best
}

// fresh says whether the newest answer still counts.
func (c *serverClock) fresh() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.samples) > 0 && time.Since(c.samples[len(c.samples)-1].heard) < sampleTerm
}

// Now implements store.Store. It asks the server only where it has not heard from it for a while.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if err := s.ready(ctx); err != nil {
		return time.Time{}, err
	}
	if s.options.Clock == nil && !s.server.fresh() {
		if err := s.look(ctx); err != nil {
			return time.Time{}, err
		}
	}
	return s.clock.Now(), nil
}

// look asks the server for its time, and every shard for the greatest moment that anybody decided by there. It notices
// when the store's keys are gone.
func (s *Store) look(ctx context.Context) error {
	from, cmds := []int{0}, []redis.Cmder{redis.NewTimeCmd(ctx, "time")}
	for i := range shards {
		from = append(from, i)
		cmds = append(cmds, redis.NewStringCmd(ctx, "hget", s.parts[i].meta, "now"))
	}
	if err := s.ask(ctx, "reading the server's clock", from, cmds...); err != nil {
		return err
	}
	s.server.learn(cmds[0].(*redis.TimeCmd).Val(), time.Now())
	for _, cmd := range cmds[1:] {
		now, err := micros(cmd.(*redis.StringCmd).Val())
		if err != nil {
			return fmt.Errorf("%w: redis: the greatest moment of a shard: %w", store.ErrUnavailable, err)
		}
		s.clock.Raise(now)
	}
	return nil
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

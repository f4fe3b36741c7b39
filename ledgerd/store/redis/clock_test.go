package redis

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/redis/redistest"
)

func TestFastestAnswerSetsTheClock(t *testing.T) {
	var c serverClock
	begin := time.Now()
	server := func(since time.Duration) time.Time { return time.Unix(2_000_000_000, 0).Add(since) }
	// The server's clock is read at 1 s, and the answer arrives 300 ms later; then one that took 1 ms, then a slow one.
	c.learn(server(time.Second), begin.Add(1300*time.Millisecond))
	c.learn(server(2*time.Second), begin.Add(2001*time.Millisecond))
	c.learn(server(3*time.Second), begin.Add(3500*time.Millisecond))
	behind := server(time.Since(begin)).Sub(c.read())
	if behind < time.Millisecond-100*time.Microsecond || behind > time.Millisecond+100*time.Millisecond {
		t.Errorf("the clock is %v behind the server's, want 1ms: the error of the fastest answer", behind)
	}
	// A server whose clock was put back is believed once the old answers are forgotten.
	for range samplesKept {
		c.learn(server(-time.Hour), begin)
	}
	if got, want := c.read(), server(-30*time.Minute); got.After(want) {
		t.Errorf("got %v, although all that the server said of late is an hour earlier", got)
	}
}

func TestNowIsTheServersWithoutAskingIt(t *testing.T) {
	server := redistest.Start(t)
	s := mustOpen(t, server.URL(), Options{CheckEvery: time.Hour})
	defer s.Close()
	server.Do(t, "CONFIG", "RESETSTAT")
	before := time.Now() // the same machine, so the same clock
	for range 1000 {
		now, err := s.Now(t.Context())
		if err != nil || now.Before(before.Add(-time.Second)) || now.After(time.Now()) {
			t.Fatalf("got %v, %v, want no later than the server's clock and at most a round trip earlier than %v", now, err, before)
		}
		before = now
	}
	if stats := server.Do(t, "INFO", "commandstats"); strings.Contains(stats, "cmdstat_time:") {
		t.Errorf("it was asked each time:\n%s", stats)
	}
}

// What one process decided by, another knows once it has read the record: nobody decides about it any earlier.
func TestNowIsNotBeforeWhatTheReadRecordWasDecidedBy(t *testing.T) {
	url := redistest.Shared(t)
	ahead, behind := mustOpen(t, url, Options{}), mustOpen(t, url, Options{CheckEvery: time.Hour})
	defer ahead.Close()
	defer behind.Close()
	decided := time.Now().Add(time.Hour)
	_, err := ahead.Swap(t.Context(), store.Write{Key: hexKey("a"), Data: []byte("x"), Now: decided})
	must(t, err)
	_, err = behind.Load(t.Context(), hexKey("a"))
	must(t, err)
	if now, err := behind.Now(t.Context()); err != nil || now.Before(decided) {
		t.Errorf("got %v, %v, want no earlier than %v", now, err, decided)
	}
}

// Who reads no record hears of it within a second.
func TestNowHearsOfWhatOthersDecidedBy(t *testing.T) {
	url := redistest.Shared(t)
	ahead, behind := mustOpen(t, url, Options{}), mustOpen(t, url, Options{CheckEvery: time.Millisecond})
	defer ahead.Close()
	defer behind.Close()
	decided := time.Now().Add(time.Hour)
	_, err := ahead.Swap(t.Context(), store.Write{Key: hexKey("a"), Data: []byte("x"), Now: decided})
	must(t, err)
	eventually(t, func() error {
		now, err := behind.Now(t.Context())
		if err == nil && now.Before(decided) {
			err = fmt.Errorf("it is still %v", now)
		}
		return err
	})
}

func TestGreatestMomentOutlivesAnEarlierOneOfItsShard(t *testing.T) {
	url := redistest.Shared(t)
	s := mustOpen(t, url, Options{})
	decided := time.Now().Add(time.Hour)
	for i, now := range []time.Time{decided, time.Now(), {}} {
		_, err := s.Swap(t.Context(), store.Write{Key: inShard(4, fmt.Sprint(i)), Data: []byte("x"), Now: now})
		must(t, err)
	}
	must(t, s.Close())
	again := mustOpen(t, url, Options{})
	defer again.Close()
	if now, err := again.Now(t.Context()); err != nil || now.Before(decided) {
		t.Errorf("got %v, %v, want no earlier than %v", now, err, decided)
	}
}

func TestVersionsGoOnWhenTheServersClockWasPutBack(t *testing.T) {
	server := redistest.Start(t)
	s := mustOpen(t, server.URL(), Options{})
	defer s.Close()
	key := hexKey("a")
	k, _ := pack(key)
	server.Do(t, "HSET", s.parts[k.shard()].meta, "version", "8000000000000000") // given when its clock was far ahead
	last := uint64(8_000_000_000_000_000)
	for range 3 {
		v, err := s.Swap(t.Context(), store.Write{Key: key, Data: []byte("x")})
		must(t, err)
		if v != last+1 {
			t.Errorf("got version %d, want %d", v, last+1)
		}
		_, err = s.Swap(t.Context(), store.Write{Key: key, Expect: v})
		must(t, err)
		last = v + 1
	}
}

package postgres

import (
	"errors"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/postgres/pgtest"
)

// heard is a moment of the process's clock in these stories; the server's clock then stands at 1e12 µs.
var heard = time.Now()

// reckon gives what an estimate says so much later.
func reckon(e *estimate, later time.Duration) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return time.Duration(e.at(heard.Add(later))-1e12) * time.Microsecond
}

func TestEstimateIsNeverAheadOfTheServer(t *testing.T) {
	e := &estimate{}
	// The answer took 10 ms: the server's clock was read at some moment of them, at the latest at their end.
	e.hear(heard.Add(-10*time.Millisecond), heard, 1e12)
	for later, want := range map[time.Duration]time.Duration{0: 0, time.Second: 999 * time.Millisecond, time.Minute: 59940 * time.Millisecond} {
		if got := reckon(e, later); got != want {
			t.Errorf("%v later: got %v, want %v, a thousandth behind", later, got, want)
		}
	}
}

func TestEstimateKeepsTheBetterBound(t *testing.T) {
	e := &estimate{}
	e.hear(heard, heard, 1e12)
	// A second later the server is asked again, and its answer travels for 300 ms.
	at := heard.Add(1300 * time.Millisecond)
	if back := e.hear(heard.Add(time.Second), at, 1e12+1e6); back != 0 {
		t.Errorf("the clock was not put back, but: %v", back)
	}
	if got, want := reckon(e, 1300*time.Millisecond), 1300*time.Millisecond*999/1000; got != want {
		t.Errorf("got %v, want %v: the first sample still says more", got, want)
	}
	// A sample that says more counts at once.
	e.hear(heard.Add(2*time.Second), heard.Add(2*time.Second), 1e12+2e6)
	if got := reckon(e, 2*time.Second); got != 2*time.Second {
		t.Errorf("got %v, want 2s", got)
	}
}

func TestEstimateNoticesAClockThatIsPutBack(t *testing.T) {
	e := &estimate{}
	e.hear(heard, heard, 1e12)
	back := e.hear(heard.Add(time.Second), heard.Add(time.Second), 1e12-60e6)
	if back < 60*time.Second || back > 62*time.Second {
		t.Errorf("put back by %v, want about 61s", back)
	}
	if got := reckon(e, time.Second); got != -time.Minute {
		t.Errorf("got %v, want what the server says", got)
	}
}

func TestNowFollowsTheServerAndNeverStepsBack(t *testing.T) {
	s := mustOpen(t, pgtest.Shared(t).URL(pgtest.NewSchema()), Options{})
	defer s.Close()
	last := time.Time{}
	for range 200 {
		now, err := s.Now(t.Context())
		if err != nil || now.Before(last) {
			t.Fatalf("got %v, %v, after %v", now, err, last)
		}
		last = now
		var us int64
		if err := s.pool.QueryRow(t.Context(), clockSQL).Scan(&us); err != nil {
			t.Fatal(err)
		}
		if moment(us).Before(now) {
			t.Fatalf("the store says %v, the server afterwards %v", now, moment(us))
		}
	}
	// A clock that is put back, as another server's after a failover may be: time stands still.
	sent := time.Now()
	s.estimate.hear(sent, time.Now(), last.Add(-time.Hour).UnixMicro())
	if now, err := s.Now(t.Context()); err != nil || now.Before(last) || now.After(last.Add(time.Minute)) {
		t.Errorf("got %v, %v, want about %v", now, err, last)
	}
}

func TestNowNeedsAServerThatWasHeardOf(t *testing.T) {
	server := pgtest.Start(t)
	s := mustOpen(t, server.URL(pgtest.NewSchema()), Options{})
	defer s.Close()
	server.Stop(t)
	if _, err := s.Now(t.Context()); err != nil {
		t.Errorf("a moment after the server has gone: %v", err)
	}
	s.estimate.mu.Lock()
	s.estimate.heard = s.estimate.heard.Add(-2 * freshFor)
	s.estimate.mu.Unlock()
	if _, err := s.Now(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("long after that: got %v, want ErrUnavailable", err)
	}
	server.Restart(t)
	for {
		if _, err := s.Now(t.Context()); err == nil {
			break
		} else if !errors.Is(err, store.ErrUnavailable) {
			t.Fatal(err)
		}
	}
}

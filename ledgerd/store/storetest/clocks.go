package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"idem/ledgerd/store"
)

var clocks = map[string]func(*testing.T, *place){
	"NowFollowsTheClock": func(t *testing.T, p *place) {
		for _, s := range []int{0, 1, 60, 3600} {
			p.clock.Set(at(s))
			if now := p.now(); !now.Equal(at(s)) {
				t.Errorf("the clock stands at %v: got %v", at(s), now)
			}
		}
	},
	"NowIsNoFinerThanAMicrosecond": func(t *testing.T, p *place) {
		p.clock.Set(at(1).Add(1999 * time.Nanosecond))
		if now := p.now(); !now.Equal(at(1).Add(time.Microsecond)) {
			t.Errorf("got %v, want whole microseconds", now)
		}
	},
	"NowStandsStillWhileTheClockIsBack": func(t *testing.T, p *place) {
		p.clock.Set(at(100))
		p.now()
		p.clock.Set(at(50))
		if now := p.now(); !now.Equal(at(100)) {
			t.Errorf("the clock was put back: got %v, want %v", now, at(100))
		}
		p.clock.Set(at(101))
		if now := p.now(); !now.Equal(at(101)) {
			t.Errorf("the clock caught up: got %v, want %v", now, at(101))
		}
	},
	"NowIsNeverBeforeAMomentThatWasDecidedBy": func(t *testing.T, p *place) {
		decided := at(500).Add(time.Nanosecond) // finer than the store's grain: it must not come back as something earlier
		p.swap(store.Write{Key: Key("a"), Data: []byte("x"), Now: decided})
		if now := p.now(); now.Before(decided) {
			t.Errorf("got %v, which is before %v", now, decided)
		}
		p.swap(store.Write{Key: Key("b"), Data: []byte("x"), Now: at(3)})
		if now := p.now(); now.Before(decided) {
			t.Errorf("after an earlier write: got %v, which is before %v", now, decided)
		}
	},
	"AConflictMovesNoTime": func(t *testing.T, p *place) {
		p.create("a", "x")
		if _, err := p.Swap(context.Background(), store.Write{Key: Key("a"), Data: []byte("x"), Now: at(500)}); !errors.Is(err, store.ErrConflict) {
			t.Fatalf("got %v, want ErrConflict", err)
		}
		if now := p.now(); !now.Equal(at(0)) {
			t.Errorf("got %v, want %v", now, at(0))
		}
	},
	"NowNeverStepsBackForAnybody": func(t *testing.T, p *place) {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				last := time.Time{}
				for range 500 {
					now, err := p.Now(context.Background())
					if err != nil || now.Before(last) {
						t.Errorf("got %v, %v, after %v", now, err, last)
						return
					}
					last = now
				}
			})
		}
		for i := range 500 {
			p.clock.Set(at(i * 7919 % 503)) // up and down
		}
		all.Wait()
	},
}

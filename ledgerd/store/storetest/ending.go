package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"idem/ledgerd/store"
)

// everything is one call of each method that can fail.
func everything(ctx context.Context, s store.Store) map[string]error {
	errs := map[string]error{}
	_, errs["Load"] = s.Load(ctx, Key("a"))
	_, errs["Swap"] = s.Swap(ctx, store.Write{Key: Key("new"), Data: []byte("x")})
	_, errs["Result"] = s.Result(ctx, "att")
	_, errs["Lookup"] = s.Lookup(ctx, store.Holds, "h")
	_, errs["Scan"] = s.Scan(ctx, store.Due, at(1), nil, 1)
	_, errs["Newest"] = s.Newest(ctx, 1)
	_, errs["Now"] = s.Now(ctx)
	errs["Watch"] = s.Watch(ctx, func(string) {})
	_, errs["Setting"] = s.Setting(ctx, "x")
	errs["SetSetting"] = s.SetSetting(ctx, "x", "y")
	errs["Reset"] = s.Reset(ctx)
	return errs
}

var ending = map[string]func(*testing.T, *place){
	"AnEndedContextDoesNothing": func(t *testing.T, p *place) {
		p.create("a", "x")
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for method, err := range everything(ctx, p.Store) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: got %v, want context.Canceled", method, err)
			}
		}
		p.wantContent("a", "x")
		p.wantNewest(10, "a")
	},
	"AfterCloseNothingIsAvailable": func(t *testing.T, p *place) {
		p.create("a", "x")
		if err := p.Store.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
		for method, err := range everything(context.Background(), p.Store) {
			if !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%s: got %v, want ErrUnavailable", method, err)
			}
		}
		if err := p.Store.Close(); err != nil {
			t.Errorf("a second Close: %v", err)
		}
	},
	"CloseAnswersEverybody": func(t *testing.T, p *place) {
		p.closeUnderLoad()
	},
}

// closeUnderLoad closes the store while many write, and gives the names of the records whose creation was
// acknowledged. Nobody may be left without an answer.
func (p *place) closeUnderLoad() (acknowledged []string) {
	p.t.Helper()
	const writers = 50
	var mu sync.Mutex
	var started, all sync.WaitGroup
	started.Add(writers)
	s := p.Store
	for i := range writers {
		all.Go(func() {
			for n := 0; ; n++ {
				name := fmt.Sprint(i, "-", n)
				_, err := s.Swap(context.Background(), store.Write{Key: Key(name), Data: []byte(name)})
				if n == 0 {
					started.Done()
				}
				if err != nil {
					if !errors.Is(err, store.ErrUnavailable) {
						p.t.Errorf("a write that came too late: got %v, want ErrUnavailable", err)
					}
					return
				}
				mu.Lock()
				acknowledged = append(acknowledged, name)
				mu.Unlock()
			}
		})
	}
	started.Wait()
	if err := s.Close(); err != nil {
		p.t.Errorf("Close: %v", err)
	}
	all.Wait()
	return acknowledged
}

package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"idem/ledgerd/store"
)

// patience bounds how long the suite waits for what must come soon. It ends a failing test; it never paces one.
const patience = time.Minute

var notification = map[string]func(*testing.T, *place){
	"EveryKindOfChangeIsTold": func(t *testing.T, p *place) {
		told := p.watch(t.Context())
		v := p.create("a", "one")
		told.want(t, Key("a"))
		v = p.swap(store.Write{Key: Key("a"), Expect: v, Data: []byte("two")})
		told.want(t, Key("a"))
		p.swap(store.Write{Key: Key("a"), Expect: v})
		told.want(t, Key("a"))
	},
	"EverybodyIsTold": func(t *testing.T, p *place) {
		one, two := p.watch(t.Context()), p.watch(t.Context())
		p.create("a", "x")
		one.want(t, Key("a"))
		two.want(t, Key("a"))
	},
	"WhoIsToldFindsTheChange": func(t *testing.T, p *place) {
		found := make(chan error, 100)
		err := p.Watch(t.Context(), func(k string) {
			go func() {
				_, err := p.Load(context.Background(), k)
				found <- err
			}()
		})
		if err != nil {
			t.Fatalf("Watch: %v", err)
		}
		for i := range 20 {
			p.create(fmt.Sprint("r", i), "x")
		}
		for range 20 {
			select {
			case err := <-found:
				if err != nil {
					t.Errorf("Load of what was told: %v", err)
				}
			case <-time.After(patience):
				t.Fatal("not everything was told")
			}
		}
	},
	"AConflictIsNoChange": func(t *testing.T, p *place) {
		p.create("a", "x")
		told := p.watch(t.Context())
		if _, err := p.Swap(context.Background(), store.Write{Key: Key("a"), Data: []byte("y")}); !errors.Is(err, store.ErrConflict) {
			t.Fatalf("got %v, want ErrConflict", err)
		}
		p.create("b", "x")
		told.want(t, Key("b")) // the first that is told
	},
	"NobodyIsToldAfterTheEnd": func(t *testing.T, p *place) {
		ctx, cancel := context.WithCancel(t.Context())
		told := p.watch(ctx)
		p.create("a", "x")
		told.want(t, Key("a"))
		cancel()
		// The end takes a moment to arrive. From some write on, only the other watcher is told.
		other := p.watch(t.Context())
		for i := range 10_000 {
			name := fmt.Sprint("r", i)
			p.create(name, "x")
			other.want(t, Key(name))
			if len(told) == 0 {
				return
			}
			for len(told) > 0 {
				<-told
			}
		}
		t.Error("still told after 10,000 writes")
	},
	"AnEndedContextWatchesNothing": func(t *testing.T, p *place) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := p.Watch(ctx, func(string) {}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	},
}

// keys is what a watcher was told.
type keys chan string

func (p *place) watch(ctx context.Context) keys {
	p.t.Helper()
	told := make(keys, 10_000)
	if err := p.Watch(ctx, func(k string) { told <- k }); err != nil {
		p.t.Fatalf("Watch: %v", err)
	}
	return told
}

func (k keys) want(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-k:
		if got != want {
			t.Errorf("told of %.8s, want %.8s", got, want)
		}
	case <-time.After(patience):
		t.Fatalf("nobody was told of %.8s", want)
	}
}

package storetest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"idem/ledgerd/store"
)

// Requests are all that a store can be asked, for tests of what every one of them must refuse.
var Requests = map[string]func(ctx context.Context, s store.Store) error{
	"Load":   func(ctx context.Context, s store.Store) error { _, err := s.Load(ctx, Key("a")); return err },
	"Result": func(ctx context.Context, s store.Store) error { _, err := s.Result(ctx, "att"); return err },
	"Swap": func(ctx context.Context, s store.Store) error {
		_, err := s.Swap(ctx, store.Write{Key: Key("a"), Data: []byte("again")})
		return err
	},
	"Lookup": func(ctx context.Context, s store.Store) error { _, err := s.Lookup(ctx, store.Holds, "h"); return err },
	"Scan": func(ctx context.Context, s store.Store) error {
		_, err := s.Scan(ctx, store.Due, time.Now(), nil, 1)
		return err
	},
	"Newest":     func(ctx context.Context, s store.Store) error { _, err := s.Newest(ctx, 1); return err },
	"Setting":    func(ctx context.Context, s store.Store) error { _, err := s.Setting(ctx, "x"); return err },
	"SetSetting": func(ctx context.Context, s store.Store) error { return s.SetSetting(ctx, "x", "y") },
	"Reset":      func(ctx context.Context, s store.Store) error { return s.Reset(ctx) },
}

// WantUnfit wants a store to refuse all that it can be asked with store.ErrUnfit.
func WantUnfit(t *testing.T, s store.Store) {
	t.Helper()
	for name, ask := range Requests {
		if err := ask(t.Context(), s); !errors.Is(err, store.ErrUnfit) {
			t.Errorf("%s: got %v, want ErrUnfit", name, err)
		}
	}
	if _, err := s.Now(t.Context()); !errors.Is(err, store.ErrUnfit) {
		t.Errorf("Now: got %v, want ErrUnfit", err)
	}
}

// Log is a log that a test reads. The zero Log is ready.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Logger writes into the log.
func (l *Log) Logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// Write implements io.Writer.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// WantHas wants all of these words in the log.
func (l *Log) WantHas(t *testing.T, words ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range words {
		if !strings.Contains(l.text.String(), w) {
			t.Errorf("the log has no %q:\n%s", w, l.text.String())
		}
	}
}

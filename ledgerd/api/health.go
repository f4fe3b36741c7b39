package api

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// open adds the routes that need no token: they tell a load balancer whether to send anything here, and nothing else.
func (a *API) open(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		a.reply(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if a.draining.Load() {
			a.refuse(w, r, "ledger_unavailable", "ledgerd is shutting down")
			return
		}
		if err := a.ready.now(r.Context()); err != nil {
			a.log.Warn("not ready: the store does not answer", "error", err)
			a.refuse(w, r, "ledger_unavailable", "the store does not answer")
			return
		}
		a.reply(w, http.StatusOK, map[string]string{"status": "ready"})
	})
}

// readiness asks the store at most once a second, however many ask: the route is open to everyone, and the question
// costs a write.
type readiness struct {
	check func(context.Context) error

	mu    sync.Mutex
	asked time.Time
	err   error
}

const (
	readyFresh = time.Second
	readyTime  = 2 * time.Second
)

func (s *readiness) now(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.asked) < readyFresh {
		return s.err
	}
	// Not the request's context: its answer is for everyone who asks within the next second.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTime)
	defer cancel()
	s.err = s.check(ctx)
	s.asked = time.Now()
	return s.err
}

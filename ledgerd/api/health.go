package api

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"idem/ledgerd/store"
)

// open adds the routes that need no token: they tell a load balancer whether to send anything here, and nothing else.
func (a *API) open(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		a.reply(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if a.draining.Load() {
			a.notReady(w, r, "ledgerd is shutting down")
			return
		}
		if err := a.ready.now(r.Context()); err != nil {
			if missed, due := a.notWell.Due(time.Now()); due {
				a.log.Warn("not ready", "error", err, "more_since_last", missed)
			}
			a.notReady(w, r, storeTrouble(err))
			return
		}
		a.reply(w, http.StatusOK, map[string]string{"status": "ready"})
	})
}

// notReady is a refusal that may be over at the next look: whoever balances the load asks again.
func (a *API) notReady(w http.ResponseWriter, r *http.Request, why string) {
	a.fail(w, r, &refusal{code: "ledger_unavailable", detail: why, after: readyFresh})
}

// storeTrouble says of an error that wraps store.ErrUnavailable whether the store is away, or there and unfit. What it is
// stands in the log: whoever may ask need not be told where the ledger is kept.
func storeTrouble(err error) string {
	if errors.Is(err, store.ErrRefused) {
		return "the store refuses ledgerd's credentials; ledgerd's log says more"
	}
	if errors.Is(err, store.ErrUnfit) {
		return "the store answers, but cannot be used as it is; ledgerd's log says why"
	}
	return "the store does not answer"
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

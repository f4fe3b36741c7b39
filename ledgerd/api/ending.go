package api

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"idem/ledgerd/ledger"
)

// Once ledgerd stops, nobody who stalls may hold it up: a body that is not there soon is not read any further, and its
// request is refused, for nothing of it was done; a reader that takes nothing of its reply loses it, and asks again.
const (
	lastBody  = time.Second
	lastReply = 5 * time.Second
)

// ending sets these terms for the requests that are under way when their context ends because ledgerd stops.
func ending(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var mu sync.Mutex
		over := false // then w must not be touched
		stop := context.AfterFunc(r.Context(), func() {
			mu.Lock()
			defer mu.Unlock()
			if over || !errors.Is(context.Cause(r.Context()), ledger.ErrStopping) {
				return
			}
			flow, now := http.NewResponseController(w), time.Now()
			_ = flow.SetReadDeadline(now.Add(lastBody)) // a connection that has none ends with the server
			_ = flow.SetWriteDeadline(now.Add(lastReply))
		})
		defer func() {
			stop()
			mu.Lock()
			over = true
			mu.Unlock()
		}()
		next.ServeHTTP(w, r)
	})
}

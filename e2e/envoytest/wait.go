package envoytest

import (
	"context"
	"time"
)

// How long the package waits for something that should be there at once, on a machine that is busy with other things.
const patience = 30 * time.Second

// How long it waits for a program to be ready. Envoy compiles the module first, which takes seconds of two processors, and
// more than a minute where others want them too.
const startPatience = 3 * time.Minute

// Until waits for a condition, looking often, and fails the test where it has not come true within the limit (0: half
// a minute). What completes the sentence "waited … for".
func Until(t TB, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	if limit == 0 {
		limit = patience
	}
	if err := poll(t.Context(), limit, cond); err != nil {
		t.Fatalf("waited %v for %s: %v", limit, what, err)
	}
}

// poll looks every few milliseconds until cond is true, the limit is over or ctx ends.
func poll(ctx context.Context, limit time.Duration, cond func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if cond() {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

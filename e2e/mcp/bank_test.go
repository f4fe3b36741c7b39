package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"idem/e2e/envoytest"
)

// bank is where the servers' tools do their work: it counts what was done for each customer, and holds back what a test
// wants to look at meanwhile. Each execution gets a reference that no other has.
type bank struct {
	url string

	mu    sync.Mutex
	done  map[string]int           // by customer
	gates map[string]chan struct{} // by customer: open once closed
	given int
}

func openBank(t envoytest.TB) *bank {
	b := &bank{done: map[string]int{}, gates: map[string]chan struct{}{}}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	b.url = server.URL
	return b
}

// execute does a customer's work once. It is not stopped by a caller that leaves, but by one that says so.
func (b *bank) execute(ctx context.Context, customer string) (reference string, err error) {
	b.mu.Lock()
	b.done[customer]++
	b.given++
	reference = "rf-" + strconv.Itoa(b.given)
	gate := b.gates[customer]
	b.mu.Unlock()
	if gate == nil {
		return reference, nil
	}
	select {
	case <-gate:
		return reference, nil
	case <-ctx.Done():
		return "", errors.New("cancelled halfway")
	}
}

// ServeHTTP takes the executions of servers in other programs.
func (b *bank) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var args struct{ Customer string }
	if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	reference, err := b.execute(r.Context(), args.Customer)
	if err != nil {
		return
	}
	io.WriteString(w, reference)
}

// executions says how often a customer's work was begun.
func (b *bank) executions(customer string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.done[customer]
}

// holdBack keeps a customer's executions in the tool until release.
func (b *bank) holdBack(t *testing.T, customer string) (release func()) {
	gate := make(chan struct{})
	b.mu.Lock()
	b.gates[customer] = gate
	b.mu.Unlock()
	release = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	return release
}

// await waits until a customer's work has been begun n times.
func (b *bank) await(t *testing.T, customer string, n int) {
	t.Helper()
	envoytest.Until(t, 0, "the tool to be called", func() bool { return b.executions(customer) >= n })
}

// customer is the one whose work this test is about.
func customer(t *testing.T) string {
	return strings.ToLower(strings.NewReplacer("/", "-", " ", "-", ",", "").Replace(t.Name())) + "@example.com"
}

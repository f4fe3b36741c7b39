package soak

import (
	"context"
	"slices"
	"testing"
	"time"

	"idem/e2e/envoytest"
)

// stack is the product in front of the tool, with its callers and people.
type stack struct {
	tool     *tool
	book     *book
	load     *load
	people   *operator
	ledgerd  *envoytest.Ledgerd
	envoy    *envoytest.Envoy
	stopWork context.CancelFunc
}

const workers = 2

// start starts all of it. mode is that of the filter's rules.
func start(t *testing.T, seed uint64, mode string) *stack {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	s := &stack{ledgerd: envoytest.StartLedgerd(t, "")}
	var err error
	if s.tool, err = startTool(ctx, seed); err != nil {
		t.Fatal(err)
	}
	s.envoy = envoytest.Start(t, envoytest.Options{
		Concurrency: workers, Plugin: plugin(mode), Edit: forTheSoak,
		Tool: s.tool.address, Ledger: s.ledgerd.Address, LedgerAdmin: s.ledgerd.Admin,
	})
	s.book = newBook(s.tool)
	s.load = &load{seed: seed, run: seed & 0xffff, url: s.envoy.URL, book: s.book, clients: newClients()}
	s.people = newOperator(s.ledgerd.Admin, seed, s.book)
	var work context.Context
	work, s.stopWork = context.WithCancel(ctx)
	working := make(chan struct{})
	go func() { defer close(working); s.people.work(work) }()
	t.Cleanup(func() { s.stopWork(); <-working })
	return s
}

// forTheSoak gives both listeners one route, and lets idle connections to ledgerd go soon, so that those that stay show.
func forTheSoak(b envoytest.Bootstrap) {
	b.AllToTool()
	for _, options := range b.Cluster("ledgerd")["typed_extension_protocol_options"].(map[string]any) {
		options.(map[string]any)["common_http_protocol_options"] = map[string]any{"idle_timeout": "2s"}
	}
}

// underWay are Envoy's gauges of what is not finished: callers, parked or not, and executions.
var underWay = []string{
	"http.idem.downstream_rq_active", "http.idem_execute.downstream_rq_active", "cluster.idem-execute.upstream_rq_active",
	"cluster.tool.upstream_rq_active", "cluster.ledgerd.upstream_rq_active",
}

// connected are its gauges of connections that close when nobody uses them.
var connected = []string{"http.idem.downstream_cx_active", "cluster.tool.upstream_cx_active", "cluster.ledgerd.upstream_cx_active"}

// settle waits until nothing is under way and nobody has a connection.
func (s *stack) settle(t *testing.T) {
	t.Helper()
	s.load.rest()
	for _, gauge := range slices.Concat(underWay, connected) {
		envoytest.Until(t, time.Minute, gauge+" to be 0", func() bool { return s.envoy.Stat(t, gauge) == 0 })
	}
}

// measured is the whole product at rest.
type measured struct{ envoy, ledgerd usage }

// measure lets everything settle and reads what it takes.
func (s *stack) measure(t *testing.T) (m measured) {
	t.Helper()
	s.settle(t)
	var err error
	if m.envoy, err = used(s.envoy.PID()); err != nil {
		t.Fatal(err)
	}
	if m.ledgerd, err = used(s.ledgerd.PID()); err != nil {
		t.Fatal(err)
	}
	return m
}

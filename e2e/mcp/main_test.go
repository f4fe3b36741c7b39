package mcp_test

import (
	"os"
	"sync"
	"testing"

	"idem/e2e/envoytest"
)

// all starts and ends the programs that all tests share.
var all = envoytest.NewProgram("mcp", "")

func TestMain(m *testing.M) { os.Exit(all.Tests(m)) }

// rules are the ways in which the front is guarded, by the path's second part. A run is told only where there is
// something to hold, and there nothing is taken for a retry by its moment.
const rules = `{
	"ledger": {"cluster": "ledgerd"}, "execute": {"cluster": "idem-execute"},
	"calls": [
		{"name": "inline", "match": {"path_prefix": "/mcp/inline/", "tools": ["*"]}, "protocol": "mcp", "execution": "inline"},
		{"name": "talks back", "match": {"path_prefix": "/mcp/mixed/",
			"tools": ["test_sampling", "test_elicitation*", "test_reconnection", "test_tool_with_*"]}, "protocol": "mcp", "execution": "inline"},
		{"name": "mixed", "match": {"path_prefix": "/mcp/mixed/", "tools": ["*"]}, "protocol": "mcp"},
		{"name": "runs", "match": {"path_prefix": "/mcp/runs/", "tools": ["*"]}, "protocol": "mcp",
			"run": [{"header": "mcp-session-id"}], "near_duplicates": {"window": "0s"}},
		{"name": "once", "match": {"path_prefix": "/mcp/once/", "tools": ["*"]}, "protocol": "mcp"}
	]}`

// stage is everything between the clients and the bank.
type stage struct {
	*envoytest.Envoy
	ledgerd *envoytest.Ledgerd
	front   *front
	bank    *bank
}

// set gives the stage, which the first test that asks builds.
var set = sync.OnceValue(func() *stage {
	s := &stage{bank: openBank(all)}
	s.front = startFront(all, startServers(all, s.bank))
	s.ledgerd = envoytest.StartLedgerd(all, "")
	s.Envoy = envoytest.Start(all, envoytest.Options{
		Plugin: rules, Tool: s.front.address, Ledger: s.ledgerd.Address, LedgerAdmin: s.ledgerd.Admin,
	})
	return s
})

// through is the URL of a server behind a rule.
func (s *stage) through(rule, server string) string { return s.URL + "/mcp/" + rule + "/" + server }

// afterArrivals gives a function that waits until n more calls have been decided by the ledger.
func (s *stage) afterArrivals(t *testing.T, n int64) func() {
	before := s.ledgerd.Counter(t, "arrivals")
	return func() {
		t.Helper()
		envoytest.Until(t, 0, "the calls to reach the ledger", func() bool {
			return s.ledgerd.Counter(t, "arrivals")-before >= n
		})
	}
}

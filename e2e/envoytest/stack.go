package envoytest

import "net/http"

// Stack is the whole product in front of a tool: Envoy with the filter, ledgerd, the tool.
type Stack struct {
	*Envoy
	Ledgerd *Ledgerd
	Tool    *Tool

	arrivals int64 // before the last Fresh
}

// StartStack starts a tool, a ledgerd on a new data directory and an Envoy between them. Addresses in the options are
// filled in. An Envoy takes seconds to compile the module: tests that want the same configuration share a stack, one
// after the other, each beginning with Fresh.
func StartStack(t TB, o Options, ledgerdArgs ...string) *Stack {
	t.Helper()
	return StartStackBefore(t, StartTool(t), o, ledgerdArgs...)
}

// StartStackBefore is StartStack in front of a tool that runs.
func StartStackBefore(t TB, tool *Tool, o Options, ledgerdArgs ...string) *Stack {
	t.Helper()
	s := &Stack{Tool: tool, Ledgerd: StartLedgerd(t, "", append([]string{"--allow-reset"}, ledgerdArgs...)...)}
	o.Tool, o.Ledger, o.LedgerAdmin = s.Tool.Address, s.Ledgerd.Address, s.Ledgerd.Admin
	s.Envoy = Start(t, o)
	return s
}

// Fresh makes ledger and tool forget everything. Nothing may be under way.
func (s *Stack) Fresh(t TB) {
	t.Helper()
	if status, reply := s.Ledgerd.Post(t, "/api/reset", struct{}{}); status != http.StatusOK {
		t.Fatalf("resetting the ledger gave %d: %s", status, reply)
	}
	s.Tool.Forget()
	s.arrivals = s.Ledgerd.Counter(t, "arrivals")
}

// AwaitArrivals waits until that many calls have been decided by the ledger since the last Fresh.
func (s *Stack) AwaitArrivals(t TB, n int) {
	t.Helper()
	Until(t, 0, "the calls to reach the ledger", func() bool {
		return s.Ledgerd.Counter(t, "arrivals")-s.arrivals >= int64(n)
	})
}

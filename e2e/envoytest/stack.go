package envoytest

// Stack is the whole product in front of a tool: Envoy with the filter, ledgerd, the tool.
type Stack struct {
	*Envoy
	Ledgerd *Ledgerd
	Tool    *Tool
}

// StartStack starts a tool, a ledgerd on a new data directory and an Envoy between them. Addresses in the options are
// filled in.
func StartStack(t TB, o Options, ledgerdArgs ...string) *Stack {
	t.Helper()
	s := &Stack{Tool: StartTool(t), Ledgerd: StartLedgerd(t, "", ledgerdArgs...)}
	o.Tool, o.Ledger, o.LedgerAdmin = s.Tool.Address, s.Ledgerd.Address, s.Ledgerd.Admin
	s.Envoy = Start(t, o)
	return s
}

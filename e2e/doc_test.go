// Package e2e_test holds what the product promises, seen from where its users stand: requests enter Envoy with the
// compiled filter, a real ledgerd decides, a tool counts. One file is one promise.
//
// It is tested twice. Most files start a real Envoy, a real ledgerd and a tool; how is in envoytest. The files wasm_…
// run the same module on the host of package wasmhost, in front of a real ledger, all on one virtual clock: what needs
// its very moment (a reply that is lost on its way, a grant that comes late, a caller that leaves just then) is shown
// there, and minutes cost nothing. What only Envoy has, routes, connections, response flags, processes that are killed,
// is shown on Envoy alone. Everything pure is tested beside its code.
package e2e_test

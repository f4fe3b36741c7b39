// Package wasmhost runs a compiled proxy-wasm filter without Envoy, so that a test can say what happens and when.
//
// It promises that a filter sees what Envoy 1.40 would show it, for one HTTP filter per chain under the proxy-wasm ABI
// 0.2.1: a canary VM at the start and one on the main thread; context ids that are the same in every VM; callbacks of a request and a response
// with pauses, buffering and its limit; HTTP calls that all belong to the root context, that may fail at once without a
// callback, come back without headers, time out with Envoy's own 504 or be cancelled; local replies that wait for the
// callback to return and then run the stream's own response callbacks; set_effective_context; shared queues and shared
// data by VM id; ticks; metrics of the whole process; properties and filter state; a stream that ends while it is
// parked; a trap, which fails the stream that it happened to, leaves the VM's parked streams without an answer for as long
// as their callers wait, and is followed by the load of a new VM with the next stream. The rules come from the ABI's specification, from the C++ host and from
// Envoy's filter manager; where a rule surprises, a comment beside it says what Envoy does.
//
// What a test gets in return for real Envoy: the clock stands still unless [Host.Advance] moves it, nothing happens
// behind its back ([Options].Manual), every call waits for the test's answer, and a run takes milliseconds.
//
//	h, err := module.Start(ctx, wasmhost.Options{Config: config, Clusters: []string{"ledgerd"}, VMs: 2})
//	s := h.VM(0).Request(wasmhost.Request{Path: "/api/invoke", Body: body})
//	h.CallsTo("ledgerd")[0].Respond(200, nil, answer)
//	reply := s.LocalReply()
//
// It leaves to real Envoy what is no part of the ABI: routes, retries, response flags, connections, protocols, other
// filters, and flow control (a paused stream's caller may send as much as it likes, up to the buffer's limit). Foreign
// functions are not found, gRPC calls and TCP filters are not offered.
package wasmhost

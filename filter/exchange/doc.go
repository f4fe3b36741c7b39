// Package exchange is the life of a guarded call inside one Envoy worker: from the canonical action to the reply that
// the caller gets. It knows no ABI: everything outside (HTTP calls, time, random ids, the parked caller) comes in
// through [Host] and [Caller], so the same code runs natively in tests and in the compiled module.
//
//	Arrive ─► reserve ─► execute ──► execution ─► commit | fail ─► reply to the executor and to who waited here
//	             │ in_flight ─► watch (one await per attempt, however many callers) ─► reply
//	             │ held ──────► problem, or watch of the hold as long as the rule's hold_wait
//	             │ replay ────► reply
//	             └ nothing ───► ledger_unavailable, and "fail not_sent" until the ledger has heard it
//
// What it promises:
//
//   - One attempt is executed at most once, and only while less than half its lease has passed since its reserve was
//     first sent, and never after a fail of it was sent (package intent says what the ledger counts on).
//   - Every caller is answered within its bound: the rule's wait, or, for the one that executes, the execution timeout
//     and the commit timeout.
//   - What is certain is told as certain, what is not as in_doubt: see classify.go for the table.
//   - Nothing here is dropped when a caller goes away: executions and their commits belong to the worker.
//   - The call is sent to the tool once per attempt. What may be asked for again is the rest of an MCP server's event
//     stream, which executes nothing (resume.go).
//
// Only the root context may make HTTP calls. A stream's callbacks therefore call just [Worker.Arrive] and
// [Call.Leave], which queue; [Worker.Flush], [Worker.Tick] and the callbacks of HTTP calls run in the root context.
package exchange

// Package ledger is the service around the state machine: it loads a record, lets package intent decide, writes the
// record by compare-and-swap, and only then gives the verdict.
//
// # What it promises
//
//   - Every verdict that changed a record is durable before it is given. A verdict that changed nothing is true of what
//     the store has. The one exception is a committed row's replay to a run that is among the row's runs, which may be
//     given from memory, for committed rows never change; and not even that outlives a reset.
//   - Time is the store's. It never steps back.
//   - Where it is not known whether a write took effect, nothing is guessed: the record is read again, and either what
//     it says decides or the answer is that the ledger is unavailable.
//   - Every limit has a refusal that says so, and nothing grows with the number of calls but the store.
//   - A stored result is given only where its bytes are those that the record names, in the intent that it was made in.
//
// # The life of an operation
//
//	Do ─► submit ─► queue of its record ─► decide ─► account ─► answer
//	                     │ (what waits is      │ load (memory or store)
//	                     │  decided together)  │ intent.Step for each
//	                     │                     │ store.Swap, once for all
//	                     │                     └ conflict, unknown effect: again
//	                     └ one runner a record, while something waits
//
// All that concerns one record passes through its queue (queue.go), so a process never conflicts with itself; other
// processes' writes are found by the compare-and-swap (decide.go). An await is no command: it registers with the
// waiters (waiters.go), which are told of every record that was read or written, by other nodes' writes through
// store.Watch too, and once a second in any case.
//
// A ledger that is the only one over its store (Options.SoleOwner) trusts what it remembers; one of several uses what
// it remembers only where the compare-and-swap would find it stale.
//
// # What it leaves to others
//
// What a command does to a record is decided in package intent and nowhere here. How bytes are kept is the drivers'
// matter (package store), how operations look is package wire's, and who may ask for them is package api's.
package ledger

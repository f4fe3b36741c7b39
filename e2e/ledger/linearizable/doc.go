// Package linearizable makes histories of clients that call several ledgers over one store while the store fails, and
// checks that each history is linearizable: that there is one order of all operations, which keeps the order of those
// that did not overlap, in which the state machine alone would have given exactly these answers.
//
// # The model
//
// The sequential specification is [intent.Step] itself, applied to one record in memory; the search for the order is
// porcupine's. So what is proved is the whole service around the machine, to the last member of an answer: loading,
// deciding several operations with one write, compare-and-swap, retries, what is answered from memory, waiting, and the
// driver below. A model that is smaller than the machine could only prove less of that. What it cannot prove is that the
// machine is right; a fault of Step would be a fault of the model too. Two things see to that: package intent compares
// Step with a model that was written apart from it, and the witness here (witness.go) looks at every
// history once more without knowing the machine: no call was executed twice without a leave that somebody gave, and
// every result that anybody was told is the one that its attempt brought.
//
// # Time
//
// Decisions depend on the moment, so the store reads a clock that only the test moves, in whole milliseconds. An answer
// says the moment that it was decided by. Where an answer does not say it, or there is none, the operation may have been
// decided at any moment that the clock showed while it was under way: the model forks.
//
// # Unknown outcomes
//
// An operation that was answered `ledger_unavailable` may have happened, may happen still, or not: it may take its place
// anywhere after its call, at the end of the history too, where nobody sees it. One in whose time no write was sent at
// all did not happen.
//
// A ledger decides anew where it does not know whether a write took effect, so an operation may take effect and be
// answered by a second decision, between which others have acted: a reserve opens a hold, a human releases it, and the
// reserve, decided again, executes. Each write of unknown effect in an operation's time therefore lets it take effect once
// more within its time, at the moment that the write was decided by.
//
// One answer may be older than the rest by design: the replay of a committed row to a run that is among its runs comes
// from a node's memory, although the record may have a newer row of the same fingerprint by now.
//
// # Processes
//
// The same histories are made of ledgerd processes over one server, asked over HTTP and killed meanwhile ([Process]), with
// rules whose terms do not end.
//
// # What it leaves to others
//
// Moved fingerprints (`also`) concern several records at once; ledgerd/ledger tests them. What a crash
// leaves is the matter of e2e/ledger/ordeal.
package linearizable

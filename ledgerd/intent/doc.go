// Package intent is the ledger's judgement: what happens to the executions of one intent when a call arrives, an
// attempt reports, a human answers or time passes. This comment is the specification, and the code beside it keeps the
// specification's order.
//
// It promises one function, [Step]: from a record, a command and a moment to the next record and a verdict. Step is
// pure: no I/O, no clock, no randomness, no goroutines; equal arguments give equal results; a record is a value that is
// never written to. It leaves to the ledger around it to load and store records, to store the bytes that they name, to
// choose ids, to wake those who wait, and to look at a record again when it is [Record.Due].
//
// # Words
//
// A record holds the rows of one intent. A row is one fingerprint's execution and the runs that belong to it. An
// attempt is one grant to execute, named by an id that is compared for equality. A hold is a row that asks a human. All
// calls without a run are one run, the empty string.
//
// # States of a row
//
//	(none) ── arrive ──► reserved ── first extend ──► in_flight
//	                        │                             │
//	                        ├── success ──────────────────┴──► committed   its result replays until retention ends
//	                        ├── definite failure, never sent ► released    as if not there; kept for those who wait
//	                        └── unknown, lease expired ──────► in_doubt    not executed again by itself
//
//	(none) ── near-duplicate ──► held ── release ───► approved ── arrive ──► reserved   once, by any run
//	                              ├───── duplicate ─► alias of a committed row (replays it)
//	                              └───── deny, expiry► denied                until retention ends
//
//	in_doubt ── extend or late commit of its attempt ──► in_flight, committed
//	         ├─ late failure of its attempt ───────────► released (or approved again)
//	         ├─ retry under the same provider key ─────► stays; released once the retry is committed
//	         └─ resolved by a human ───────────────────► committed | released
//
//	released ── late commit of its attempt ────────────► committed
//
// # What an arrival gets: fingerprint f, run r
//
// The first line that fits decides: Record.line finds it, step.decide does what it says, and every line has its scripts
// in testdata (cases_test.go). Released rows count as not there.
//
//	 1  a row of f with r among its runs (of several:     by its state: reserved, in_flight: wait; committed, alias:
//	    the live one, then in_doubt, then committed or    replay; in_doubt, held, denied: the same; approved: execute.
//	    alias, then the newest)                           One in doubt beside a retry that is live: line 2
//	 2  a row of f reserved or in_flight                  r joins: wait
//	 3  a row of f in_doubt                               in_doubt
//	 4  r absent, a committed row or alias of f           replay (the newest)
//	 5  an open hold of f                                 r joins it: held
//	 6  an approved row of f                              r consumes it: execute
//	 7  a denied row of f                                 denied
//	 8  a committed row or alias of f, now ≤ its first    r joins: replay. The window never slides. First arrival: of
//	    arrival + window                                  the reserve that was executed; of an alias, the arrival held
//	 9  a committed row or alias of f                     a new held row, reason new_run
//	10  another fingerprint in_doubt                      a new held row, reason in_doubt, whatever the run
//	11  another fingerprint reserved, in_flight,          a new held row, reason same_intent
//	    committed or approved, within the horizon; r
//	    present and among the runs of no row that is
//	    reserved, in_flight or committed
//	12  otherwise                                         reserved: execute
//
// The arrival's rule may say otherwise: on_new_run join (line 8 without a window) or execute (no line 9), on_same_intent
// execute (no line 11), on_absent_run hold (line 11 without a run, reason absent_run), retry in doubt (lines 1 and 3,
// once the execution's time is over). The horizon is at most the retention.
//
// Before the table: an arrival past its NotAfter is late; the attempt of a live row gets its grant again; an attempt
// that has ended, or may be one that has, gets nothing. Between lines 9 and 10: a fingerprint that has moved is decided
// elsewhere (moved.go).
//
// # Attempts
//
// An attempt is ended by its commit, its failure of any class, or a human's resolve. An ended attempt is never granted
// again and extends nothing. A failure or a commit that arrives before its reserve leaves a tombstone: that is an ended
// attempt too.
//
// A reserve says until when it may be decided (NotAfter); later it is late, whatever it asks for. So once a row is gone
// its attempt need be known only until then, and a tombstone for as long as a reserve can be under way (tombstoneTerm).
// A body that fails again and again fills no record: a fingerprint keeps the rows of its newest failures (MaxFailed), a
// record the names of so many ended attempts (MaxEnded), and for those before them one moment: a reserve whose NotAfter
// is before Past may be that of an ended attempt and is told that it has ended, which costs whoever it is a second
// reserve and nothing else. Refused is only what would leave an attempt of unknown NotAfter where there are MaxUnbound
// of those: a further tombstone, and a reserve without NotAfter.
//
//	command    live          in_doubt                   committed                 released               not known
//	extend     ok            ok, unless it has ended    fenced                    fenced                 fenced
//	commit     committed     committed (1)              ok if it brought the      committed (1)          fenced, and
//	                                                    stored result, else                              tombstone
//	                                                    fenced
//	fail:
//	not_sent   released      released                   fenced                    ok if it failed, else  tombstone
//	definite   released      released                   fenced                    fenced                 tombstone
//	unknown    in_doubt      in_doubt                   fenced                                           tombstone
//
// (1) unless a newer attempt of the fingerprint is live, in doubt or committed: then it is fenced. A fenced commit is
// evidence of a second execution: it is kept and counted. So is a commit onto a row that a human resolved as committed,
// and one of an attempt that is not known, though nothing says there that something happened twice.
//
// # Failures
//
// The filter classes what happened; here a class means:
//
//	success    a commit      committed
//	definite   the tool's own failure: released; kept with the row, so that everyone who waited gets it
//	not_sent   it surely did not reach the tool: released
//	unknown    it may have happened: in_doubt
//	silence    the lease expires: in_doubt, and the attempt may still be heard of
//
// # Holds
//
// One open hold per fingerprint; later runs join it. Its version grows when the row that it may repeat changes, and when
// it is answered. A hold that is no longer open or has another version is not answered; duplicate goes only onto a
// committed row. An approval lasts the approval term and is consumed once, by any run that has no row of its own; an
// execution that surely had no effect gives it back while the term lasts, and a late commit of that execution uses it up
// after all. A hold without an answer is denied after the hold term. A hold on an alias refers to the alias's committed
// row.
//
// # In doubt
//
// A row in doubt stays until its attempt is heard of or a human resolves it; as released not before execution timeout
// and half the lease have passed since the grant, because until then the attempt may execute.
//
// Where calls carry a provider key, an arrival may execute again while the doubt remains. The retry is a row of its own.
// Its failure says nothing about the first attempt, whose doubt then decides again; its success ends both, as they are
// one effect under one key.
//
// # Time
//
// Every command first lets time pass: see [Step] and [Moment]. Expiry takes effect at the moment that the lease, term or
// retention ended, however late it is noticed.
//
//	reserved, in_flight   the lease after the last sign of life (or the end of an outage)   in_doubt
//	in_doubt              never
//	held                  hold term                                                         denied
//	approved              approval term, from the answer                                    gone
//	committed             retention, from the commit; never while an open hold or an alias  gone
//	                      refers to it
//	alias, denied         retention, from the answer                                        gone
//	released              wait + execution timeout + lease, from the end                    gone
//	ended                 its reserve's NotAfter (without one: as released)                 gone
//	tombstone             tombstoneTerm                                                     gone
//
// After that everything is new.
//
// # Limits
//
// A record has MaxRows rows and is never larger than MaxBytes, whatever its callers send: record.go and budget.go say
// what happens at each limit. At none of them is anything lost that was promised: a grant always finds room to live and
// to end, a result is never given up, and a run that is not recorded was answered as truly as one that is; should it ask
// again it is a new one.
package intent

// Package postgres is the store that several ledgerds share: a schema in a PostgreSQL database (14 or newer).
//
// It keeps the contract of package store, and promises besides:
//
//   - A Swap that returned is flushed to the server's disk, and to its synchronous standbys where it has any
//     (synchronous_commit is raised to on for our sessions, whatever the role or the database says). A server with
//     fsync=off is refused unless the operator accepts the loss.
//   - A Swap is one round trip and one transaction that needs nothing more of its client: a ledgerd that dies or is cut
//     off leaves no transaction open and no row locked.
//   - Swaps that wait at the same time share one transaction and one flush (group commit); a conflict spoils only its
//     own Swap. Alone a Swap goes at once and never waits for company. Loads that wait share one query.
//   - The queue before the writers is bounded in writes and in bytes; what does not fit gets store.ErrOverloaded.
//   - A write of which the server said that it failed is not there; it is tried again where that may help (a deadlock
//     with another node). A connection that is lost in between leaves it unknown, and the Swap says store.ErrUnavailable.
//   - What is asked is asked of the store that was opened, as far as it had come: a node that meets another one, or an
//     earlier state, refuses everything until it is opened again (identity.go). A store is made on demand only.
//   - Versions come from one sequence, which neither a removal nor a Reset takes back.
//   - Changes are told to other nodes by NOTIFY after they are committed, from a transaction of its own: a NOTIFY takes a
//     lock that the whole server has once, and inside the commits it would make all nodes commit one after the other.
//
// # Time
//
// Now is the server's clock, reckoned from a sample that is taken every second ([estimate]), so that no operation pays
// a round trip for it. It is a lower bound: never ahead of the server, behind it by at most the sample's round trip and
// a thousandth of the sample's age. So two nodes that decide at once differ by a few milliseconds at most, and a
// decision was made by a moment that had passed on the server before it was written.
//
// It never steps back, whatever the server's clock does and whichever server is asked after a failover. In a process a
// floor sees to that. Between nodes, each record carries the moment that it was decided by, and whoever loads it has a
// Now that is not before. Over a restart of every node it is a ceiling in the table clock: no durable write was decided
// after it, and every node starts no earlier. It is kept [ceilingAhead] ahead of what is decided, so that it is written
// a few times a second and not with every write; by so much a node that was just started may be ahead of the server.
//
// The README beside this file tells the life of a row and how to operate the database.
package postgres

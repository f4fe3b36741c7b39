// Package sqlite is the embedded store: one SQLite database in ledgerd's data directory, written by one process.
//
// It keeps the contract of package store, and promises besides:
//
//   - A Swap that returned is in the write-ahead log and synced (WAL, synchronous FULL): it survives a kill of the
//     process, and a power cut as far as the disk keeps what it acknowledged as synced.
//   - Swaps that wait at the same time share one transaction and one sync (group commit); a conflict spoils only its
//     own Swap. Under load the price of a sync is divided by however many wait; alone a Swap pays for it at once and
//     never waits for company.
//   - The queue before the writer is bounded in writes and in bytes; what does not fit gets store.ErrOverloaded.
//   - What is acknowledged is in the files that the paths lead to. Where they were moved, replaced or removed, or where
//     another process has taken the database over, nothing is answered any more (place.go).
//   - A second process is refused (ErrInUse), a damaged database is refused (ErrDamaged), as is one that a newer
//     ledgerd wrote or that is not ledgerd's (ErrForeign). Nothing is repaired, and nothing is overwritten, on its own.
//
// The README beside this file tells the life of a row and how to operate the database.
package sqlite

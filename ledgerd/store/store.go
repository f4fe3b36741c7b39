// Package store is the contract between the ledger and what keeps its records.
//
// A store keeps intent records (opaque bytes with a version), results (opaque bytes by a name of the caller's choice)
// and three indexes over the records. It has one kind of write, [Store.Swap]: a compare-and-swap of one record that
// carries the record's index entries and, where there is one, the result that the record names. It has no transactions
// over several records and no query language: every intent is independent, which is what lets a deployment grow by
// partitions of the key.
//
// The indexes are hints: the truth is in the record, whoever finds a record by an index reads it again before acting,
// and [Store.Swap] replaces all entries of its record, so any index can be rebuilt by writing every record once more.
//
// Who calls whom with what:
//
//   - Bytes belong to both sides: what is in a [Write] is not changed by the caller from the call on (a Swap whose
//     context ended may still read it), and what a store gives is not changed by whoever got it.
//   - Moments are kept to the microsecond; [Store.Now] gives nothing finer. What is given finer is cut off.
//   - A Write that contradicts itself gets an error that wraps [ErrInvalid]; [Write.Check] says what that is.
//   - After Close everything gives [ErrUnavailable].
//
// Drivers know only this package. The suite in storetest says in tests what is promised here in words.
package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

var (
	// ErrConflict says that the record has another version than the write expected; nothing was written.
	ErrConflict = errors.New("store: the record has changed")
	// ErrNotFound says that there is no such record, result or entry.
	ErrNotFound = errors.New("store: not found")
	// ErrUnavailable wraps every failure after which it is not known whether the operation took effect, or after which
	// nothing can be read. The caller must not guess.
	ErrUnavailable = errors.New("store: unavailable")
	// ErrUnfit wraps, as a kind of ErrUnavailable, what an operator must put right: the store answers, but it is another
	// one than was opened, went back to an earlier state, lacks rights, or would forget.
	ErrUnfit = fmt.Errorf("%w: it answers, but cannot be used as it is", ErrUnavailable)
	// ErrRefused is the kind of ErrUnfit where the store does not take the credentials that it is given.
	ErrRefused = fmt.Errorf("%w: it refuses the credentials", ErrUnfit)
	// ErrOverloaded says that the driver's queue is full; nothing was written.
	ErrOverloaded = errors.New("store: too many writes are waiting")
	// ErrInvalid says that the write contradicts itself (see [Write.Check]); nothing was written.
	ErrInvalid = errors.New("store: invalid write")
)

// Record is an intent's record as the store sees it.
type Record struct {
	Key     string // the intent: 64 hex digits in lower case (drivers may keep these in half the room)
	Version uint64 // from 1; grows, not by one; never given twice for one key, not even after a delete or a reset
	Data    []byte
}

// Index names one of the indexes.
type Index string

// The indexes.
const (
	Holds  Index = "holds"  // open holds, by the hold's id; At is when it was opened
	Doubts Index = "doubts" // rows in doubt, by their attempt's id; At is since when
	Due    Index = "due"    // one entry a record at most, ID empty: At is when the record wants to be looked at again
)

// Entry is one entry of an index.
type Entry struct {
	Index Index
	ID    string // unique within its index (the record that wrote it last has it); empty for Due
	Key   string // the record's key; filled in by the store
	At    time.Time
}

// Result is the bytes that an attempt left: a stored result or a kept failure.
type Result struct {
	Attempt string // the name that they stand under, over all records; the ledger's have intent and attempt in it
	Data    []byte
}

// Write replaces one record.
type Write struct {
	Key     string
	Expect  uint64    // the version that was read; 0: there must be no record
	Data    []byte    // the new content; nil removes the record and all its entries
	Entries []Entry   // every entry that the record has from now on
	Put     []Result  // results that the new content names; durable no later than the record itself. Replaces older bytes
	Drop    []string  // attempts whose results the new content no longer names; removed no sooner than the record; not what is in Put too
	Now     time.Time // the moment that was decided by; the store keeps the greatest it has seen
}

// Store keeps records, results and indexes. All methods may be called at once from many goroutines. A context that
// ends makes a method return early with an error that wraps the context's; a Swap that was under way may still happen.
type Store interface {
	// Load gives the newest content of a record. ErrNotFound where there is none.
	Load(ctx context.Context, key string) (Record, error)

	// Swap writes if the record still has the version that Expect names, and gives its new version (0 where the write
	// removed it). Once it returns nil the write is durable: a crash of the process or of the machine, as far as the
	// driver's README promises, does not take it back. ErrConflict, ErrOverloaded, ErrInvalid: nothing was written.
	// ErrUnavailable, or an error that wraps the context's: it is not known.
	Swap(ctx context.Context, w Write) (version uint64, err error)

	// Result gives an attempt's stored bytes. ErrNotFound where there are none.
	Result(ctx context.Context, attempt string) ([]byte, error)

	// Lookup gives the entry of an index with an id. ErrNotFound where there is none, so always for Due.
	Lookup(ctx context.Context, index Index, id string) (Entry, error)

	// Scan gives up to limit entries of an index with At not after until, oldest first (At, then Key, then ID), that
	// come after the entry after (nil: from the first), be it still there or not.
	Scan(ctx context.Context, index Index, until time.Time, after *Entry, limit int) ([]Entry, error)

	// Newest gives up to limit records, the one created last first.
	Newest(ctx context.Context, limit int) ([]Record, error)

	// Now is the store's clock: the only one that decisions are made by. It never steps back, not over a restart
	// either: it is never before the greatest Write.Now that was durable.
	Now(ctx context.Context) (time.Time, error)

	// Watch calls changed with the key of each record that any process wrote, until ctx ends. Keys may be missed (a
	// Reset tells none) and repeated; who waits also polls. It returns once it is listening. changed must not block,
	// and is called no sooner than a Load gives what it tells of.
	Watch(ctx context.Context, changed func(key string)) error

	// Setting and SetSetting keep a small value of the whole deployment (the end of a grace time) under a name.
	// Setting gives ErrNotFound where none was set. SetSetting is durable once it returns nil.
	Setting(ctx context.Context, name string) (string, error)
	SetSetting(ctx context.Context, name, value string) error

	// Reset removes every record, result and entry. Settings and the clock stay. It need not be atomic over records: one
	// that is written meanwhile may stay or go.
	Reset(ctx context.Context) error

	// Close ends the store; writes that were accepted are finished first. A second Close does nothing.
	Close() error
}

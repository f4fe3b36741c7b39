package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"idem/ledgerd/store"
)

// A store that can be read, and that keeps a setting, may still take no record: a privilege was taken away, somebody
// holds a lock, the disk is full. So whether the ledger can work is told by writes of records alone: by those of the
// calls, as long as there are any and none fails, and else by one of the ledger's own that goes the same way.

// proofTerm is for how long a call's write says that the store takes writes, as long as none failed since.
const proofTerm = time.Second

// proof is what is known of the store's writes.
type proof struct {
	base   time.Time          // of the monotonic clock
	worked atomic.Int64       // when a record was last made, ns since base; 0: never
	failed [kinds]atomic.Bool // the last write of that kind did not work

	mu      sync.Mutex // held by whoever tries
	key     string     // of the record that is written to try: this process's own
	version uint64     // that it has, as far as is known
}

// kindOf says what a write does to its record, and what it touches besides: results, named entries. A store may be able
// to do one and not another.
func kindOf(w *store.Write) (kind int) {
	switch {
	case w.Data == nil:
		kind = 1
	case w.Expect != 0:
		kind = 2
	}
	if len(w.Put) > 0 || len(w.Drop) > 0 {
		kind += 3
	}
	if slices.ContainsFunc(w.Entries, func(e store.Entry) bool { return e.Index != store.Due }) {
		kind += 6
	}
	return kind
}

const kinds = 12

func newProof(process string) proof {
	sum := sha256.Sum256([]byte("proof " + process))
	return proof{base: time.Now(), key: hex.EncodeToString(sum[:])}
}

// note takes in how a write went. What says nothing about the store is left out: a conflict, a queue that was full.
func (p *proof) note(w *store.Write, err error) {
	kind := kindOf(w)
	switch {
	case err == nil:
		if p.failed[kind].Load() {
			p.failed[kind].Store(false)
		}
		if w.Expect == 0 {
			p.worked.Store(int64(time.Since(p.base)))
		}
	case !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrOverloaded) && !errors.Is(err, store.ErrInvalid):
		p.failed[kind].Store(true)
	}
}

// doubted says that a write failed, and neither has one of its kind worked since nor all that were tried.
func (p *proof) doubted() bool {
	for i := range p.failed {
		if p.failed[i].Load() {
			return true
		}
	}
	return false
}

// fresh says that calls were written a moment ago, and that nothing failed.
func (p *proof) fresh() bool {
	worked := p.worked.Load()
	return worked != 0 && int64(time.Since(p.base))-worked < int64(proofTerm) && !p.doubted()
}

// prove writes a record of the ledger's own with all that a record may have, changes it and removes it. What a process
// that dies in between leaves is a record without rows, which the sweep removes.
func (l *Ledger) prove(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, l.o.OperationTimeout)
	defer cancel()
	p := &l.proof
	if !p.mu.TryLock() {
		return fmt.Errorf("%w: an earlier write that was to show whether it takes any has not ended", store.ErrUnavailable)
	}
	defer p.mu.Unlock()
	const name = "proof"
	id := name + "-" + p.key[:16]
	full := store.Write{Put: []store.Result{{Attempt: id, Data: []byte(name)}}, Entries: []store.Entry{
		{Index: store.Due, At: now.Add(time.Minute)}, {Index: store.Holds, ID: id, At: shelf}, {Index: store.Doubts, ID: id, At: shelf}}}
	bare := store.Write{Drop: []string{id}, Entries: full.Entries[:1]}
	for _, w := range []store.Write{full, bare, {}} {
		w.Key, w.Now = p.key, now
		if w.Entries != nil {
			w.Data = encodeRecord(l.token(), &content{})
		}
		if err := l.proveBy(ctx, &w); err != nil {
			return err
		}
	}
	for kind := range p.failed {
		p.failed[kind].Store(false)
	}
	l.outage.wrote(now)
	return nil
}

// proveBy does one write of prove. Where one of before came late after all, it goes on from what that made. The caller
// holds mu.
func (l *Ledger) proveBy(ctx context.Context, w *store.Write) error {
	p := &l.proof
	for {
		if w.Expect = p.version; w.Data == nil && w.Expect == 0 {
			return nil // the sweep was here first
		}
		version, err := l.store.Swap(ctx, *w)
		p.note(w, err)
		switch {
		case err == nil:
			p.version = version
			return nil
		case errors.Is(err, store.ErrOverloaded):
			return err
		case !errors.Is(err, store.ErrConflict):
			l.outage.failed()
			return unavailable(err)
		}
		rec, err := l.store.Load(ctx, p.key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return unavailable(err)
		}
		p.version = rec.Version
	}
}

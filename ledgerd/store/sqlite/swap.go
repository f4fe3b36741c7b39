package sqlite

import (
	"time"

	"idem/ledgerd/store"
)

// swap does one compare-and-swap within the transaction. The usual one is a single statement on records, and one on
// results where it brings a result; entries are written only by the few records that have any.
func (w *writer) swap(s *store.Write) (uint64, error) {
	old, err := w.known(s)
	if err != nil {
		return 0, err
	}
	if old.version != s.Expect {
		return 0, store.ErrConflict
	}
	next := state{id: old.id, version: w.version + 1, due: noDue, data: s.Data}
	for i := range s.Entries {
		if s.Entries[i].Index == store.Due {
			next.due = micro(s.Entries[i].At)
		} else {
			next.named++
		}
	}

	key := pack(s.Key)
	switch {
	case s.Data == nil:
		next.version = 0
		_, err = w.remove.exec(old.id)
	case s.Expect == 0:
		next.id = int64(next.version)
		var n int64
		n, err = w.insert.exec(next.id, key, int64(next.version), dueValue(next.due), int64(next.named), s.Data)
		if err == nil && n == 0 {
			return 0, store.ErrConflict
		}
	case next.due == old.due:
		_, err = w.touch.exec(int64(next.version), int64(next.named), s.Data, next.id)
	default:
		_, err = w.update.exec(int64(next.version), int64(next.named), s.Data, dueValue(next.due), next.id)
	}
	if err != nil {
		return 0, err
	}
	w.version++
	w.count++
	w.latest = max(w.latest, store.CeilMicro(s.Now))
	w.staged[s.Key] = next

	if err := w.entries(s, key, old); err != nil {
		return 0, err
	}
	return next.version, w.results(s)
}

// known gives what there is of the record before the swap; version 0: nothing, as far as is known. For a new record
// that is all: its insertion will tell.
func (w *writer) known(s *store.Write) (state, error) {
	if st, ok := w.staged[s.Key]; ok {
		return st, nil
	}
	if !w.reset {
		if st, ok := w.store.recent.get(s.Key); ok {
			return st, nil
		}
	}
	var st state
	if s.Expect == 0 {
		return st, nil
	}
	err := w.find.query(func(r *row) {
		st = state{id: r.number(0), version: uint64(r.number(1)), due: r.moment(2), named: int(r.number(3))}
	}, pack(s.Key))
	return st, err
}

// entries replaces the record's rows in the table entries.
func (w *writer) entries(s *store.Write, key any, old state) error {
	if old.named > 0 {
		if _, err := w.unname.exec(key); err != nil {
			return err
		}
	}
	for i := range s.Entries {
		e := &s.Entries[i]
		if e.Index == store.Due {
			continue
		}
		if _, err := w.name.exec(string(e.Index), e.ID, key, micro(e.At)); err != nil {
			return err
		}
	}
	return nil
}

// results drops and puts the results of the write; what is in both is put.
func (w *writer) results(s *store.Write) error {
	for _, attempt := range s.Drop {
		if _, err := w.drop.exec(pack(attempt)); err != nil {
			return err
		}
	}
	for i := range s.Put {
		p := &s.Put[i]
		data := p.Data
		if data == nil {
			data = []byte{}
		}
		if _, err := w.put.exec(pack(p.Attempt), data); err != nil {
			return err
		}
	}
	return nil
}

// dueValue is a moment of the index due as the database keeps it.
func dueValue(due int64) any {
	if due == noDue {
		return nil
	}
	return due
}

// micro is a moment as the database keeps it: Unix microseconds.
func micro(t time.Time) int64 { return t.UnixMicro() }

// moment is the inverse of micro.
func moment(us int64) time.Time { return time.UnixMicro(us).UTC() }

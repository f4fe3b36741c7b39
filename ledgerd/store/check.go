package store

import "fmt"

// Check gives an error that wraps [ErrInvalid] where a write contradicts itself. Every driver asks it first, so that
// all of them refuse the same.
func (w *Write) Check() error {
	switch {
	case w.Key == "":
		return fmt.Errorf("%w: key is empty, want an intent", ErrInvalid)
	case w.Data == nil && w.Expect == 0:
		return fmt.Errorf("%w: data of %s is nil, which removes a record, so expect must be its version, not 0", ErrInvalid, w.Key)
	case w.Data == nil && len(w.Entries) > 0:
		return fmt.Errorf("%w: data of %s is nil, which removes the record, but there are %d entries", ErrInvalid, w.Key, len(w.Entries))
	}
	for i := range w.Put {
		for j := range i {
			if w.Put[j].Attempt == w.Put[i].Attempt {
				return fmt.Errorf("%w: put[%d] of %s: the result of %q stands twice", ErrInvalid, i, w.Key, w.Put[i].Attempt)
			}
		}
	}
	due := false
	for i := range w.Entries {
		e := &w.Entries[i]
		switch e.Index {
		case Due:
			if e.ID != "" {
				return fmt.Errorf("%w: entries[%d] of %s: an entry of %q has no id, got %q", ErrInvalid, i, w.Key, e.Index, e.ID)
			}
			if due {
				return fmt.Errorf("%w: entries[%d] of %s: a second entry of %q, a record has at most one", ErrInvalid, i, w.Key, e.Index)
			}
			due = true
		case Holds, Doubts:
			if e.ID == "" {
				return fmt.Errorf("%w: entries[%d] of %s: an entry of %q needs an id", ErrInvalid, i, w.Key, e.Index)
			}
			for j := range i {
				if w.Entries[j].Index == e.Index && w.Entries[j].ID == e.ID {
					return fmt.Errorf("%w: entries[%d] of %s: id %q stands twice in %q", ErrInvalid, i, w.Key, e.ID, e.Index)
				}
			}
		default:
			return fmt.Errorf("%w: entries[%d] of %s: index %q, want %q, %q or %q", ErrInvalid, i, w.Key, e.Index, Holds, Doubts, Due)
		}
	}
	return nil
}

// CheckSize is Check for a driver that takes no more than so many bytes in one write, and gives how many this one
// carries: its key, its content, its ids and its results.
func (w *Write) CheckSize(most int64) (size int64, err error) {
	if err := w.Check(); err != nil {
		return 0, err
	}
	size = int64(len(w.Key) + len(w.Data))
	for i := range w.Entries {
		size += int64(len(w.Entries[i].ID))
	}
	for i := range w.Put {
		size += int64(len(w.Put[i].Attempt) + len(w.Put[i].Data))
	}
	if size > most {
		return 0, fmt.Errorf("%w: the record of %s and its results are %d bytes, want at most %d", ErrInvalid, w.Key, size, most)
	}
	return size, nil
}

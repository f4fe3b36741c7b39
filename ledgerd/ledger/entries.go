package ledger

import (
	"slices"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
)

// shelf is where index entries stand that are only there to be looked up: a scan up to now does not meet them.
var shelf = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// entries gives the index entries of a record. Holds has a hold whatever became of it, and Doubts a row that has ever
// been in doubt, so that a second answer finds them and is told that they are not open; only the open ones have their
// own time, the others stand on the shelf.
func entries(rec *intent.Record, due time.Time) []store.Entry {
	var list []store.Entry
	if !due.IsZero() {
		list = append(list, store.Entry{Index: store.Due, At: due})
	}
	for i := range rec.Rows {
		r := &rec.Rows[i]
		if q := r.Question; q != nil {
			at := shelf
			if r.State == intent.HeldRow {
				at = q.Opened
			}
			list = append(list, store.Entry{Index: store.Holds, ID: q.ID, At: at})
		}
		switch {
		case r.State == intent.InDoubt:
			list = append(list, store.Entry{Index: store.Doubts, ID: r.Attempt, At: r.Since})
		case doubted(r):
			list = append(list, store.Entry{Index: store.Doubts, ID: r.Attempt, At: shelf})
		}
	}
	return list
}

// doubted says whether a row's attempt is or was in doubt.
func doubted(r *intent.Row) bool {
	return r.Attempt != "" && slices.ContainsFunc(r.History, func(e intent.Event) bool { return e.State == intent.InDoubt })
}

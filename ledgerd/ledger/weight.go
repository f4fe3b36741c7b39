package ledger

import (
	"unsafe"

	"idem/ledgerd/intent"
)

// What a cache keeps is charged at what it takes in memory, not at what it takes in the store: a small result's bytes
// are the least part of it. TestTheMemoryStaysWithinItsLimits holds the sums below against the heap.

const (
	// perCached is what a cache needs for an entry beside key and value: the list's element, what that holds, and the
	// map's slot at its usual load.
	perCached = 176
	// perPiece is about what each separate piece of memory loses to its size class.
	perPiece = 8
)

// piece is what a text, or a slice's content, of so many bytes takes.
func piece(n int) int64 {
	if n == 0 {
		return 0
	}
	return int64(n) + perPiece
}

// weight is what a record takes once it is read.
func (e *entry) weight() int64 {
	n := int64(unsafe.Sizeof(*e)) + piece(len(e.key)) + piece(len(e.token))
	for attempt := range e.Limits {
		n += 64 + piece(len(attempt))
	}
	rec := &e.Record
	n += piece(cap(rec.Rows)*int(unsafe.Sizeof(intent.Row{}))) + piece(cap(rec.Ended)*int(unsafe.Sizeof(intent.Ended{}))) +
		piece(cap(rec.Marks)*int(unsafe.Sizeof(intent.Mark{}))) + piece(cap(rec.Evidence)*int(unsafe.Sizeof(intent.Evidence{})))
	for i := range rec.Rows {
		n += weightOfRow(&rec.Rows[i])
	}
	for i := range rec.Ended {
		n += piece(len(rec.Ended[i].Attempt))
	}
	for i := range rec.Marks {
		m := &rec.Marks[i]
		n += piece(len(m.Fingerprint)) + piece(len(m.To.Intent)) + piece(len(m.To.Fingerprint))
	}
	for i := range rec.Evidence {
		n += piece(len(rec.Evidence[i].Attempt)) + weightOfNamed(&rec.Evidence[i].Result)
	}
	return n
}

// weightOfRow is what a row takes beside itself.
func weightOfRow(r *intent.Row) int64 {
	n := piece(len(r.Fingerprint)) + piece(len(r.Attempt)) + piece(len(r.ApprovedBy)) + piece(len(r.AliasOf)) + piece(len(r.Tool)) +
		piece(len(r.Rule.Name)) + piece(cap(r.Action)) + piece(cap(r.Runs)*int(unsafe.Sizeof(""))) +
		piece(cap(r.Audit)*int(unsafe.Sizeof(intent.Answer{}))) + piece(cap(r.History)*int(unsafe.Sizeof(intent.Event{})))
	for _, result := range [...]*intent.Result{r.Result, r.Failure} {
		if result != nil {
			n += int64(unsafe.Sizeof(*result)) + weightOfNamed(result)
		}
	}
	if q := r.Question; q != nil {
		n += int64(unsafe.Sizeof(*q)) + piece(len(q.ID)) + piece(len(q.Of))
	}
	for _, run := range r.Runs {
		n += piece(len(run))
	}
	for i := range r.Audit {
		n += piece(len(r.Audit[i].By)) + piece(len(r.Audit[i].What)) + piece(len(r.Audit[i].Reason))
	}
	return n
}

// weightOfNamed is what a result's description takes beside itself.
func weightOfNamed(r *intent.Result) int64 { return piece(len(r.Attempt)) + piece(len(r.Digest)) }

// weight is what a result takes once it is read. Its body is a part of the stored bytes, which stay as a whole.
func (r *storedResult) weight(stored int) int64 {
	n := int64(unsafe.Sizeof(*r)) + piece(stored) + piece(len(r.intent)) + piece(cap(r.Headers)*int(unsafe.Sizeof([2]string{})))
	for _, h := range r.Headers {
		n += piece(len(h[0])) + piece(len(h[1]))
	}
	return n
}

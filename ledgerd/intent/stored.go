package intent

import (
	"encoding/binary"
	"math"
	"slices"
	"time"
)

// The stored form of a record. Every operation writes its record once, so this is small and made without garbage: the
// fields in their order, numbers as varints (encoding/binary), and
//
//	text      its length twice, then its bytes. Lower-case hex digits, which ids and fingerprints mostly are, stand as
//	          the bytes that they spell, and the length is one more than twice
//	word      a text of a fixed vocabulary: its place in a table from 1 on, or 0 and a text
//	moment    how far it is from the moment before it, as most are the same or near: see appendMoment
//	list      how many, then each
//	rule      nothing but a mark where it is that of the row before
//
// What a version of ledgerd wrote its successors must read: whoever changes this changes the record's format byte, which
// is the ledger's, and keeps reading the former one.

// The words of the vocabularies, in the order in which they are numbered. New ones go to the end.
var (
	stateWords  = []State{Reserved, InFlight, Committed, Released, InDoubt, HeldRow, Approved, Alias, DeniedRow}
	endWords    = []End{"", ByCommit, ByFailure, ByAnswer, ByRetry, ByEviction}
	classWords  = []Class{"", NotSent, Definite, Unknown}
	policyWords = []Policy{"", Hold, Join, Execute}
	whyWords    = []Why{WhyArrived, WhyExtended, WhyCommitted, WhyFailed, WhySilent, WhyAnswered, WhyResolved, WhyGivenBack,
		WhyUsed, WhyRetried, WhySuperseded, WhyExpired, WhyEvicted}
)

// AppendTo appends the record's stored form. [ReadRecord] reads it back equal, but for an Action that is empty and not
// nil.
func (rec *Record) AppendTo(dst []byte) []byte {
	w := writing{dst: dst}
	w.number(uint64(len(rec.Rows)))
	for i := range rec.Rows {
		var before *Rule
		if i > 0 {
			before = &rec.Rows[i-1].Rule
		}
		w.row(&rec.Rows[i], before)
	}
	w.number(uint64(len(rec.Ended)))
	for i := range rec.Ended {
		e := &rec.Ended[i]
		w.text(e.Attempt)
		word(&w, endWords, e.End)
		word(&w, classWords, e.Class)
		w.moment(e.Until)
		w.flag(e.Bound)
	}
	w.moment(rec.Past)
	w.number(uint64(len(rec.Marks)))
	for i := range rec.Marks {
		m := &rec.Marks[i]
		w.text(m.Fingerprint)
		w.text(m.To.Intent)
		w.text(m.To.Fingerprint)
		w.moment(m.Met)
		w.moment(m.Until)
	}
	w.number(uint64(len(rec.Evidence)))
	for i := range rec.Evidence {
		e := &rec.Evidence[i]
		w.moment(e.At)
		w.text(e.Attempt)
		w.result(&e.Result)
		w.moment(e.Until)
	}
	w.signed(rec.Fenced)
	w.signed(rec.Grants)
	return w.dst
}

// writing is a stored form as it is being written.
type writing struct {
	dst  []byte
	last time.Time // the moment before
}

func (w *writing) row(r *Row, before *Rule) {
	w.text(r.Fingerprint)
	word(w, stateWords, r.State)
	w.moment(r.Arrived)
	w.moment(r.Granted)
	w.moment(r.Renewed)
	w.moment(r.Since)
	w.moment(r.NotAfter)
	w.text(r.Attempt)
	w.text(r.ApprovedBy)
	w.signed(r.Grant)
	word(w, endWords, r.End)
	word(w, classWords, r.Class)
	w.mayResult(r.Result)
	w.mayResult(r.Failure)
	w.text(r.AliasOf)
	w.flag(r.Question != nil)
	if q := r.Question; q != nil {
		w.text(q.ID)
		w.text(q.Reason)
		w.text(q.Of)
		w.signed(q.Version)
		w.moment(q.Opened)
		w.moment(q.Until)
	}
	w.number(uint64(len(r.Runs)))
	for _, run := range r.Runs {
		w.text(run)
	}
	w.text(r.Tool)
	w.number(uint64(len(r.Action)))
	w.dst = append(w.dst, r.Action...)
	w.flag(before == nil || *before != r.Rule)
	if before == nil || *before != r.Rule {
		w.rule(&r.Rule)
	}
	w.number(uint64(len(r.Audit)))
	for i := range r.Audit {
		a := &r.Audit[i]
		w.moment(a.At)
		w.text(a.By)
		w.text(a.What)
		w.text(a.Reason)
	}
	w.number(uint64(len(r.History)))
	for i := range r.History {
		e := &r.History[i]
		w.moment(e.At)
		word(w, stateWords, e.State)
		word(w, whyWords, e.Why)
	}
}

func (w *writing) rule(r *Rule) {
	w.text(r.Name)
	for _, d := range [...]time.Duration{r.Window, r.Horizon, r.HoldTerm, r.ApprovalTerm, r.Lease, r.Wait, r.ExecutionTimeout, r.Retention} {
		w.span(d)
	}
	word(w, policyWords, r.OnNewRun)
	word(w, policyWords, r.OnSameIntent)
	word(w, policyWords, r.OnAbsentRun)
	w.flag(r.RetryInDoubt)
}

func (w *writing) mayResult(r *Result) {
	w.flag(r != nil)
	if r != nil {
		w.result(r)
	}
}

func (w *writing) result(r *Result) {
	w.text(r.Attempt)
	w.signed(int64(r.Status))
	w.signed(r.Size)
	w.text(r.Digest)
	w.text(r.Missing)
}

func (w *writing) number(n uint64) { w.dst = binary.AppendUvarint(w.dst, n) }
func (w *writing) signed(n int64)  { w.dst = binary.AppendVarint(w.dst, n) }

func (w *writing) flag(b bool) {
	if b {
		w.dst = append(w.dst, 1)
	} else {
		w.dst = append(w.dst, 0)
	}
}

func (w *writing) text(s string) {
	if !spellsBytes(s) {
		w.number(uint64(len(s)) << 1)
		w.dst = append(w.dst, s...)
		return
	}
	w.number(uint64(len(s))<<1 | 1)
	for i := 0; i < len(s); i += 2 {
		w.dst = append(w.dst, nibble[s[i]]<<4|nibble[s[i+1]])
	}
}

// spellsBytes says whether a text is lower-case hex digits, an even number of them.
func spellsBytes(s string) bool {
	if len(s) == 0 || len(s)%2 != 0 {
		return false
	}
	for i := range len(s) {
		if nibble[s[i]] == noNibble {
			return false
		}
	}
	return true
}

const noNibble = 0xff

// nibble gives a hex digit's value.
var nibble = func() (t [256]byte) {
	for i := range t {
		t[i] = noNibble
	}
	for i, c := range []byte("0123456789abcdef") {
		t[c] = byte(i)
	}
	return t
}()

func word[T ~string](w *writing, words []T, v T) {
	i := slices.Index(words, v)
	w.number(uint64(i + 1))
	if i < 0 {
		w.text(string(v))
	}
}

// span is a duration: twice its milliseconds, or 1 and its nanoseconds.
func (w *writing) span(d time.Duration) {
	if ms := d.Milliseconds(); time.Duration(ms)*time.Millisecond == d {
		w.signed(ms << 1)
	} else {
		w.signed(1)
		w.signed(int64(d))
	}
}

// The kinds of a moment.
const (
	momentNone  = iota // the zero time
	momentSame         // as the one before
	momentNear         // so many nanoseconds from it
	momentApart        // seconds and nanoseconds of Unix time
)

// moment writes a moment. The zero time is not one that others are measured from.
func (w *writing) moment(t time.Time) {
	if t.IsZero() {
		w.dst = append(w.dst, momentNone)
		return
	}
	d := t.Sub(w.last)
	switch {
	case w.last.IsZero() || d == math.MaxInt64 || d == math.MinInt64:
		w.dst = append(w.dst, momentApart)
		w.signed(t.Unix())
		w.number(uint64(t.Nanosecond()))
	case d == 0:
		w.dst = append(w.dst, momentSame)
	default:
		w.dst = append(w.dst, momentNear)
		w.signed(int64(d))
	}
	w.last = t
}

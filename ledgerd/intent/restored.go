package intent

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"time"
)

// errStored says that bytes are not the stored form of a record.
var errStored = errors.New("intent: the stored record is cut short or damaged")

// ReadRecord reads what [Record.AppendTo] wrote, all of data. The record keeps nothing of data.
func ReadRecord(data []byte) (Record, error) {
	r := reading{rest: data}
	var rec Record
	if n := r.count(); n > 0 {
		rec.Rows = make([]Row, n)
	}
	for i := range rec.Rows {
		var before *Rule
		if i > 0 {
			before = &rec.Rows[i-1].Rule
		}
		if r.row(&rec.Rows[i], before); r.bad {
			return Record{}, errStored
		}
	}
	if n := r.count(); n > 0 {
		rec.Ended = make([]Ended, n)
	}
	for i := range rec.Ended {
		rec.Ended[i] = Ended{Attempt: r.text(), End: wordOf(&r, endWords), Class: wordOf(&r, classWords), Until: r.moment(), Bound: r.flag()}
	}
	rec.Past = r.moment()
	if n := r.count(); n > 0 {
		rec.Marks = make([]Mark, n)
	}
	for i := range rec.Marks {
		rec.Marks[i] = Mark{Fingerprint: r.text(), To: Identity{Intent: r.text(), Fingerprint: r.text()}, Met: r.moment(), Until: r.moment()}
	}
	if n := r.count(); n > 0 {
		rec.Evidence = make([]Evidence, n)
	}
	for i := range rec.Evidence {
		e := &rec.Evidence[i]
		e.At, e.Attempt = r.moment(), r.text()
		r.result(&e.Result)
		e.Until = r.moment()
	}
	rec.Fenced, rec.Grants = r.signed(), r.signed()
	if r.bad || len(r.rest) > 0 {
		return Record{}, errStored
	}
	return rec, nil
}

// reading is a stored form as it is being read. Once something is wrong all that follows is zero.
type reading struct {
	rest []byte
	last time.Time
	bad  bool
}

func (r *reading) row(row *Row, before *Rule) {
	row.Fingerprint = r.text()
	row.State = wordOf(r, stateWords)
	row.Arrived = r.moment()
	row.Granted = r.moment()
	row.Renewed = r.moment()
	row.Since = r.moment()
	row.NotAfter = r.moment()
	row.Attempt = r.text()
	row.ApprovedBy = r.text()
	row.Grant = r.signed()
	row.End = wordOf(r, endWords)
	row.Class = wordOf(r, classWords)
	row.Result = r.mayResult()
	row.Failure = r.mayResult()
	row.AliasOf = r.text()
	if r.flag() {
		row.Question = &Question{ID: r.text(), Reason: r.text(), Of: r.text(), Version: r.signed(), Opened: r.moment(), Until: r.moment()}
	}
	if n := r.count(); n > 0 {
		row.Runs = make([]string, n)
	}
	for i := range row.Runs {
		row.Runs[i] = RecordedRun(r.text()) // an earlier ledgerd kept long ones as they were
	}
	row.Tool = r.text()
	if action := r.bytes(r.number()); len(action) > 0 {
		row.Action = append(json.RawMessage(nil), action...)
	}
	switch own := r.flag(); {
	case own:
		r.rule(&row.Rule)
	case before != nil:
		row.Rule = *before
	default:
		r.fail()
	}
	if n := r.count(); n > 0 {
		row.Audit = make([]Answer, n)
	}
	for i := range row.Audit {
		row.Audit[i] = Answer{At: r.moment(), By: r.text(), What: r.text(), Reason: r.text()}
	}
	if n := r.count(); n > 0 {
		row.History = make([]Event, n)
	}
	for i := range row.History {
		row.History[i] = Event{At: r.moment(), State: wordOf(r, stateWords), Why: wordOf(r, whyWords)}
	}
}

func (r *reading) rule(rule *Rule) {
	rule.Name = r.text()
	for _, d := range [...]*time.Duration{&rule.Window, &rule.Horizon, &rule.HoldTerm, &rule.ApprovalTerm, &rule.Lease, &rule.Wait,
		&rule.ExecutionTimeout, &rule.Retention} {
		*d = r.span()
	}
	rule.OnNewRun = wordOf(r, policyWords)
	rule.OnSameIntent = wordOf(r, policyWords)
	rule.OnAbsentRun = wordOf(r, policyWords)
	rule.RetryInDoubt = r.flag()
}

func (r *reading) mayResult() *Result {
	if !r.flag() {
		return nil
	}
	result := &Result{}
	r.result(result)
	return result
}

func (r *reading) result(result *Result) {
	*result = Result{Attempt: r.text(), Status: int(r.signed()), Size: r.signed(), Digest: r.text(), Missing: r.text()}
}

func (r *reading) fail() { r.bad, r.rest = true, nil }

func (r *reading) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reading) signed() int64 {
	n, size := binary.Varint(r.rest)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// count is how many elements follow, each of which takes a byte at least.
func (r *reading) count() int {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reading) byte() byte {
	if len(r.rest) == 0 {
		r.fail()
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reading) flag() bool {
	switch r.byte() {
	case 0:
		return false
	case 1:
		return true
	}
	r.fail()
	return false
}

func (r *reading) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.fail()
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reading) text() string {
	n := r.number()
	if n&1 == 0 {
		return string(r.bytes(n >> 1))
	}
	if n>>1&1 != 0 {
		r.fail()
		return ""
	}
	return hex.EncodeToString(r.bytes(n >> 2))
}

func wordOf[T ~string](r *reading, words []T) T {
	n := r.number()
	switch {
	case n == 0:
		return T(r.text())
	case n <= uint64(len(words)):
		return words[n-1]
	}
	r.fail()
	return ""
}

func (r *reading) span() time.Duration {
	n := r.signed()
	switch {
	case n == 1:
		return time.Duration(r.signed())
	case n&1 != 0, n>>1 > math.MaxInt64/int64(time.Millisecond) || n>>1 < math.MinInt64/int64(time.Millisecond):
		r.fail()
	}
	return time.Duration(n>>1) * time.Millisecond
}

func (r *reading) moment() time.Time {
	switch r.byte() {
	case momentNone:
		return time.Time{}
	case momentSame:
	case momentNear:
		r.last = r.last.Add(time.Duration(r.signed()))
	case momentApart:
		sec, nsec := r.signed(), r.number()
		if nsec >= uint64(time.Second) {
			r.fail()
			return time.Time{}
		}
		r.last = time.Unix(sec, int64(nsec)).UTC()
	default:
		r.fail()
	}
	return r.last
}

package intent

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// plain is a record in which no list is empty and there: a stored form does not tell that from none.
func plain(rec Record) Record {
	none(&rec.Rows)
	none(&rec.Ended)
	none(&rec.Marks)
	none(&rec.Evidence)
	rec.Rows = slices.Clone(rec.Rows)
	for i := range rec.Rows {
		none(&rec.Rows[i].Runs)
		none(&rec.Rows[i].Action)
		none(&rec.Rows[i].Audit)
		none(&rec.Rows[i].History)
	}
	return rec
}

func none[S ~[]E, E any](list *S) {
	if len(*list) == 0 {
		*list = nil
	}
}

func wantReadBack(t *testing.T, rec Record) {
	t.Helper()
	data := rec.AppendTo(nil)
	back, err := ReadRecord(data)
	if want := plain(rec); err != nil || !reflect.DeepEqual(plain(back), want) {
		t.Fatalf("the record\n%+v\nis read back as\n%+v, %v", want, back, err)
	}
	if _, err := ReadRecord(data[:len(data)-1]); !errors.Is(err, errStored) {
		t.Fatalf("cut short it is read all the same: %v", err)
	}
	if _, err := ReadRecord(append(data, 0)); !errors.Is(err, errStored) {
		t.Fatalf("with a byte more it is read all the same: %v", err)
	}
}

// full is a record in which everything there is has a value.
func full() Record {
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	result := &Result{Attempt: "00ff-failure", Status: 201, Size: 1 << 40, Digest: "00ff", Missing: MissingResolved}
	rule := usual()
	rule.Name, rule.RetryInDoubt, rule.Window, rule.Wait = "refunds", true, 1234567, -time.Second
	row := Row{Fingerprint: "abcdef", State: Committed, Since: at(1), Arrived: at(2), Attempt: "a", ApprovedBy: "h", Grant: 7,
		Granted: at(3), NotAfter: at(4), Renewed: at(5), End: ByCommit, Class: Definite, Result: result, Failure: result, AliasOf: "b",
		Question: &Question{ID: "h", Reason: ReasonNewRun, Of: "a", Version: 3, Opened: at(6), Until: at(7)}, Runs: []string{"", "r"},
		Tool: "refund", Action: []byte(`{"amount":1}`), Rule: rule, Audit: []Answer{{At: at(8), By: "ada", What: "deny", Reason: "no"}},
		History: []Event{{At: at(9), State: InFlight, Why: WhyExtended}, {At: at(9), State: "a new state", Why: "a new reason"}}}
	other := row
	other.Rule.Lease++
	return Record{
		Rows:  []Row{row, row, other},
		Ended: []Ended{{Attempt: "c", End: ByFailure, Class: NotSent, Until: at(10), Bound: true}, {End: "?", Class: "?", Until: at(-1)}},
		Past:  at(11),
		Marks: []Mark{{Fingerprint: "f", To: Identity{Intent: "i", Fingerprint: "g"}, Met: at(12), Until: at(13)}},
		Evidence: []Evidence{{At: time.Unix(1<<40, 999_999_999).UTC(), Attempt: "a", Result: *result,
			Until: time.Unix(-1<<40, 1).UTC()}},
		Fenced: 1 << 62, Grants: -1,
	}
}

func TestEverythingThatARecordHoldsIsReadBack(t *testing.T) {
	wantReadBack(t, Record{})
	wantReadBack(t, full())
	// What is not set in full would be forgotten here: this test is to be told of every new member.
	for _, v := range []any{full(), full().Rows[0], full().Rows[0].Rule, *full().Rows[0].Result, *full().Rows[0].Question,
		full().Rows[0].Audit[0], full().Rows[0].History[0], full().Ended[0], full().Marks[0], full().Evidence[0]} {
		for i := range reflect.TypeOf(v).NumField() {
			if reflect.ValueOf(v).Field(i).IsZero() {
				t.Errorf("%T.%s has no value in this test", v, reflect.TypeOf(v).Field(i).Name)
			}
		}
	}
}

func TestRandomRecordsAreReadBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		w := newWitness(t, random, map[string]bool{})
		w.at.Now = start.Add(123456789)
		for range 60 {
			w.step()
			wantReadBack(t, w.rec)
		}
	}
}

func TestTextsAreKeptByteForByte(t *testing.T) {
	for _, s := range []string{"", "a", "ab", "AB", "abc", "0g", "00", "\xff\x00", "deadbeef", "deadbeef ", "ünïcode"} {
		wantReadBack(t, Record{Ended: []Ended{{Attempt: s, Until: start}}})
	}
}

// Whatever bytes come: they are refused, or are a record that has a stored form.
func FuzzReadRecord(f *testing.F) {
	all := full()
	f.Add(all.AppendTo(nil))
	small := benchmarkRecord(f, 3)
	f.Add(small.AppendTo(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := ReadRecord(data)
		if err != nil {
			return
		}
		again, err := ReadRecord(rec.AppendTo(nil))
		if err != nil || !reflect.DeepEqual(again, rec) {
			t.Fatalf("%x is\n%+v\nand is read back as\n%+v, %v", data, rec, again, err)
		}
	})
}

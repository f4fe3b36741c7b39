package intent

import (
	"fmt"
	"testing"
	"time"
)

func benchmarkRecord(b testing.TB, rows int) Record {
	b.Helper()
	rec := Record{}
	for n := range rows {
		var v Verdict
		if rec, v = Step(rec, call(n), Moment{Now: start}); v.Kind != Granted {
			b.Fatal(v.Kind)
		}
		rec, _ = Step(rec, Commit{Attempt: v.Attempt, Result: Result{Digest: "r"}}, Moment{Now: start})
	}
	return rec
}

func BenchmarkStep(b *testing.B) {
	at := Moment{Now: start.Add(time.Second)}
	one, many := benchmarkRecord(b, 1), benchmarkRecord(b, MaxRows-1)
	executing, _ := Step(Record{}, call(0), at)
	for _, c := range []struct {
		name string
		rec  Record
		cmd  Command
	}{
		{"unique", Record{}, call(0)},
		{"extend", executing, Extend{Attempt: "a0"}},
		{"commit", executing, Commit{Attempt: "a0", Result: Result{Digest: "r"}}},
		{"replay", one, Arrive{Attempt: "b", Fingerprint: "f0", Run: "r", Rule: usual()}},
		{"tick", one, Tick{}},
		{"replay of 255 rows", many, Arrive{Attempt: "b", Fingerprint: "f0", Run: "r", Rule: usual()}},
		{"unique beside 255 rows", many, call(MaxRows)},
		{"tick of 255 rows", many, Tick{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Step(c.rec, c.cmd, at)
			}
		})
	}
}

func BenchmarkStoredForm(b *testing.B) {
	for _, rows := range []int{1, MaxRows - 1} {
		rec := benchmarkRecord(b, rows)
		data := rec.AppendTo(nil)
		b.Run(fmt.Sprintf("write %d rows", rows), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				data = rec.AppendTo(data[:0])
			}
			b.ReportMetric(float64(len(data)), "bytes")
		})
		b.Run(fmt.Sprintf("read %d rows", rows), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadRecord(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package wire

import "testing"

// A reserve of a 250-byte call, a commit of a 1 KiB reply and its replay: the lines of the hot path.
func BenchmarkLines(b *testing.B) {
	rule := DefaultRule()
	rule.Name, rule.WindowMS = "refunds", 2000
	reserve := Op{Kind: OpReserve, Attempt: "0123456789abcdef0123456789abcdef", Intent: intent1, Fingerprint: finger1,
		Run: "worker-a", Tool: "refund", Rule: &rule, NotAfter: 1767225605000,
		Action: []byte(`{"customer":"ada@example.com","amount":"$12.00","currency":"usd","reason":"the parcel came late, and the box was open","order":"o-778812","note":"as agreed on the phone","lines":[1,2,3]}`)}
	result := &Result{Status: 201, Headers: [][2]string{{"content-type", "application/json"}, {"location", "/refunds/7"}},
		Body: make([]byte, 1<<10)}
	commit := Op{Kind: OpCommit, Attempt: reserve.Attempt, Intent: intent1, Result: result}
	replay := Answer{Kind: AnswerReplay, Now: 1767225600000, Attempt: reserve.Attempt, Result: result}

	for _, c := range []struct {
		name  string
		write func([]byte) []byte
		read  func([]byte) error
	}{
		{"reserve", func(dst []byte) []byte { return AppendOp(dst, &reserve) }, readOp},
		{"commit", func(dst []byte) []byte { return AppendOp(dst, &commit) }, readOp},
		{"replay", func(dst []byte) []byte { return AppendAnswer(dst, &replay) },
			func(line []byte) error { _, err := ReadAnswer(line); return err }},
	} {
		line := c.write(nil)
		b.Run("write/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(line)))
			dst := make([]byte, 0, 4096)
			for b.Loop() {
				dst = c.write(dst[:0])
			}
		})
		b.Run("read/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if err := c.read(line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func readOp(line []byte) error { _, err := ReadOp(line); return err }

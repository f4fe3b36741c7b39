package canon_test

import (
	"strings"
	"testing"

	"idem/canon"
)

// refund is the body that the figures are about: 250 bytes, with something of everything.
const refund = `{"tool":"refund","runId":"worker-a","request_id":"8f14e45f-ceea","args":{"customer":"Ada@Example.com",` +
	`"amount":"$12.00","currency":"usd","order_id":"O-1234567","reason":"The parcel came late and was damaged",` +
	`"notify":true,"items":[{"sku":"A-1","qty":2}]}}`

// ofSize gives a refund with as many more items as make it so many bytes long.
func ofSize(size int) string {
	const item = `,{"sku":"B-7781","qty":3,"price":"19.90 EUR","note":"gift wrap, please","weight":1.250}`
	head, tail, _ := strings.Cut(refund, `]}}`)
	return head + strings.Repeat(item, max(0, size-len(refund))/len(item)) + "]}}" + tail
}

// BenchmarkRead reads a body of each size. In wasm, as the filter runs it, but on wazero instead of Envoy's engine:
//
//	go build -o /tmp/wazero github.com/tetratelabs/wazero/cmd/wazero
//	GOOS=wasip1 GOARCH=wasm go test -run '^$' -bench Read -exec '/tmp/wazero run' ./canon
//
// The best of three runs each, on two busy cores of an AMD EPYC, Go 1.26.8, December 2026:
//
//	         native    wasm
//	250 B    3.8 µs    44 µs
//	2 KB     20 µs     263 µs
//	200 KB   1.8 ms    32 ms
func BenchmarkRead(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"250B", 250}, {"2KB", 2 << 10}, {"200KB", 200 << 10}} {
		b.Run(size.name, func(b *testing.B) {
			reader, err := canon.New(canon.Settings{Rule: "refunds"}, canon.Key{Secret: []byte("a key of the deployment")})
			if err != nil {
				b.Fatal(err)
			}
			json, bearer := []string{"application/json"}, []string{"Bearer 0123456789abcdef"}
			call := canon.Call{Method: "POST", Host: "tools.example", Path: "/api/invoke", Body: []byte(ofSize(size.bytes)),
				Header: func(name string) []string {
					switch name {
					case "content-type":
						return json
					case "authorization":
						return bearer
					}
					return nil
				}}
			b.SetBytes(int64(len(call.Body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := reader.Read(call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkShapes reads the bodies that take the most time for their size.
func BenchmarkShapes(b *testing.B) {
	for _, s := range shapes() {
		b.Run(s.name, func(b *testing.B) {
			reader, err := canon.New(s.settings, canon.Key{Secret: []byte("a key of the deployment")})
			if err != nil {
				b.Fatal(err)
			}
			call := s.call(1 << 18)
			b.SetBytes(int64(len(call.Body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := reader.Read(call); (err != nil) != s.refused {
					b.Fatal(err)
				}
			}
		})
	}
}

package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"

	"idem/ledgerd/wire"
)

// resultFormat is the first byte of a stored result: the version of what follows, which is the intent, the status, the
// headers, each text with its length before it, and then the body as it is.
const resultFormat = '1'

// storedResult is a tool's reply with the record that it belongs to. The record remembers a digest of the bytes, the
// intent among them, and nobody is given bytes with another digest: so nobody gets another call's result because a
// store, or a filter that gave two calls one attempt id, mixed them up.
type storedResult struct {
	intent string
	wire.Result
}

func encodeResult(intent string, r *wire.Result) []byte {
	size := 64 + len(intent) + len(r.Body)
	for _, h := range r.Headers {
		size += len(h[0]) + len(h[1]) + 10
	}
	b := make([]byte, 0, size)
	b = append(b, resultFormat)
	b = appendSized(b, intent)
	b = binary.AppendUvarint(b, uint64(r.Status))
	b = binary.AppendUvarint(b, uint64(len(r.Headers)))
	for _, h := range r.Headers {
		b = appendSized(appendSized(b, h[0]), h[1])
	}
	return append(b, r.Body...)
}

var errResultFormat = errors.New("ledger: a stored result cannot be read")

func decodeResult(b []byte) (*storedResult, error) {
	if len(b) == 0 || b[0] != resultFormat {
		return nil, errResultFormat
	}
	p := sized{rest: b[1:]}
	r := &storedResult{intent: p.text()}
	r.Status = int(p.number())
	for n := p.number(); n > 0 && !p.bad; n-- {
		r.Headers = append(r.Headers, [2]string{p.text(), p.text()})
	}
	if p.bad {
		return nil, errResultFormat
	}
	if len(p.rest) > 0 {
		r.Body = p.rest
	}
	return r, nil
}

// digest is what a record remembers of a result's bytes.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func appendSized(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// sized reads what appendSized wrote. Once something is cut short everything is.
type sized struct {
	rest []byte
	bad  bool
}

func (p *sized) number() uint64 {
	n, size := binary.Uvarint(p.rest)
	if size <= 0 {
		p.bad, p.rest = true, nil
		return 0
	}
	p.rest = p.rest[size:]
	return n
}

func (p *sized) signed() int64 {
	n, size := binary.Varint(p.rest)
	if size <= 0 {
		p.bad, p.rest = true, nil
		return 0
	}
	p.rest = p.rest[size:]
	return n
}

func (p *sized) text() string {
	n := p.number()
	if p.bad || n > uint64(len(p.rest)) {
		p.bad, p.rest = true, nil
		return ""
	}
	s := string(p.rest[:n])
	p.rest = p.rest[n:]
	return s
}

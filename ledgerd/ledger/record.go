package ledger

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"idem/ledgerd/intent"
)

// recordFormat is the first byte of a stored record: the version of what follows, which is the token of the write, the
// limits (how many, then each attempt and number), and the record in the machine's own form.
const recordFormat = '1'

// tokenSize is the length of the token that follows the format: it names the write, so that whoever does not know
// whether his write took effect can see it in what he reads.
const tokenSize = 24

// entry is a record as it was read or written. It is never changed: a decision makes a new one.
type entry struct {
	key     string
	version uint64 // 0: there is no such record
	token   string // of the write that made it
	content
}

// content is what a record's bytes hold after format and token.
type content struct {
	Record intent.Record
	// Limits has max_result_bytes of live attempts whose rule does not have the default: the machine does not know
	// about bytes.
	Limits map[string]int64
}

// scratch is where records are written before it is known how long they are.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// mostScratch is how large a piece of scratch may be to be used again.
const mostScratch = 256 << 10

func encodeRecord(token string, c *content) []byte {
	p := scratch.Get().(*[]byte)
	b := append(append((*p)[:0], recordFormat), token...)
	b = binary.AppendUvarint(b, uint64(len(c.Limits)))
	for attempt, limit := range c.Limits {
		b = binary.AppendVarint(appendSized(b, attempt), limit)
	}
	b = c.Record.AppendTo(b)
	data := bytes.Clone(b)
	if cap(b) <= mostScratch {
		*p = b
		scratch.Put(p)
	}
	return data
}

var errRecord = errors.New("it is cut short")

func decodeRecord(key string, version uint64, data []byte) (*entry, error) {
	if len(data) < 1+tokenSize || data[0] != recordFormat {
		return nil, fmt.Errorf("ledger: record %s has a format that this ledgerd does not know, want version %c", key, recordFormat)
	}
	e := &entry{key: key, version: version, token: string(data[1 : 1+tokenSize])}
	p := sized{rest: data[1+tokenSize:]}
	for n := p.number(); n > 0 && !p.bad; n-- {
		if e.Limits == nil {
			e.Limits = map[string]int64{}
		}
		attempt := p.text()
		e.Limits[attempt] = p.signed()
	}
	var err error
	if e.Record, err = intent.ReadRecord(p.rest); err != nil || p.bad {
		return nil, fmt.Errorf("ledger: record %s cannot be read: %w", key, cmp.Or(err, errRecord))
	}
	return e, nil
}

// moment turns Unix milliseconds into a moment; 0 is none.
func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// unixMS turns a moment into Unix milliseconds; none is 0.
func unixMS(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

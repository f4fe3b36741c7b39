package ledger

import (
	"context"
	"encoding/base64"
	"sync/atomic"
	"unicode/utf8"

	"idem/ledgerd/wire"
)

// replyBytes is how much of stored results, as they are on the wire, one reply carries: a third of the 32 MB that Envoy
// takes from a reply. What is over has to be fetched by calls of its own.
const replyBytes = 10 << 20

// room is what is left for results in a reply.
type room struct{ taken atomic.Int64 }

type roomKey struct{}

// OneReply says that what is answered under this context goes into one reply, be it asked for by several calls of Do.
func OneReply(ctx context.Context) context.Context {
	if _, ok := ctx.Value(roomKey{}).(*room); ok {
		return ctx
	}
	return context.WithValue(ctx, roomKey{}, &room{})
}

// fits takes room for a result in the reply that is made under ctx, if there is enough left. One result always fits.
func fits(ctx context.Context, r *wire.Result) bool {
	rm, ok := ctx.Value(roomKey{}).(*room)
	if !ok {
		return true
	}
	n := encodedSize(r)
	for {
		taken := rm.taken.Load()
		if taken > 0 && taken+n > replyBytes {
			return false
		}
		if rm.taken.CompareAndSwap(taken, taken+n) {
			return true
		}
	}
}

// resultSize is how large a result is: its headers and its body.
func resultSize(r *wire.Result) int64 {
	n := len(r.Body)
	for _, h := range r.Headers {
		n += len(h[0]) + len(h[1])
	}
	return int64(n)
}

// encodedSize is at least what a result takes in an answer's line: its body in base64, its headers as JSON strings or,
// where they are not UTF-8, in base64.
func encodedSize(r *wire.Result) int64 {
	const members, pair = 64, 16
	n := members + base64.StdEncoding.EncodedLen(len(r.Body))
	for _, h := range r.Headers {
		n += pair + quotedSize(h[0])
		if utf8.ValidString(h[1]) {
			n += quotedSize(h[1])
		} else {
			n += base64.StdEncoding.EncodedLen(len(h[1]))
		}
	}
	return int64(n)
}

func quotedSize(s string) int {
	n := len(s) + 2
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ':
			n += 5
		case c == '"', c == '\\':
			n++
		case c >= utf8.RuneSelf:
			n += 2 // what is not UTF-8 is written as U+FFFD
		}
	}
	return n
}

package redis

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"time"

	"idem/ledgerd/store"
)

// layout is the version of what this file describes. A server that has another one is refused.
const layout = "1"

// shards is how many parts the store has. All of a part's keys have one hash tag, so they share a slot and a script may
// change them together. Each part has a fixed number of keys, whatever it holds, so that it can be emptied at once.
const shards = 16

// part names the keys of one shard.
type part struct {
	meta    string // hash: id of the store, layout, version (the last given), now (the greatest decided by, Unix µs)
	records string // hash: key → version, now, due, entries, data (see appendTail)
	results string // hash: attempt → bytes
	created string // sorted set: key, by the version that it was created with
	due     string // sorted set, all scores 0: moment, key
	holds   named
	doubts  named

	script []string // all of them, in the order in which the scripts have them
}

// named is an index whose entries have ids.
type named struct {
	byTime string // sorted set, all scores 0: moment, key, id
	byID   string // hash: id → key, moment, version of the write
}

// tags has a hash tag for each shard. Their slots lie in the middle of equal parts of all slots, so that masters that
// have equal parts of the slots have equal parts of the shards, however many there are.
var tags = func() (list [shards]string) {
	const width = slots / shards
	for n, left := 0, shards; left > 0; n++ {
		tag := strconv.Itoa(n)
		at := slot(tag)
		if i, off := at/width, at%width-width/2; list[i] == "" && -width/16 < off && off < width/16 {
			list[i] = tag
			left--
		}
	}
	return list
}()

// parts names the keys of all shards under a prefix.
func parts(prefix string) (list [shards]part) {
	for i, tag := range tags {
		key := func(name string) string { return prefix + ":{" + tag + "}:" + name }
		list[i] = part{
			meta: key("meta"), records: key("records"), results: key("results"), created: key("created"), due: key("due"),
			holds:  named{byTime: key("holds"), byID: key("holds:id")},
			doubts: named{byTime: key("doubts"), byID: key("doubts:id")},
		}
		p := &list[i]
		p.script = []string{
			p.meta, p.records, p.results, p.created, p.due, p.holds.byTime, p.holds.byID, p.doubts.byTime, p.doubts.byID,
		}
	}
	return list
}

// named gives an index whose entries have ids.
func (p *part) named(index store.Index) (named, bool) {
	switch index {
	case store.Holds:
		return p.holds, true
	case store.Doubts:
		return p.doubts, true
	}
	return named{}, false
}

// byTime gives the sorted set of an index; empty where there is no such index.
func (p *part) byTime(index store.Index) string {
	if index == store.Due {
		return p.due
	}
	n, _ := p.named(index)
	return n.byTime
}

// packed is a record's key as the server has it: the 32 bytes that its 64 hex digits spell.
type packed string

const packedSize = 32

// pack gives the short form of a key; false where it is not 64 hex digits in lower case.
func pack(key string) (packed, bool) {
	if len(key) != 2*packedSize {
		return "", false
	}
	var b [packedSize]byte
	if _, err := hex.Decode(b[:], []byte(key)); err != nil {
		return "", false
	}
	p := packed(b[:])
	return p, p.unpack() == key
}

func (p packed) unpack() string { return hex.EncodeToString([]byte(p)) }

// shard gives the part that a record is in. Keys are digests, so their first bits spread evenly.
func (p packed) shard() int { return int(p[0]) * shards / 256 }

// never is the due moment of a record that has none.
const never = math.MaxInt64

// order gives a moment as 8 bytes that sort as the moments do.
func order(us int64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(us)^1<<63)
	return string(b[:])
}

// moment is the inverse of order.
func moment(b string) time.Time {
	return time.UnixMicro(int64(binary.BigEndian.Uint64([]byte(b)) ^ 1<<63)).UTC()
}

// appendTail appends a record as the server has it, without the version that the script puts in front of it:
//
//	version 8 | now 8 | due 8 | number of named entries 2 | entries | data
//
// An entry is the first letter of its index, its moment (8), the length of its id (2), its id.
func appendTail(b []byte, w *store.Write) []byte {
	due, count := int64(never), 0
	for i := range w.Entries {
		if w.Entries[i].Index == store.Due {
			due = w.Entries[i].At.UnixMicro()
		} else {
			count++
		}
	}
	b = append(b, order(store.CeilMicro(w.Now))...)
	b = append(b, order(due)...)
	b = binary.BigEndian.AppendUint16(b, uint16(count))
	for i := range w.Entries {
		if e := &w.Entries[i]; e.Index != store.Due {
			b = append(b, e.Index[0])
			b = append(b, order(e.At.UnixMicro())...)
			b = binary.BigEndian.AppendUint16(b, uint16(len(e.ID)))
			b = append(b, e.ID...)
		}
	}
	return append(b, w.Data...)
}

// headSize is where the entries begin in a record.
const headSize = 8 + 8 + 8 + 2

// content is what a record says.
type content struct {
	version uint64
	now     time.Time // the moment that its last write was decided by; zero where it had none
	data    []byte
}

func parseContent(b string) (c content, err error) {
	if len(b) < headSize {
		return c, fmt.Errorf("it has %d bytes, fewer than a record's head", len(b))
	}
	c.version = binary.BigEndian.Uint64([]byte(b[:8]))
	c.now = moment(b[8:16])
	at := headSize
	for range binary.BigEndian.Uint16([]byte(b[24:26])) {
		const fixed = 1 + 8 + 2
		if len(b) < at+fixed {
			return c, fmt.Errorf("its entries end in the middle, after %d bytes", len(b))
		}
		at += fixed + int(binary.BigEndian.Uint16([]byte(b[at+9:at+fixed])))
	}
	if len(b) < at {
		return c, fmt.Errorf("its entries end in the middle, after %d bytes", len(b))
	}
	c.data = []byte(b[at:])
	return c, nil
}

// parseMember reads what stands in the sorted set of an index.
func parseMember(index store.Index, m string) (store.Entry, error) {
	if len(m) < 8+packedSize {
		return store.Entry{}, fmt.Errorf("an entry of %s has %d bytes, want at least %d", index, len(m), 8+packedSize)
	}
	return store.Entry{Index: index, At: moment(m[:8]), Key: packed(m[8 : 8+packedSize]).unpack(), ID: m[8+packedSize:]}, nil
}

package wasmhost

import (
	"encoding/binary"
	"strings"
)

// Headers are names and values in their order; pseudo-headers (":path") are among them. Names are lower case.
type Headers [][2]string

// Get gives the first value of a name; empty: there is none.
func (h Headers) Get(name string) string {
	value, _ := h.lookup(name)
	return value
}

// Values gives every value of a name.
func (h Headers) Values(name string) []string {
	var values []string
	for _, p := range h {
		if p[0] == strings.ToLower(name) {
			values = append(values, p[1])
		}
	}
	return values
}

func (h Headers) lookup(name string) (string, bool) {
	for _, p := range h {
		if p[0] == strings.ToLower(name) {
			return p[1], true
		}
	}
	return "", false
}

func (h *Headers) add(name, value string) { *h = append(*h, [2]string{strings.ToLower(name), value}) }

// set replaces the first value of a name, where it stands, and removes the others.
func (h *Headers) set(name, value string) {
	name = strings.ToLower(name)
	done := false
	kept := (*h)[:0]
	for _, p := range *h {
		if p[0] != name {
			kept = append(kept, p)
		} else if !done {
			kept = append(kept, [2]string{name, value})
			done = true
		}
	}
	if !done {
		kept = append(kept, [2]string{name, value})
	}
	*h = kept
}

func (h *Headers) remove(name string) {
	kept := (*h)[:0]
	for _, p := range *h {
		if p[0] != strings.ToLower(name) {
			kept = append(kept, p)
		}
	}
	*h = kept
}

func (h Headers) clone() Headers {
	out := make(Headers, 0, len(h))
	for _, p := range h {
		out.add(p[0], p[1])
	}
	return out
}

// marshalPairs writes the ABI's form of a map: a count, the sizes of every name and value, then each of them with a
// zero byte after it. Integers are four bytes, little-endian.
func marshalPairs(pairs Headers) []byte {
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(pairs)))
	for _, p := range pairs {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(p[0])))
		out = binary.LittleEndian.AppendUint32(out, uint32(len(p[1])))
	}
	for _, p := range pairs {
		out = append(append(out, p[0]...), 0)
		out = append(append(out, p[1]...), 0)
	}
	return out
}

// unmarshalPairs reads what marshalPairs writes; ok is false where the bytes are something else.
func unmarshalPairs(b []byte) (pairs Headers, ok bool) {
	if len(b) == 0 {
		return nil, true
	}
	if len(b) < 4 {
		return nil, false
	}
	n := int(binary.LittleEndian.Uint32(b))
	if n < 0 || n > len(b)/8 {
		return nil, false
	}
	sizes, rest := b[4:4+8*n], b[4+8*n:]
	take := func(i int) (string, bool) {
		size := int(binary.LittleEndian.Uint32(sizes[4*i:]))
		if size >= len(rest) || rest[size] != 0 {
			return "", false
		}
		text := string(rest[:size])
		rest = rest[size+1:]
		return text, true
	}
	for i := range n {
		name, ok1 := take(2 * i)
		value, ok2 := take(2*i + 1)
		if !ok1 || !ok2 {
			return nil, false
		}
		pairs.add(name, value)
	}
	return pairs, true
}

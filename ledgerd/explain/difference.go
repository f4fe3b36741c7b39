package explain

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Written is one place where two calls are written differently, with what stands there, as JSON texts. A side that has
// nothing there is empty.
type Written struct {
	Pointer string `json:"pointer"`
	A       string `json:"a,omitempty"`
	B       string `json:"b,omitempty"`
}

// Differences compares two JSON texts as they are written, without any reading of what counts, member by member in the
// order of the names. It goes into objects and arrays that both have and names the smallest parts that differ. A text
// that is not JSON differs as a whole.
func Differences(a, b []byte) []Written {
	x, okA := decode(a)
	y, okB := decode(b)
	if !okA || !okB {
		if bytes.Equal(a, b) {
			return []Written{}
		}
		return []Written{{A: string(a), B: string(b)}}
	}
	return differ([]Written{}, "", x, y)
}

// absent stands for what one side does not have; null is a value.
type absent struct{}

func differ(found []Written, at string, a, b any) []Written {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			for _, name := range names(x, y) {
				found = differ(found, at+"/"+escape(name), member(x, name), member(y, name))
			}
			return found
		}
	case []any:
		if y, ok := b.([]any); ok {
			for i := range max(len(x), len(y)) {
				found = differ(found, at+"/"+strconv.Itoa(i), item(x, i), item(y, i))
			}
			return found
		}
	}
	left, right := encode(a), encode(b)
	if left == right {
		return found
	}
	return append(found, Written{Pointer: at, A: left, B: right})
}

func names(a, b map[string]any) []string {
	var all []string
	for name := range a {
		all = append(all, name)
	}
	for name := range b {
		if _, both := a[name]; !both {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

func member(o map[string]any, name string) any {
	if v, ok := o[name]; ok {
		return v
	}
	return absent{}
}

func item(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return absent{}
}

// decode keeps numbers as they are written: two spellings of a number differ here.
func decode(text []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, false
	}
	return v, true
}

func encode(v any) string {
	if _, none := v.(absent); none {
		return ""
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // what was decoded can be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

// escape is RFC 6901 section 3.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

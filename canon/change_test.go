package canon_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"idem/canon"
)

// FuzzChangedValue changes one thing that counts: a value, a letter's case, the order of an array, null for nothing or
// nothing for null. That is always another call.
func FuzzChangedValue(f *testing.F) {
	seedBodies(f, func(body []byte) {
		for seed := range uint64(8) {
			f.Add(body, seed)
		}
	})
	c := reader(f, canon.Settings{})
	f.Fuzz(func(t *testing.T, body []byte, seed uint64) {
		a, err := c.Explain(post("", "/cases/pay_out", string(body)))
		if err != nil || len(a.Changes) > 1000 {
			return
		}
		v := decoded(t, body)
		all := changesOf(v, a.Changes)
		if len(all) == 0 {
			return
		}
		change := all[rand.New(rand.NewPCG(seed, 3)).IntN(len(all))]
		v = change.make()
		other, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b, err := c.Read(post("", "/cases/pay_out", string(other)))
		if err == nil && a.Fingerprint == b.Fingerprint {
			t.Fatalf("%q\n%s: %q\nis the same call", body, change.what, other)
		}
	})
}

// TestTheFuzzerMakesEveryKindOfChange keeps FuzzChangedValue from passing because it changes nothing.
func TestTheFuzzerMakesEveryKindOfChange(t *testing.T) {
	c, made := reader(t, canon.Settings{}), map[string]int{}
	seedBodies(t, func(body []byte) {
		a, err := c.Explain(post("", "/cases/pay_out", string(body)))
		if err != nil {
			return
		}
		for n, many := 0, 1; n < many; n++ { // each made to a fresh copy
			all := changesOf(decoded(t, body), a.Changes)
			if many = len(all); many == 0 {
				return
			}
			other, err := json.Marshal(all[n].make())
			if err != nil {
				t.Fatal(err)
			}
			kind, _, _ := strings.Cut(all[n].what, " at ")
			made[kind]++
			if b, err := c.Read(post("", "/cases/pay_out", string(other))); err == nil && a.Fingerprint == b.Fingerprint {
				t.Errorf("%s\n%s: %s\nis the same call", body, all[n].what, other)
			}
		}
	})
	for _, kind := range []string{"another value", "a letter's case", "another order", "null dropped", "null added"} {
		if made[kind] < 10 {
			t.Errorf("%s: made %d times", kind, made[kind])
		}
	}
}

// change is one that can be made to a document, once.
type change struct {
	what string
	make func() any
}

// changer collects the changes that a document can have.
type changer struct {
	root    any
	dropped map[string]bool // what does not count, by pointer
	read    map[string]bool // what has another form than the one that is written
	all     []change
}

// changesOf gives the changes that count of a document, in an order that does not change from run to run. What the
// reading did to it says where values do not count, or count in another form than they are written.
func changesOf(root any, done []canon.Change) []change {
	x := changer{root: root, dropped: map[string]bool{}, read: map[string]bool{}}
	for _, change := range done {
		if change.To == "" && change.Rule != "currency" {
			x.dropped[change.Pointer] = true
		}
		if change.Rule != "key_order" && change.From != change.To {
			x.read[change.Pointer] = true
		}
	}
	x.walk(root, "", func(v any) { x.root = v })
	return x.all
}

func (x *changer) add(what, at string, do func()) {
	x.all = append(x.all, change{what + " at " + strconv.Quote(at), func() any { do(); return x.root }})
}

// walk collects the changes of a value at a pointer; set puts another value in its place.
func (x *changer) walk(v any, at string, set func(any)) {
	if x.dropped[at] {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			below := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			if v[name] == nil && !x.dropped[below] {
				x.add("null dropped", below, func() { delete(v, name) })
			}
			x.walk(v[name], below, func(other any) { v[name] = other })
		}
		if _, there := v["zz"]; !there {
			x.add("null added", at, func() { v["zz"] = nil })
		}
	case []any:
		for n := range v {
			x.walk(v[n], at+"/"+strconv.Itoa(n), func(other any) { v[n] = other })
			if n > 0 && !x.readIn(at, n-1) && !x.readIn(at, n) && differ(v[n-1], v[n]) {
				x.add("another order", at, func() { v[n-1], v[n] = v[n], v[n-1] })
			}
		}
	case string:
		x.add("another value", at, func() { set(v + "x") })
		letter := strings.IndexFunc(v, func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' })
		if letter >= 0 && !x.read[at] && !strings.Contains(v, "@") {
			x.add("a letter's case", at, func() { set(v[:letter] + string(v[letter]^0x20) + v[letter+1:]) })
		}
	case json.Number:
		if mantissa := strings.ToLower(string(v)); strings.ContainsAny(mantissa, "123456789") && !strings.Contains(mantissa, "e") {
			x.add("another value", at, func() { set(v + "1") })
		}
	case bool:
		x.add("another value", at, func() { set(!v) })
	case nil:
		x.add("another value", at, func() { set(false) })
	}
}

// readIn tells whether anything in an element of an array does not count as it is written.
func (x *changer) readIn(at string, n int) bool {
	at += "/" + strconv.Itoa(n)
	for pointer := range x.read {
		if pointer == at || strings.HasPrefix(pointer, at+"/") {
			return true
		}
	}
	return false
}

// differ tells whether two values that count as they are written are surely two.
func differ(a, b any) bool {
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		return !ok || a != b
	case json.Number:
		_, ok := b.(json.Number) // 1 and 1.0 are one
		return !ok
	case bool:
		b, ok := b.(bool)
		return !ok || a != b
	case nil:
		return b != nil
	case []any:
		b, ok := b.([]any)
		return !ok || len(a) != len(b)
	case map[string]any:
		_, ok := b.(map[string]any)
		return !ok
	}
	return false
}

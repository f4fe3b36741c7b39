package canon

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Difference is one place where two calls are written differently.
type Difference struct {
	Pointer string // into the canonical form: /args/amount
	A, B    string // what stands there, abbreviated to where the two part; empty: nothing
	Counts  bool   // it makes two calls of them: the canonical forms differ here
	Why     string // one sentence
}

// Compare says by pointer why two calls are or are not one: first where their canonical forms differ, then what is
// written differently and does not count. Both actions come from Explain. Two equal calls, written alike, give nothing.
func Compare(a, b Action) []Difference {
	const deepest = MaxDepth + 8 // the canonical form is a little deeper than the body
	var c comparison
	c.a.ours, c.b.ours = true, true
	if c.a.readJSON(a.Canonical, deepest) != nil || c.b.readJSON(b.Canonical, deepest) != nil {
		return nil
	}
	c.values(0, 0)
	counting := len(c.found)
	rawA, rawB := whyAsWritten(&a), whyAsWritten(&b)
	for n := range c.found {
		d := &c.found[n]
		d.Why = cmp.Or(rawA[d.Pointer], rawB[d.Pointer], d.Why)
	}
	x, y := writing{Action: &a}, writing{Action: &b}
	x.read()
	y.read()
	for _, p := range changedPointers(a, b) {
		if !c.covers(p, counting) {
			c.written(&x, &y, p)
		}
	}
	return c.found
}

// comparison walks through two canonical forms side by side.
type comparison struct {
	a, b  tree
	path  []byte
	found []Difference
}

func (c *comparison) add(a, b string, counts bool, why string) {
	if len(c.found) < mostChanges {
		a, b = parted(a, b)
		c.found = append(c.found, Difference{string(c.path), a, b, counts, why})
	}
}

// parted abbreviates two texts so that what is shown of long ones has the place where they part.
func parted(a, b string) (string, string) {
	const before = 20 // bytes, at least, of what is the same in front of that place
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	if same <= abbreviation-before || len(a) <= abbreviation && len(b) <= abbreviation {
		return abbreviated(a), abbreviated(b)
	}
	from := same - before
	for from > 0 && !utf8.RuneStart(a[from]) {
		from--
	}
	return "…" + abbreviated(a[from:]), "…" + abbreviated(b[from:])
}

// values compares a value of each; -1 is nothing.
func (c *comparison) values(i, j int32) {
	if i >= 0 && j >= 0 {
		v, w := &c.a.values[i], &c.b.values[j]
		if c.a.body[v.off:v.end] == c.b.body[w.off:w.end] {
			return
		}
		switch {
		case v.kind == '{' && w.kind == '{':
			c.members(i, j)
			return
		case v.kind == '[' && w.kind == '[':
			c.elements(i, j)
			return
		}
	}
	c.add(textOf(&c.a, i), textOf(&c.b, j), true, c.whyCounts(i, j))
}

// members merges the members of two objects, which are both sorted.
func (c *comparison) members(i, j int32) {
	x, y := i+1, j+1
	for x < c.a.values[i].next || y < c.b.values[j].next {
		var order int // which of the two has the next name, 0: both
		switch {
		case x >= c.a.values[i].next:
			order = 1
		case y >= c.b.values[j].next:
			order = -1
		default:
			order = compareUTF16(c.a.values[x].name, c.b.values[y].name)
		}
		p, q := int32(-1), int32(-1)
		if order <= 0 {
			p, x = x, c.a.values[x].next
		}
		if order >= 0 {
			q, y = y, c.b.values[y].next
		}
		if p >= 0 {
			c.enter(c.a.values[p].name, p, q)
		} else {
			c.enter(c.b.values[q].name, p, q)
		}
	}
}

func (c *comparison) elements(i, j int32) {
	x, y := i+1, j+1
	for n := 0; x < c.a.values[i].next || y < c.b.values[j].next; n++ {
		p, q := int32(-1), int32(-1)
		if x < c.a.values[i].next {
			p, x = x, c.a.values[x].next
		}
		if y < c.b.values[j].next {
			q, y = y, c.b.values[y].next
		}
		c.enter(itoa(n), p, q)
	}
}

func (c *comparison) enter(token string, i, j int32) {
	length := len(c.path)
	c.path = append(append(c.path, '/'), escapeToken(token)...)
	c.values(i, j)
	c.path = c.path[:length]
}

func (c *comparison) whyCounts(i, j int32) string {
	part, _, _ := strings.Cut(string(c.path[1:]), "/")
	switch part {
	case "endpoint":
		return "another endpoint or tool is called"
	case "for":
		return "it is called for somebody else"
	case "form":
		return "the fields of a list stand in another order, which says what element each belongs to"
	case "key":
		return "the fingerprints are made under two keys"
	case "scope":
		return "somebody else calls: the credentials differ"
	case "settings":
		return "the two are read by rules with different settings"
	case "version":
		return "the two are read by different versions of the canonical form"
	}
	switch {
	case i < 0 || j < 0:
		return "only one of the two has it, and absent is not null"
	case c.a.values[i].kind != c.b.values[j].kind:
		return "the values are of two types, which are never equal"
	case c.a.values[i].kind == '"':
		return "the texts differ: letter case, white space and Unicode form count"
	}
	return "the values differ"
}

// whyAsWritten says by pointer into the canonical form why a call has values as they are written, where one expects that
// they would be read or left out.
func whyAsWritten(a *Action) map[string]string {
	why := map[string]string{}
	for n := range a.Changes {
		switch change := &a.Changes[n]; change.Rule {
		case ruleMoneyRaw, ruleEmailRaw, ruleVolatileKept:
			why[a.canonicalPointer(change.Pointer)] = change.Why
		}
	}
	return why
}

// covers says whether a difference that counts was found at, above or below a pointer.
func (c *comparison) covers(pointer string, counting int) bool {
	for _, d := range c.found[:counting] {
		if d.Pointer == pointer || strings.HasPrefix(d.Pointer, pointer+"/") || strings.HasPrefix(pointer, d.Pointer+"/") {
			return true
		}
	}
	return false
}

// written adds what the bodies say at a place whose canonical forms are equal, if they say it differently.
func (c *comparison) written(x, y *writing, pointer string) {
	a, whyA := x.at(pointer)
	b, whyB := y.at(pointer)
	if a != b {
		c.path = append(c.path[:0], pointer...)
		c.add(a, b, false, cmp.Or(whyA, whyB))
	}
}

// changedPointers gives where either call was changed, as pointers into the canonical form.
func changedPointers(a, b Action) (pointers []string) {
	for _, action := range []*Action{&a, &b} {
		for n := range action.Changes {
			switch change := &action.Changes[n]; change.Rule {
			case ruleKeyOrder, ruleForm, ruleEndpoint, ruleIdentity, ruleMore, ruleVolatileKept, ruleMoneyRaw, ruleEmailRaw:
			default:
				pointers = append(pointers, action.canonicalPointer(change.Pointer))
			}
		}
	}
	slices.Sort(pointers)
	return slices.Compact(pointers)
}

// canonicalPointer turns a pointer into the body into one into the canonical form.
func (a *Action) canonicalPointer(pointer string) string {
	if rest, ok := strings.CutPrefix(pointer, a.argsAt); ok && a.hasArgs && (rest == "" || rest[0] == '/') {
		return "/args" + rest
	}
	if rest, ok := strings.CutPrefix(pointer, a.besideAt); ok && (rest == "" || rest[0] == '/') {
		return "/beside" + rest
	}
	return pointer
}

// writing is how an action's body was written.
type writing struct {
	*Action
	tree
	readable bool
}

func (w *writing) read() {
	w.readable = len(w.Action.body) > 0 && w.readJSON(w.Action.body, MaxDepth) == nil
}

// at gives what a body says at a pointer into the canonical form, and why that does not count, where it was changed.
func (w *writing) at(pointer string) (text, why string) {
	for n := range w.Changes {
		if change := &w.Changes[n]; w.canonicalPointer(change.Pointer) == pointer {
			return change.From, change.Why
		}
	}
	at := pointer
	if rest, ok := strings.CutPrefix(pointer, "/args"); ok {
		at = w.argsAt + rest
	} else if rest, ok = strings.CutPrefix(pointer, "/beside"); ok {
		at = w.besideAt + rest
	}
	p, ok := parsePointer(at)
	if !ok || !w.readable {
		return "", ""
	}
	return textOf(&w.tree, w.find(0, p)), ""
}

// textOf gives a value as it is written; -1 is nothing.
func textOf(t *tree, i int32) string {
	if i < 0 {
		return ""
	}
	return t.body[t.values[i].off:t.values[i].end]
}

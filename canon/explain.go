package canon

import (
	"slices"
	"strings"
	"unicode/utf8"

	"idem/canon/money"
)

// Change is one thing that the canonical form did to the call, and why.
type Change struct {
	Pointer string // into the body; of the endpoint's parts empty
	Rule    string // the rule's short name: volatile, money, email, number, currency, key_order, identity, …
	From    string // as written, abbreviated
	To      string // as it counts; empty: dropped
	Why     string // one sentence
}

// The short names of what the canonical form does.
const (
	ruleVolatile     = "volatile"      // dropped: made anew for every call
	ruleVolatileKept = "volatile_kept" // called like a volatile field, and kept
	ruleRun          = "run"           // names the run, which is never part of a fingerprint
	ruleMCP          = "mcp"           // of the JSON-RPC message, not of the call
	ruleMoney        = "money"         // an amount in its one form
	ruleMoneyRaw     = "money_raw"     // looks like an amount, and stays as it is written
	ruleCurrency     = "currency"      // taken in by the amount beside it
	ruleEmail        = "email"         // an address in its one form
	ruleEmailRaw     = "email_raw"     // is an address, and stays as it is written
	ruleNumber       = "number"        // a number in its one form
	ruleEscape       = "escape"        // a string without the escapes that it does not need
	ruleKeyOrder     = "key_order"     // names sorted
	ruleIdentity     = "identity"      // only what the rule lists counts
	ruleForm         = "form"          // a form as an object of strings
	ruleEndpoint     = "endpoint"      // host, path or query in their one form
	ruleMore         = "more"          // there are more changes than are listed
)

// mostChanges bounds an explanation: people read it.
const mostChanges = 1000

// explanation collects the changes of one call while it walks through the body.
type explanation struct {
	*reading
	changes []Change
	path    []byte // the pointer to where it is
}

// explain lists what was done to the call, in the order of the body.
func (r *reading) explain(call *Call) []Change {
	x := &explanation{reading: r}
	host, query, path := hostName(call.Host), "", call.Path
	if at := strings.IndexByte(path, '?'); at >= 0 {
		path, query = path[:at], path[at+1:]
	}
	x.endpoint(call.Host, host, "in a host's name letter case, a dot at the end and the usual port mean nothing")
	x.endpoint(path, r.target.path, "a percent escape has one form, and none where it is not needed")
	x.endpoint(query, r.target.query, "the query is sorted by name, its escapes have one form, and what the rule drops is left out")
	if len(r.values) == 0 {
		return x.changes
	}
	if r.rule.Protocol == Form {
		x.add(ruleForm, r.body, string(r.appendWritten(nil, 0)), "a form counts as an object of strings, a repeated name as an array")
	}
	at := top
	switch {
	case r.rule.Protocol == MCP:
		at = inner
	case r.beside == 0:
		at = beside
	}
	x.walk(0, at)
	return x.changes
}

func (x *explanation) endpoint(from, to, why string) {
	if from != to {
		x.add(ruleEndpoint, from, to, why)
	}
}

// add adds a change where the walk is.
func (x *explanation) add(rule, from, to, why string) {
	switch {
	case len(x.changes) == mostChanges:
		x.changes = append(x.changes, Change{Rule: ruleMore, Why: "there are more changes than are listed"})
	case len(x.changes) < mostChanges:
		x.changes = append(x.changes, Change{string(x.path), rule, abbreviated(from), abbreviated(to), why})
	}
}

// written gives a value as it stands in the body.
func (x *explanation) written(v *value) string {
	return x.body[v.off:v.end]
}

// walk lists the changes of a value at a place, and of all in it.
func (x *explanation) walk(i int32, at place) {
	v := &x.values[i]
	switch i {
	case x.args:
		at = top
		if x.rule.Protocol == MCP {
			at = inMCP
		}
		if len(x.rule.identity) > 0 {
			x.identity(v)
		}
	case x.beside:
		at = beside
	}
	switch {
	case v.money > 0:
		x.money(v)
		if v.kind != '{' {
			return
		}
	case v.reason > money.Read:
		rule := ruleMoneyRaw
		if v.kind == '"' && emailAt(v.text) >= 0 {
			rule = ruleEmailRaw
		}
		x.add(rule, x.written(v), x.written(v), x.whyRaw(v))
	case v.kind == '"' && v.verbatim:
		x.verbatim(v)
	}
	switch v.kind {
	case '{':
		x.object(i, at)
	case '[':
		n := 0
		for c := i + 1; c < v.next; c = x.values[c].next {
			x.enter(itoa(n), func() { x.walk(c, at.into(unknown)) })
			n++
		}
	case '"':
		x.text(v)
	case '0':
		if to := string(appendNumber(nil, v.text)); to != v.text {
			x.add(ruleNumber, v.text, to, "numbers are compared as exact decimals, however they are written")
		}
	}
}

// enter does something one reference token further down.
func (x *explanation) enter(token string, do func()) {
	length := len(x.path)
	x.path = append(append(x.path, '/'), escapeToken(token)...)
	do()
	x.path = x.path[:length]
}

// object lists what was done to the members of an object, and to their order.
func (x *explanation) object(i int32, at place) {
	var written, sorted []string
	for c := i + 1; c < x.values[i].next; c = x.values[c].next {
		m := &x.values[c]
		if m.gone == counts {
			written = append(written, m.canonicalName())
		}
		x.enter(m.name, func() { x.member(i, c, at) })
	}
	if x.rule.Protocol == MCP && i == 0 {
		return // only params count of a JSON-RPC message
	}
	if sorted = slices.Clone(written); !slices.IsSortedFunc(sorted, compareUTF16) {
		slices.SortFunc(sorted, compareUTF16)
		x.add(ruleKeyOrder, strings.Join(written, ", "), strings.Join(sorted, ", "), "the order of names means nothing: they are sorted")
	}
}

func (x *explanation) member(parent, c int32, at place) {
	m := &x.values[c]
	from := x.written(m)
	switch m.gone {
	case volatile:
		why := "a field of this name is made anew for every call"
		if _, ruled := x.rule.ruled(m.name); ruled {
			why = "the rule drops this name"
		} else if m.known == bag {
			why = "nothing but volatile fields is in it"
		}
		x.add(ruleVolatile, from, "", why)
		return
	case taken:
		switch {
		case m.known != currencyName:
		case slices.Contains(x.listed, c) && !x.isCovered(c):
			x.add(ruleCurrency, from, quoted(codeOf(m)), "the rule's identity lists it and no amount beside it, so it counts by "+
				"itself, in upper case")
		default:
			x.add(ruleCurrency, from, "", "the amount beside it has taken it in")
		}
		return
	case apart:
		if x.isRun(c) {
			x.add(ruleRun, from, "", "it names the run, which is new for every re-plan")
			return
		}
		if m.name == "_meta" && parent == x.beside {
			x.add(ruleMCP, from, "", "_meta says something about the message, not about the call")
			return
		}
	case counts:
		if x.rule.Protocol == MCP && parent == 0 && m.name == "id" {
			x.add(ruleMCP, from, "", "a retry is a new JSON-RPC id")
			return
		}
		if why := x.whyKept(m, parent, at); why != "" {
			x.add(ruleVolatileKept, from, from, why)
		}
	}
	if x.continues(c) {
		at = inAnswer
	}
	x.walk(c, at.into(m.known))
}

// isRun tells whether a value that stands apart names the run.
func (x *explanation) isRun(c int32) bool {
	if x.rule.run == nil {
		return x.values[c].parent == 0 && (x.values[c].name == "runId" || x.values[c].name == "run_id")
	}
	for n := range x.rule.run {
		if x.rule.run[n].Pointer != "" && x.lookup(x.rule.run[n].at) == c {
			return true
		}
	}
	return false
}

// whyKept says why a field with a volatile name counts all the same; empty where the name is none.
func (x *explanation) whyKept(m *value, parent int32, at place) string {
	_, ruled := x.rule.ruled(m.name)
	if at == inAnswer && (ruled || m.known != unknown && m.known <= lastVolatile) {
		return "what makes a call the continuation of another counts whole"
	}
	if ruled {
		return "the rule keeps this name, or nothing would be left of the object"
	}
	switch {
	case m.known == unknown || m.known > lastVolatile:
		return ""
	case x.nouns&(1<<m.known) != 0:
		what := "the tool's name " + quoted(abbreviated(x.tool))
		if nouns(x.tool)&(1<<m.known) == 0 {
			what = "the path"
		}
		return what + " has the word " + volatiles[m.known].noun + ": this is what the call is about"
	case volatiles[m.known].places&at != 0:
		return "nothing would be left of its object"
	case at == inMCP:
		return "the schema of MCP arguments is the tool's: a field of this name is meant"
	default:
		return "a field of this name is volatile in other places: here it is part of what is asked for"
	}
}

func (x *explanation) money(v *value) {
	why := money.Read.Why()
	switch {
	case v.minor:
		why = "it is the field amount in minor units: " + why
	case v.rule > 0:
		why = "the rule says what its number means: " + why
	}
	x.add(ruleMoney, x.written(v), string(x.amounts.at(v.money-1).AppendJSON(nil)), why)
}

func (x *explanation) whyRaw(v *value) string {
	if v.reason == money.Contradicts && v.known == centsName {
		return "cents are of currencies with two decimals, and the one beside it has others"
	}
	return v.reason.Why()
}

// verbatim says of a text that is meant to the letter what else would have been made of it.
func (x *explanation) verbatim(v *value) {
	rule := ruleEmailRaw
	if emailAt(v.text) < 0 {
		if _, reason := money.ParseText(v.text, money.Field{}, x.rule.symbols); reason != money.Read {
			return
		}
		rule = ruleMoneyRaw
	}
	x.add(rule, x.written(v), x.written(v), money.Verbatim.Why())
}

func (x *explanation) text(v *value) {
	plain, counted := quoted(v.text), quoted(x.textOf(v))
	switch {
	case counted != plain:
		x.add(ruleEmail, x.written(v), counted, "an e-mail address is in lower case, its domain as IDNA writes it in ASCII")
	case x.rule.Protocol != Form && plain != x.written(v):
		x.add(ruleEscape, x.written(v), plain, "an escape and its character are one")
	}
}

func (x *explanation) identity(v *value) {
	listed := make([]string, len(x.rule.identity))
	for n := range x.rule.identity {
		listed[n] = x.rule.identity[n].text
	}
	to, _ := x.appendArgs(nil)
	x.add(ruleIdentity, x.written(v), string(to), "the rule lists what counts of the args: "+strings.Join(listed, ", "))
}

// abbreviation is how many bytes are shown of a long text: what fits on a line.
const abbreviation = 120

// abbreviated cuts a text to what fits on a line.
func abbreviated(text string) string {
	if len(text) <= abbreviation {
		return text
	}
	end := abbreviation
	for end > abbreviation-utf8.UTFMax && !utf8.RuneStart(text[end]) { // a path may be any bytes
		end--
	}
	return text[:end] + "…"
}

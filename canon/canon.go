package canon

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"
	"sync"

	"idem/canon/money"
)

// Version is the version of the canonical form. It is hashed: what another version made is another fingerprint.
const Version = 1

// Key is the deployment's fingerprint key. A zero Key means plain SHA-256.
type Key struct {
	ID     string // default: 8 hex digits of the secret's SHA-256
	Secret []byte
}

// Call is one HTTP request.
type Call struct {
	Method, Host string
	Path         string                     // the request target: path and query
	Header       func(name string) []string // the values of a header by lower-case name; nil: there are none
	Metadata     func(path []string) string // dynamic metadata; nil: there is none
	Body         []byte
}

// Action is a call in canonical form.
type Action struct {
	Tool        string
	Run         string   // empty: absent
	Args        []byte   // the args as they were written, a part of Call.Body (form bodies: as a JSON object of strings)
	Canonical   []byte   // what is hashed, as JSON for people; only from Explain
	Fingerprint string   // 64 hex digits
	Intent      string   // 64 hex digits; equal to Fingerprint where customer or amount is missing
	Customer    []byte   // the canonical customer; nil: missing
	Amount      []byte   // the canonical amount; nil: missing
	Dropped     string   // a digest of the values that were dropped, to count matches that differ in them; empty: none
	Changes     []Change // only from Explain

	// For Compare, only from Explain: the body as JSON, and where in it the args and what stands beside them are.
	body             []byte
	argsAt, besideAt string
	hasArgs          bool
}

// The codes of an Error.
const (
	codeMalformed   = "malformed_body"
	codeUnsupported = "unsupported_media_type"
	codeUnstable    = "unstable_scope"
)

// Error says why a call cannot be read. Nothing of such a call may be reserved.
type Error struct {
	Code    string // malformed_body, unsupported_media_type, body_too_large, unstable_scope
	Pointer string // RFC 6901 into the body, where it applies
	Offset  int64  // bytes into the body; -1: does not apply
	Detail  string // what is wrong, and what would have been right
}

// Error gives code, detail and place in one line.
func (e *Error) Error() string {
	text := e.Code + ": " + e.Detail
	if e.Pointer != "" {
		text += ", at " + e.Pointer
	}
	if e.Offset >= 0 {
		text += ", byte " + itoa(int(e.Offset))
	}
	return text
}

// Canonicalizer reads the calls of one rule under one key. It is immutable, and many goroutines may use it at once.
type Canonicalizer struct {
	rule     *rule
	secret   []byte
	tail     []byte // the end of everything that is hashed: ,"key":…,"scope": is between
	readings sync.Pool
}

// New checks the settings. Its error joins a *SettingError for every mistake.
func New(s Settings, key Key) (*Canonicalizer, error) {
	r, err := compile(s, key)
	if err != nil {
		return nil, err
	}
	if key.ID == "" && len(key.Secret) > 0 {
		sum := sha256.Sum256(key.Secret)
		key.ID = hex.EncodeToString(sum[:4])
	}
	c := &Canonicalizer{rule: r, secret: append([]byte(nil), key.Secret...)}
	if key.ID != "" {
		c.tail = append(appendOpaque(append(c.tail, `"key":`...), key.ID), ',')
	}
	return c, nil
}

// Read gives the action of a call. Its error is an *Error.
func (c *Canonicalizer) Read(call Call) (Action, error) {
	r := c.reading()
	defer c.release(r)
	action, err := r.read(&call, false)
	if err != nil {
		return Action{}, err
	}
	return action, nil
}

// Explain gives the action of a call as Read does, and besides what is hashed and what was changed for it.
func (c *Canonicalizer) Explain(call Call) (Action, error) {
	r := c.reading()
	defer c.release(r)
	action, err := r.read(&call, true)
	if err != nil {
		return Action{}, err
	}
	return action, nil
}

// reading is the state of reading one call. It is reused from call to call.
type reading struct {
	tree
	rule       *rule
	tail       []byte
	mac        hash.Hash
	sum        [sha256.Size]byte
	target     target
	tool, run  string
	toolNamed  bool // the tool's name counts: it is not the path's end
	pathCounts bool
	args       int32 // -1: there are none
	beside     int32 // what holds the args: the body, in MCP the params; -1: nothing
	nouns      uint32
	drops      bool // something is volatile
	amounts    []money.Amount
	order      []int32
	out, side  []byte

	// Who sent the call before, and the digest of it.
	who   []byte
	scope string
}

func (c *Canonicalizer) reading() *reading {
	if r, ok := c.readings.Get().(*reading); ok {
		return r
	}
	r := &reading{rule: c.rule, tail: c.tail, mac: sha256.New()}
	if len(c.secret) > 0 {
		r.mac = hmac.New(sha256.New, c.secret)
	}
	return r
}

// release lets go of the call and keeps the memory.
func (c *Canonicalizer) release(r *reading) {
	const usual = 1 << 19
	r.forget()
	clear(r.amounts)
	r.amounts, r.order, r.out, r.side = r.amounts[:0], r.order[:0], r.out[:0], r.side[:0]
	if cap(r.out) > usual {
		r.out = nil
	}
	if cap(r.side) > usual {
		r.side = nil
	}
	if cap(r.order) > usual>>4 {
		r.order = nil
	}
	if cap(r.amounts) > usual>>6 {
		r.amounts = nil
	}
	r.target, r.tool, r.run, r.toolNamed, r.drops = target{}, "", "", false, false
	c.readings.Put(r)
}

// read is the whole way from a call to its action.
func (r *reading) read(call *Call, explain bool) (Action, *Error) {
	bodiless, err := r.checkMedia(call)
	if err != nil {
		return Action{}, err
	}
	switch {
	case bodiless:
	case r.rule.Protocol == Form:
		err = r.readForm(call.Body)
	default:
		err = r.readJSON(call.Body, MaxDepth)
	}
	if err != nil {
		return Action{}, err
	}
	r.target = r.rule.targetOf(call.Path)
	if err := r.findParts(call); err != nil {
		return Action{}, err
	}
	scope, err := r.scopeOf(call)
	if err != nil {
		return Action{}, err
	}
	r.settle()

	// The members of what is hashed stand in the order of their names.
	out := append(r.out, '{')
	switch {
	case r.args >= 0:
		out = append(out, `"args":`...)
		if out, err = r.appendArgs(out); err != nil {
			return Action{}, err
		}
		out = append(out, ',')
	case r.rule.Protocol == MCP: // arguments are optional there: none are {}
		out = append(out, `"args":{},`...)
	}
	out = r.appendBeside(out)
	out = append(out, `"endpoint":`...)
	out = append(r.appendEndpoint(out, call), ',')
	out = r.appendWhom(out, call)
	out = r.appendTail(out, scope)
	out = append(out, `"version":1}`...)
	r.out = out

	action := Action{Tool: strings.Clone(r.tool), Run: strings.Clone(r.run), Fingerprint: r.hash(out)}
	action.Intent = action.Fingerprint
	switch {
	case r.args >= 0:
		action.Args = r.writtenArgs(call)
	case r.rule.Protocol == MCP:
		action.Args = []byte("{}")
	}
	action.Dropped = r.dropped()
	if explain {
		action.Canonical = append([]byte(nil), out...)
	}
	r.addIntent(&action, call, scope)
	if explain {
		action.Changes = r.explain(call)
		r.remember(&action, call)
	}
	return action, nil
}

// remember keeps what Compare needs.
func (r *reading) remember(action *Action, call *Call) {
	switch {
	case r.rule.Protocol == Form && r.args >= 0:
		action.body = action.Args
	default:
		action.body = append([]byte(nil), call.Body...)
	}
	if r.args >= 0 {
		action.argsAt, action.hasArgs = r.pointerTo(r.args), true
	}
	if r.beside >= 0 {
		action.besideAt = r.pointerTo(r.beside)
	}
}

// settle decides which values count, and which are money.
func (r *reading) settle() {
	r.nouns = nouns(r.tool)
	if r.beside >= 0 {
		r.dropVolatile(r.beside, beside)
		r.readMoney(r.beside, currency{}, true)
	}
	if r.args < 0 {
		return
	}
	for n := range r.rule.money {
		if at := r.find(r.args, r.rule.money[n].at); at >= 0 {
			r.values[at].rule = int16(n + 1)
		}
	}
	at := top
	if r.rule.Protocol == MCP {
		at = inMCP
	}
	r.dropVolatile(r.args, at)
	r.readMoney(r.args, currency{}, true)
}

// appendTail appends what says under which key, for which scope and by which settings.
func (r *reading) appendTail(dst []byte, scope string) []byte {
	dst = append(dst, r.tail...)
	if scope != "" {
		dst = append(dst, `"scope":"`...)
		dst = append(dst, scope...)
		dst = append(dst, `",`...)
	}
	dst = append(dst, `"settings":"`...)
	dst = append(dst, r.rule.digest...)
	return append(dst, `",`...)
}

// appendBeside appends what stands beside the args and counts, if anything does.
func (r *reading) appendBeside(dst []byte) []byte {
	if r.beside < 0 || len(r.rule.identity) > 0 {
		return dst
	}
	start := len(dst)
	dst = append(dst, `"beside":`...)
	from := len(dst)
	dst = r.appendValue(dst, r.beside)
	if string(dst[from:]) == "{}" {
		return dst[:start]
	}
	return append(dst, ',')
}

// appendArgs appends the args: all that counts in them, or, where the rule lists identity, an object of those pointers
// that the args have.
func (r *reading) appendArgs(dst []byte) ([]byte, *Error) {
	if len(r.rule.identity) == 0 {
		return r.appendValue(dst, r.args), nil
	}
	found := false
	dst = append(dst, '{')
	for n := range r.rule.identity {
		at := r.find(r.args, r.rule.identity[n].at)
		if at < 0 {
			continue
		}
		if r.values[at].gone == taken {
			if r.values[at].known == currencyName {
				continue // the amount beside it has taken it in
			}
			at = r.values[at].parent
		}
		if found {
			dst = append(dst, ',')
		}
		found = true
		dst = append(appendString(dst, r.rule.identity[n].text), ':')
		dst = r.appendValue(dst, at)
	}
	if !found {
		return dst, &Error{Code: codeMalformed, Offset: int64(r.values[r.args].off), Pointer: shortened(r.pointerTo(r.args)),
			Detail: "the args have nothing that the rule's identity lists: " + r.rule.identity[0].text}
	}
	return append(dst, '}'), nil
}

// writtenArgs gives the args as they were written.
func (r *reading) writtenArgs(call *Call) []byte {
	if r.rule.Protocol != Form {
		v := &r.values[r.args]
		return call.Body[v.off:v.end:v.end]
	}
	return r.appendWritten(nil, r.args)
}

// appendWritten appends a value of a form as JSON, as it is.
func (r *reading) appendWritten(dst []byte, i int32) []byte {
	v := &r.values[i]
	if v.kind == '"' {
		return appendString(dst, v.text)
	}
	open, shut := byte('['), byte(']')
	if v.kind == '{' {
		open, shut = '{', '}'
	}
	dst = append(dst, open)
	for c := i + 1; c < v.next; c = r.values[c].next {
		if c > i+1 {
			dst = append(dst, ',')
		}
		if v.kind == '{' {
			dst = append(appendString(dst, r.values[c].name), ':')
		}
		dst = r.appendWritten(dst, c)
	}
	return append(dst, shut)
}

// dropped gives a digest (FNV-1a, 64 bits) of the volatile values as they were written, in the order of the body.
func (r *reading) dropped() string {
	if !r.drops {
		return ""
	}
	const offset, prime = 14695981039346656037, 1099511628211
	sum, any := uint64(offset), false
	for i := int32(0); i < int32(len(r.values)); {
		v := &r.values[i]
		if v.gone != volatile {
			i++
			continue
		}
		any = true
		for _, text := range [...]string{v.name, "=", r.body[v.off:v.end], "\x00"} {
			for n := range len(text) {
				sum = (sum ^ uint64(text[n])) * prime
			}
		}
		i = v.next
	}
	if !any {
		return ""
	}
	var text [16]byte
	for n := range text {
		text[n] = "0123456789abcdef"[sum>>(60-4*n)&15]
	}
	return string(text[:])
}

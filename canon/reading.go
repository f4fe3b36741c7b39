package canon

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"slices"
	"strconv"
	"strings"
)

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
	amounts    amounts
	addresses  []string // in their one form
	alike      []alike
	listed     []int32 // what each pointer of the rule's identity finds; -1: nothing
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
	r.amounts.empty()
	r.addresses, r.alike = emptied(r.addresses, usual>>4), emptied(r.alike, usual>>4)
	r.listed, r.order, r.out, r.side = r.listed[:0], emptied(r.order, usual>>4), emptied(r.out, usual), emptied(r.side, usual)
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
	out := append(slices.Grow(r.out, len(call.Body)), '{')
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
	out = r.appendLists(out)
	out = r.appendTail(out, scope)
	out = appendVersion(out)
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

// settle decides which values count, and which are money and addresses.
func (r *reading) settle() {
	r.nouns = nouns(r.tool)
	if r.pathCounts { // POST /requests/approve is about a request, too
		r.nouns |= nouns(r.target.path)
	}
	if r.args >= 0 {
		for n := range r.rule.money {
			if at := r.find(r.args, r.rule.money[n].at); at >= 0 {
				r.values[at].rule = int16(n + 1)
			}
		}
	}
	r.findAddresses()
	if r.beside >= 0 {
		r.dropVolatile(r.beside, beside)
		r.readMoney(r.beside, around{}, true)
	}
	if r.args >= 0 {
		at := top
		if r.rule.Protocol == MCP {
			at = inMCP
		}
		r.dropVolatile(r.args, at)
		r.readMoney(r.args, around{}, true)
	}
	r.findListed()
	r.keepApart()
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

// appendVersion appends the last member of what is hashed.
func appendVersion(dst []byte) []byte {
	return append(strconv.AppendInt(append(dst, `"version":`...), Version, 10), '}')
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

package canon

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// parts finds the tool, the args, what stands beside them, and the run.
func (r *reading) findParts(call *Call) *Error {
	if r.rule.Protocol == MCP {
		return r.findMCP(call)
	}
	r.args, r.beside = -1, -1
	if len(r.values) > 0 {
		r.args = 0
	}
	conventional := false // the body has /args, and no rule says where they are
	switch {
	case r.rule.Args != nil:
		at := r.lookup(r.rule.args.at)
		if at < 0 {
			return missing("the args stand", r.rule.Args.Pointer)
		}
		r.setArgs(at)
	case len(r.values) > 0:
		if at := r.member(0, "args"); at > 0 {
			conventional = true
			r.setArgs(at)
		}
	}
	if err := r.findTool(call, conventional); err != nil {
		return err
	}
	if !r.toolNamed {
		if err := checkName("last segment of the path, the tool's name,", r.tool); err != nil {
			return err
		}
	}
	return r.findRun(call, conventional)
}

// checkName refuses a tool's name or a run that no record could be kept under.
func checkName(what, text string) *Error {
	switch {
	case len(text) > MaxName:
		return &Error{Code: codeMalformed, Offset: -1, Detail: "the " + what + " has " + itoa(len(text)) + " bytes; use at most " + itoa(MaxName)}
	case !utf8.ValidString(text):
		return &Error{Code: codeMalformed, Offset: -1, Detail: "the " + what + " is no UTF-8"}
	case strings.IndexFunc(text, unicode.IsControl) >= 0:
		return &Error{Code: codeMalformed, Offset: -1, Detail: "the " + what + " " + shownText(text) + " has a control character; use a text that can be printed"}
	}
	return nil
}

// setArgs makes the value the args, and the body what stands beside them.
func (r *reading) setArgs(at int32) {
	r.args = at
	if at > 0 {
		r.beside = 0
		r.values[at].gone = apart
	}
}

// missing refuses a body in which nothing is where a pointer of the rule leads; what says what would be there.
func missing(what, pointer string) *Error {
	return &Error{Code: codeMalformed, Pointer: pointer, Offset: -1,
		Detail: "the body has no " + shownText(pointer) + ", where the rule says that " + what}
}

// findTool finds the tool's name. By convention it is /tool; where the body has /args too, it stands instead of the
// path. A body that merely has a field called tool keeps both: the path may be what says what is done with that tool.
func (r *reading) findTool(call *Call, conventional bool) *Error {
	r.pathCounts = true
	r.tool = lastSegment(r.target.path)
	at := int32(-1)
	switch {
	case r.rule.Tool == nil:
		if len(r.values) > 0 {
			at = r.member(0, "tool")
		}
		if at <= 0 || !conventional && (r.values[at].kind != '"' || r.values[at].text == "") {
			return nil
		}
		r.pathCounts = !conventional
	case r.rule.Tool.Pointer != "":
		if at = r.lookup(r.rule.tool.at); at < 0 {
			return missing("the tool's name stands", r.rule.Tool.Pointer)
		}
		r.pathCounts = false
	default:
		text, ok := r.sourceText(call, &r.rule.tool)
		if !ok || text == "" {
			return &Error{Code: codeMalformed, Offset: -1, Detail: "the tool's name that the rule takes from " +
				shownSource(*r.rule.Tool) + " is not in the call"}
		}
		r.tool, r.toolNamed = text, true
		return checkName("tool's name", text)
	}
	return r.setTool(at)
}

// setTool takes the tool's name from a value of the body.
func (r *reading) setTool(at int32) *Error {
	v := &r.values[at]
	if v.kind != '"' || v.text == "" {
		return &Error{Code: codeMalformed, Pointer: shortened(r.pointerTo(at)), Offset: int64(v.off),
			Detail: "the tool's name is " + r.shown(at) + "; use a text of 1 to " + itoa(MaxName) + " bytes"}
	}
	if err := r.checkNameAt(at, "tool's name"); err != nil {
		return err
	}
	r.tool, r.toolNamed = v.text, true
	if r.beside == 0 && at > 0 && (at < r.args || at >= r.values[r.args].next) {
		v.gone = apart
	}
	return nil
}

func (r *reading) checkNameAt(at int32, what string) *Error {
	err := checkName(what, r.values[at].text)
	if err != nil {
		err.Pointer, err.Offset = shortened(r.pointerTo(at)), int64(r.values[at].off)
	}
	return err
}

// findRun finds the run. Whatever may name it is no part of the action, whether or not it names the run of this call.
func (r *reading) findRun(call *Call, conventional bool) *Error {
	if r.rule.run != nil {
		for n := range r.rule.run {
			from := &r.rule.run[n]
			if from.Pointer == "" {
				if text, ok := r.sourceText(call, from); ok && r.run == "" {
					r.run = text
				}
				if err := checkName("run", r.run); err != nil {
					return err
				}
				continue
			}
			if at := r.lookup(from.at); at > 0 {
				if err := r.setRun(at); err != nil {
					return err
				}
			}
		}
		return nil
	}
	r.run, _ = call.header("x-idem-run")
	if err := checkName("run", r.run); err != nil || !conventional {
		return err
	}
	for _, name := range [...]string{"runId", "run_id"} {
		if at := r.member(0, name); at > 0 {
			if err := r.setRun(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// setRun takes the run from a value of the body: a string, or a number in its one form.
func (r *reading) setRun(at int32) *Error {
	v := &r.values[at]
	if err := r.checkNameAt(at, "run"); err != nil {
		return err
	}
	switch v.kind {
	case '"':
		if r.run == "" {
			r.run = v.text
		}
	case '0':
		if r.run == "" {
			r.run = string(appendNumber(nil, v.text))
		}
	case 'n':
	default:
		return &Error{Code: codeMalformed, Pointer: shortened(r.pointerTo(at)), Offset: int64(v.off),
			Detail: "the run is " + r.shown(at) + "; use a text or a number"}
	}
	v.gone = apart
	return nil
}

// findMCP reads a JSON-RPC tools/call message: params.name is the tool, params.arguments the args. The message's id and
// params._meta do not count, other params do: inputResponses and requestState make a continuation another call.
func (r *reading) findMCP(call *Call) *Error {
	r.args, r.beside = -1, -1
	wrong := func(at int32, detail string) *Error {
		return &Error{Code: codeMalformed, Pointer: shortened(r.pointerTo(at)), Offset: int64(r.values[at].off), Detail: detail}
	}
	if r.values[0].kind == '[' {
		return wrong(0, "a JSON-RPC batch cannot be one intent: send each tools/call by itself")
	}
	if r.values[0].kind != '{' {
		return wrong(0, "a JSON-RPC message is an object")
	}
	if at := r.inOtherCase(0, "jsonrpc", "id", "method", "params"); at > 0 {
		return wrong(at, otherCase)
	}
	if at := r.member(0, "method"); at == 0 || r.values[at].kind != '"' || r.values[at].text != "tools/call" {
		return wrong(at, `the method is not "tools/call"`)
	}
	params := r.member(0, "params")
	if params == 0 || r.values[params].kind != '{' {
		return wrong(params, "params is missing, or no object; a tools/call has an object with name and arguments there")
	}
	if at := r.inOtherCase(params, "name", "arguments"); at > 0 {
		return wrong(at, otherCase)
	}
	name := r.member(params, "name")
	if name == 0 {
		return wrong(params, "params has no name; a tools/call names its tool there, by a text")
	}
	r.beside = params
	if meta := r.member(params, "_meta"); meta > 0 {
		r.values[meta].gone = apart
	}
	if at := r.member(params, "arguments"); at > 0 {
		r.args = at
		r.values[at].gone = apart
	}
	if at := r.member(params, "requestState"); at > 0 {
		r.values[at].verbatim = true // it means something to the server alone
	}
	if err := r.setTool(name); err != nil {
		return err
	}
	r.values[name].gone = apart
	return r.findRun(call, false)
}

const otherCase = "the name of this member differs from one of a tools/call in letter case only, so that servers read it " +
	"differently; write jsonrpc, id, method, params, name and arguments so, and each once"

// inOtherCase gives the first member of an object whose name is one of these in other letters; 0: there is none. Servers
// that take no heed of letter case (Go's encoding/json, by Unicode's simple folding) read it as that one, and of name
// and Name the last.
func (r *reading) inOtherCase(object int32, names ...string) int32 {
	for at := object + 1; at < r.values[object].next; at = r.values[at].next {
		for _, name := range names {
			if r.values[at].name != name && strings.EqualFold(r.values[at].name, name) {
				return at
			}
		}
	}
	return 0
}

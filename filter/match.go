package main

import (
	"errors"
	"slices"
	"strconv"

	"idem/canon"
	"idem/filter/mcp"
	"idem/filter/policy"
	"idem/ledgerd/wire"
)

// matched is what a call falls under.
type matched struct {
	rule    *policy.Rule // nil: none, the call passes
	action  canon.Action
	request *mcp.Request // of an MCP rule
	unread  bool         // a rule in mode shadow could not read the call
}

// decisive gives those of the rules that may be for a call that decide what becomes of it: up to the first without
// tools, for that one holds whatever the body says, also where its mode is shadow or off and the body cannot be read.
// Where all that is left is off there are none, and nobody needs to read the call.
func decisive(rules []*policy.Rule) []*policy.Rule {
	if i := slices.IndexFunc(rules, func(r *policy.Rule) bool { return len(r.Match.Tools) == 0 }); i >= 0 {
		rules = rules[:i+1]
	}
	for len(rules) > 0 && rules[len(rules)-1].Mode == policy.Off {
		rules = rules[:len(rules)-1]
	}
	return rules
}

// match gives the first of these decisive rules that the call falls under, and the call in its canonical form. A call
// that cannot be read under an enforcing rule is refused, also where only the rule's tools could not be judged because
// of that. An MCP message that is no tools/call falls under no rule.
func (s *stream) match(rules []*policy.Rule) (m matched, refused *canon.Error) {
	for _, rule := range rules {
		action, request, err := s.read(rule)
		switch {
		case err != nil && rule.Mode == policy.Enforce:
			return matched{rule: rule}, err
		case err != nil:
			m.unread = m.unread || rule.Mode == policy.Shadow
		case rule.Protocol == canon.MCP && request == nil:
		case !rule.Match.MatchesTool(action.Tool):
		case rule.Mode == policy.Off:
			return m, nil
		default:
			return matched{rule: rule, action: action, request: request}, nil
		}
	}
	return m, nil
}

// read reads the call under one rule. The request is that of an MCP rule; nil there: the message is no tools/call.
func (s *stream) read(rule *policy.Rule) (action canon.Action, request *mcp.Request, unreadable *canon.Error) {
	if size := int64(len(s.request.Body)); size > rule.MaxBodyBytes {
		return action, nil, tooLarge(rule.MaxBodyBytes)
	}
	if rule.Protocol == canon.MCP {
		if request, unreadable = mcp.Read(s.request.Body, s.header("accept"), s.header("mcp-protocol-version")); request == nil {
			return action, nil, unreadable
		}
	}
	action, err := rule.Canon.Read(s.canonCall())
	if err != nil {
		return action, nil, canonError(err)
	}
	return action, request, nil
}

func tooLarge(limit int64) *canon.Error {
	return &canon.Error{Code: "body_too_large", Offset: limit,
		Detail: "the body is larger than max_body_bytes, " + strconv.FormatInt(limit, 10)}
}

func canonError(err error) *canon.Error {
	var unreadable *canon.Error
	if !errors.As(err, &unreadable) {
		unreadable = &canon.Error{Code: "malformed_body", Offset: -1, Detail: err.Error()}
	}
	return unreadable
}

// former gives what each of the configuration's predecessors would have called this call. One that could not read it
// has recorded nothing of it.
func (s *stream) former(action canon.Action) []wire.Identity {
	var also []wire.Identity
	for _, f := range s.plugin.config.Previous {
		was, err := s.match(decisive(f.Candidates(s.route, s.methods(), s.request.Authority, s.request.Path)))
		if err == nil && was.rule != nil && was.action.Fingerprint != action.Fingerprint {
			also = append(also, wire.Identity{Intent: was.action.Intent, Fingerprint: was.action.Fingerprint})
		}
	}
	return also
}

func (s *stream) canonCall() canon.Call {
	return canon.Call{
		Method: s.request.Method, Host: s.request.Authority, Path: s.request.Path,
		Header: s.header, Metadata: metadata, Certificate: certificate, Body: s.request.Body,
	}
}

// methods gives what the request's method may be taken for.
func (s *stream) methods() []string {
	return policy.Methods(s.request.Method, s.request.Path, s.header)
}

// header gives the values of a request header by its lower-case name.
func (s *stream) header(name string) []string {
	var values []string
	for _, h := range s.request.Headers {
		if h[0] == name {
			values = append(values, h[1])
		}
	}
	return values
}

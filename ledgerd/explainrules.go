package main

import (
	"fmt"
	"slices"
	"strings"

	"idem/canon"
	"idem/filter/policy"
	"idem/ledgerd/explain"
)

// newExplainer makes the reader of calls: by the plugin configuration in a file, or, without one, by one rule. The key,
// where it is given, is the one that the configuration names.
func newExplainer(file string, key canon.Key, settings canon.Settings, s surroundings) (*explain.Explainer, error) {
	if file == "" {
		return explain.ByDefaults(settings, key)
	}
	text, err := readInput(file, s.in)
	if err != nil {
		return nil, fmt.Errorf("--rules: %w", err)
	}
	config, err := readPluginConfig(text, s.environ, string(key.Secret))
	if err != nil {
		return nil, fmt.Errorf("--rules %s: %w", file, err)
	}
	if len(key.Secret) > 0 && config.written.Fingerprint.KeyEnv == "" {
		return nil, fmt.Errorf("--fingerprint-key goes with a configuration that names a key; %s has no fingerprint.key_env, so the filter's fingerprints have no key: leave it out", file)
	}
	r := rules{config}
	return explain.New(r.choose, r.list(), string(config.Key.Secret) != standIn), nil
}

// rules are those of a plugin configuration.
type rules struct{ *pluginConfig }

// choose gives the rule that reads a call, by the filter's own order: the first that matches; where a rule names
// tools, it takes the body to know. A call that cannot be read is the first rule's to refuse. What its writer left out
// of method, host and path is taken from the rule's match, where that leaves no doubt which rule is meant.
func (r rules) choose(c explain.Call) (explain.Reader, error) {
	if c.Rule != "" {
		for i, rule := range r.Calls {
			if rule.Name == c.Rule {
				return r.reader(i, c), nil
			}
		}
		return explain.Reader{}, fmt.Errorf("there is no rule %q; there are: %s", c.Rule, r.names())
	}
	whole, err := r.completed(c)
	if err != nil {
		return explain.Reader{}, err
	}
	call := whole.Canon()
	for _, rule := range r.candidates(call) {
		if action, err := rule.Canon.Read(call); err != nil || rule.Match.MatchesTool(action.Tool) {
			return r.reader(slices.Index(r.Calls, rule), c), nil
		}
	}
	return explain.Reader{}, &explain.UnchosenError{Detail: fmt.Sprintf("no rule matches %s %s: the filter would let the call pass untouched; the rules are: %s", call.Method, call.Path, r.names())}
}

// candidates gives the rules that may be for a call, on a route that says nothing.
func (r rules) candidates(call canon.Call) []*policy.Rule {
	methods := policy.Methods(call.Method, call.Path, call.Header)
	return r.Candidates(policy.Route{}, methods, call.Host, call.Path)
}

// completed fills in what a call does not say of how it is sent, if all rules that may be meant would fill in the same.
func (r rules) completed(c explain.Call) (explain.Call, error) {
	if c.Path != "" {
		return c, nil
	}
	var found []explain.Call
	for _, rule := range r.Calls {
		whole := sentTo(rule, c)
		call := whole.Canon()
		sameWay := func(f explain.Call) bool {
			return f.Method == whole.Method && f.Host == whole.Host && f.Path == whole.Path
		}
		if slices.Contains(r.candidates(call), rule) && !slices.ContainsFunc(found, sameWay) {
			found = append(found, whole)
		}
	}
	switch len(found) {
	case 0:
		return c, nil
	case 1:
		return found[0], nil
	}
	return c, &explain.UnchosenError{Detail: "it is not said which rule reads the call; the rules are: " + r.names()}
}

// sentTo gives a call as a rule matches it, where its writer does not say how it is sent.
func sentTo(rule *policy.Rule, c explain.Call) explain.Call {
	m := rule.Match
	if c.Method == "" {
		c.Method = m.Methods[0]
	}
	if c.Host == "" {
		c.Host = m.Host
	}
	if c.Path == "" {
		c.Path = m.Path
	}
	if c.Path == "" {
		c.Path = m.PathPrefix
	}
	return c
}

func (r rules) reader(i int, c explain.Call) explain.Reader {
	rule := r.Calls[i]
	reader := explain.Reader{
		Rule: rule.Name, Form: rule.Canon, Terms: rule.Ledger, Protocol: rule.Protocol, Args: r.written.args(i), Call: sentTo(rule, c),
	}
	var taken []string
	if reader.Call.Host == "" {
		taken = append(taken, "no host")
	}
	if c.Path == "" {
		taken = append(taken, "the path "+orWord(reader.Call.Path, "/"))
	}
	if len(taken) > 0 {
		reader.Notes = append(reader.Notes, "A fingerprint is the filter's only with the host, path and headers that the call really has; "+strings.Join(taken, " and ")+" is taken here.")
	}
	if rule.Mode != policy.Enforce {
		reader.Notes = append(reader.Notes, fmt.Sprintf("The rule %s is in mode %s: its calls pass as they come, and this is what mode enforce would do.", rule.Name, rule.Mode))
	}
	return reader
}

func (r rules) list() []explain.Rule {
	list := make([]explain.Rule, len(r.Calls))
	for i, rule := range r.Calls {
		list[i] = explain.Rule{Name: rule.Name, Guards: guards(rule)}
	}
	return list
}

func (r rules) names() string {
	var names []string
	for _, rule := range r.Calls {
		name := rule.Name
		if g := guards(rule); g != name {
			name += " (" + g + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

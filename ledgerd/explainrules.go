package main

import (
	"fmt"
	"strings"

	"idem/canon"
	"idem/filter/policy"
	"idem/ledgerd/explain"
)

// newExplainer makes the reader of calls: by the plugin configuration in a file, or, without one, by one rule.
func newExplainer(file string, key canon.Key, settings canon.Settings, s surroundings) (*explain.Explainer, error) {
	if file == "" {
		return explain.ByDefaults(settings, key)
	}
	text, err := readInput(file, s.in)
	if err != nil {
		return nil, fmt.Errorf("--rules: %w", err)
	}
	config, err := readPluginConfig(text, s.environ)
	if err != nil {
		return nil, fmt.Errorf("--rules %s: %w", file, err)
	}
	return explain.New(rules{config.Config}.choose, string(config.Key.Secret) != standIn), nil
}

// rules are those of a plugin configuration.
type rules struct{ *policy.Config }

// choose gives the rule that reads a call, by the filter's own order: the first that matches; where a rule names
// tools, it takes the body to know. A call that cannot be read is the first rule's to refuse.
func (r rules) choose(c explain.Call) (string, *canon.Canonicalizer, error) {
	call := c.Canon()
	for _, rule := range r.candidates(c.Rule, call) {
		action, err := rule.Canon.Read(call)
		if c.Rule != "" || err != nil || rule.Match.MatchesTool(action.Tool) {
			return rule.Name, rule.Canon, nil
		}
	}
	if c.Rule != "" {
		return "", nil, fmt.Errorf("there is no rule %q; there are: %s", c.Rule, r.names())
	}
	return "", nil, fmt.Errorf("no rule matches %s %s: the filter would let the call pass untouched; give its method, host and path, or name a rule (there are: %s)", call.Method, call.Path, r.names())
}

// candidates gives the rules that may be for a call, or the one that a person named.
func (r rules) candidates(name string, call canon.Call) []*policy.Rule {
	if name == "" {
		return r.Candidates(call.Method, call.Host, call.Path)
	}
	for _, rule := range r.Calls {
		if rule.Name == name {
			return []*policy.Rule{rule}
		}
	}
	return nil
}

func (r rules) names() string {
	var names []string
	for _, rule := range r.Calls {
		names = append(names, rule.Name)
	}
	return strings.Join(names, ", ")
}

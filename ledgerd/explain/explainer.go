package explain

import (
	"fmt"
	"strings"

	"idem/canon"
	"idem/filter/policy"
)

// Explainer reads calls by the rules of a plugin configuration, or by one rule that has every default. It is
// immutable.
type Explainer struct {
	rules    *policy.Config       // nil: there is no configuration, fallback reads everything
	fallback *canon.Canonicalizer //
	keyed    bool
}

// ByDefaults reads every call by one rule with the given settings. The zero settings are the defaults.
func ByDefaults(settings canon.Settings, key canon.Key) (*Explainer, error) {
	if settings.Rule == "" {
		settings.Rule = "default"
	}
	form, err := canon.New(settings, key)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	return &Explainer{fallback: form, keyed: len(key.Secret) > 0}, nil
}

// ByRules reads calls by the rules of a plugin configuration, each by the rule that the filter would use. keyed says
// that its key, or its having none, is the deployment's: a key that stands in for one gives other fingerprints.
func ByRules(rules *policy.Config, keyed bool) *Explainer {
	return &Explainer{rules: rules, keyed: keyed}
}

// choose gives the rule that reads a call, by the filter's own order: the first that matches; where a rule names
// tools, it takes the body to know. A call that cannot be read is the first rule's to refuse.
func (x *Explainer) choose(c Call) (rule string, form *canon.Canonicalizer, err error) {
	if x.rules == nil {
		if c.Rule != "" && c.Rule != "default" {
			return "", nil, fmt.Errorf("there is no rule %q: no plugin configuration was given, so there is one rule, which has every default", c.Rule)
		}
		return "default", x.fallback, nil
	}
	if c.Rule != "" {
		r, err := x.named(c.Rule)
		if err != nil {
			return "", nil, err
		}
		return r.Name, r.Canon, nil
	}
	call := c.canon()
	for _, r := range x.rules.Candidates(call.Method, call.Host, call.Path) {
		action, err := r.Canon.Read(call)
		if err != nil || r.Match.MatchesTool(action.Tool) {
			return r.Name, r.Canon, nil
		}
	}
	return "", nil, fmt.Errorf("no rule matches %s %s: the filter would let the call pass untouched; give its method, host and path, or name a rule (there are: %s)", call.Method, call.Path, x.names())
}

func (x *Explainer) named(name string) (*policy.Rule, error) {
	for _, r := range x.rules.Calls {
		if r.Name == name {
			return r, nil
		}
	}
	return nil, fmt.Errorf("there is no rule %q; there are: %s", name, x.names())
}

func (x *Explainer) names() string {
	var names []string
	for _, r := range x.rules.Calls {
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
}

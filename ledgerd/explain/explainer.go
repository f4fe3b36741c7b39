package explain

import (
	"fmt"
	"slices"

	"idem/canon"
	"idem/ledgerd/wire"
)

// Rule is one of the rules that calls can be read by, as people choose among them.
type Rule struct {
	Name   string `json:"name"`
	Guards string `json:"guards,omitempty"` // what it matches, such as "POST /tools/…"
}

// Reader is the rule that reads a call, and the call as the rule gets it.
type Reader struct {
	Rule     string
	Form     *canon.Canonicalizer
	Terms    wire.Rule      // what the ledger decides by
	Protocol canon.Protocol // empty: JSON
	Args     string         // the pointer to the args that the rule names; empty: the default
	Call     Call           // with what its writer left out and the rule's match says
	Notes    []string       // what the reading takes for granted, a sentence each
}

// Choose gives the rule that reads a call. Its error says to a person why none does; it is an [*UnchosenError] where
// saying more of the call, or naming a rule, would help.
type Choose func(c Call) (Reader, error)

// UnchosenError says that no rule reads a call, or that several might.
type UnchosenError struct{ Detail string }

func (e *UnchosenError) Error() string { return e.Detail }

// Explainer reads calls. It is immutable.
type Explainer struct {
	choose Choose
	rules  []Rule
	keyed  bool
}

// New gives an explainer that reads each call by the rule that choose names, one of rules. keyed says that the rules'
// key, or their having none, is the deployment's: a key that stands in for one gives other fingerprints.
func New(choose Choose, rules []Rule, keyed bool) *Explainer { return &Explainer{choose, rules, keyed} }

// Rules lists the rules, in the order in which they are tried.
func (x *Explainer) Rules() []Rule { return slices.Clone(x.rules) }

// ByDefaults reads every call by one rule with the given settings. The zero settings are the defaults.
func ByDefaults(settings canon.Settings, key canon.Key) (*Explainer, error) {
	const name = "default"
	if settings.Rule == "" {
		settings.Rule = name
	}
	form, err := canon.New(settings, key)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	keyed := len(key.Secret) > 0
	reader := Reader{Rule: name, Form: form, Terms: wire.DefaultRule(), Protocol: settings.Protocol}
	if settings.Args != nil {
		reader.Args = settings.Args.Pointer
	}
	if keyed {
		reader.Notes = []string{"Read by the defaults: the name and the settings of the filter's own rule are part of its fingerprints."}
	}
	choose := func(c Call) (Reader, error) {
		if c.Rule != "" && c.Rule != name {
			return Reader{}, fmt.Errorf("there is no rule %q: no plugin configuration was given, so there is one rule, which has every default", c.Rule)
		}
		r := reader
		r.Call = c
		return r, nil
	}
	return New(choose, []Rule{{Name: name}}, keyed), nil
}

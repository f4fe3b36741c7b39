package explain

import (
	"fmt"

	"idem/canon"
)

// Choose gives the rule that reads a call, by its name, and its canonical form. Its error says to a person why no rule
// does.
type Choose func(c Call) (rule string, form *canon.Canonicalizer, err error)

// Explainer reads calls. It is immutable.
type Explainer struct {
	choose Choose
	keyed  bool
}

// New gives an explainer that reads each call by the rule that choose names. keyed says that the rules' key, or their
// having none, is the deployment's: a key that stands in for one gives other fingerprints.
func New(choose Choose, keyed bool) *Explainer { return &Explainer{choose, keyed} }

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
	choose := func(c Call) (string, *canon.Canonicalizer, error) {
		if c.Rule != "" && c.Rule != name {
			return "", nil, fmt.Errorf("there is no rule %q: no plugin configuration was given, so there is one rule, which has every default", c.Rule)
		}
		return name, form, nil
	}
	return New(choose, len(key.Secret) > 0), nil
}

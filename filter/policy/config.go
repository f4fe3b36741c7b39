package policy

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"idem/canon"
)

// Config is a whole plugin configuration. It is immutable.
type Config struct {
	Ledger   Ledger
	Execute  Execute
	Key      canon.Key
	Previous []Former
	Calls    []*Rule
}

// LongestWait is the time after its arrival by which a caller under a rule of this configuration surely has its reply: it
// may wait, then have to execute itself, and ask the ledger some times meanwhile.
func (c *Config) LongestWait(r *Rule) time.Duration {
	return max(r.Wait, r.HoldWait) + r.ExecutionTimeout + c.Ledger.CommitTimeout + 4*c.Ledger.Timeout
}

// Ledger is how ledgerd is reached.
type Ledger struct {
	Cluster       string        // the Envoy cluster
	Token         string        // the bearer token; empty: none
	Timeout       time.Duration // of one batch of operations
	CommitTimeout time.Duration // how long a caller waits for its result to be committed
}

// Execute is how the tool is reached.
type Execute struct {
	Cluster string // the Envoy cluster of the execution listener
}

// Former is a configuration that calls may have been recorded under: its rules under its key.
type Former struct {
	Key   canon.Key
	Calls []*Rule // its own rules, or the current ones under its key
}

// The bounds of the settings outside of rules; doc.go documents them.
const (
	mostPrevious   = 8
	mostCalls      = 256
	leastKeyBytes  = 16
	mostKeyIDBytes = 64
	defaultTimeout = 5 * time.Second
)

// Parse reads a plugin configuration. getenv gives the value of a variable of the VM's environment, empty where it is
// not set. An error is an [*Error] with every mistake.
func Parse(data []byte, getenv func(string) string) (*Config, error) {
	root, mistake := readDocument(data)
	if mistake != nil {
		return nil, &Error{[]Mistake{*mistake}}
	}
	r := &reader{}
	p := &parser{getenv: getenv}
	c := p.config(field{r, "", root})
	if len(r.mistakes) > 0 {
		return nil, &Error{r.mistakes}
	}
	return c, nil
}

// parser has what the rules need to know of the rest of the configuration.
type parser struct {
	getenv        func(string) string
	ledgerTimeout time.Duration
}

func (p *parser) config(f field) *Config {
	s := f.object("ledger", "execute", "fingerprint", "calls")
	c := &Config{}
	if f.value.kind != '{' {
		return c
	}
	c.Ledger = p.ledger(s["ledger"])
	c.Execute = p.execute(s["execute"])
	if c.Execute.Cluster != "" && c.Execute.Cluster == c.Ledger.Cluster {
		s["execute"].member("cluster").wrong("is ledger.cluster too: calls would be executed on the ledger; name the cluster of the execution listener")
	}
	key := s["fingerprint"].object("key_env", "key_id", "previous")
	c.Key.Secret = p.secret(key["key_env"])
	if id := keyID(key["key_id"], key["key_env"].there()); c.Key.Secret != nil {
		c.Key.ID = id
	}
	if !s["calls"].there() {
		s["calls"].missing(`name what is guarded, such as [{"match": {"path_prefix": "/tools/"}}]`)
	}
	c.Calls = p.calls(s["calls"], c.Key, false)
	c.Previous = p.previous(key["previous"], c)
	return c
}

func (p *parser) ledger(f field) Ledger {
	s := f.object("cluster", "token_env", "timeout", "commit_timeout")
	l := Ledger{
		Cluster:       clusterName(s["cluster"], "the Envoy cluster of ledgerd"),
		Timeout:       s["timeout"].duration(defaultTimeout, span{time.Millisecond, time.Minute}),
		CommitTimeout: s["commit_timeout"].duration(defaultTimeout, span{time.Millisecond, 10 * time.Minute}),
	}
	p.ledgerTimeout = l.Timeout
	if token, ok := p.variable(s["token_env"]); ok {
		for i := range len(token) {
			if token[i] <= ' ' || token[i] > '~' {
				s["token_env"].wrong("names a variable with a character at byte " + strconv.Itoa(i) +
					" that no bearer token may have; use visible ASCII characters, without a line end")
				break
			}
		}
		l.Token = token
	}
	return l
}

func (p *parser) execute(f field) Execute {
	s := f.object("cluster")
	return Execute{Cluster: clusterName(s["cluster"], "the Envoy cluster of the execution listener")}
}

func clusterName(f field, want string) string {
	if !f.there() {
		f.missing("name " + want)
		return ""
	}
	name, _ := f.text("the name of " + want)
	return name
}

// variable gives the value of the environment variable that a setting names.
func (p *parser) variable(f field) (string, bool) {
	name, ok := f.text("the name of an environment variable")
	if !ok {
		return "", false
	}
	value := p.getenv(name)
	if value == "" {
		f.wrong("names an environment variable that is not set; set it and list it in " +
			"vm_config.environment_variables.host_env_keys")
		return "", false
	}
	return value, true
}

// secret gives the bytes of the key that a setting names; nil where it names none.
func (p *parser) secret(f field) []byte {
	value, ok := p.variable(f)
	if !ok {
		return nil
	}
	if len(value) < leastKeyBytes {
		f.wrong("names a key of " + strconv.Itoa(len(value)) + " bytes, which can be guessed; use at least " +
			strconv.Itoa(leastKeyBytes) + " random ones")
	}
	return []byte(value)
}

func keyID(f field, keyed bool) string {
	id, ok := f.text("a short name for the key")
	switch {
	case !ok:
	case !keyed:
		f.wrong("names a key where there is none; give key_env too, or leave it out")
	case len(id) > mostKeyIDBytes || !visible(id):
		f.wrong("is no key id; use at most " + strconv.Itoa(mostKeyIDBytes) + " visible ASCII characters")
	}
	return id
}

// printable reports whether a text can be shown as it is.
func printable(text string) bool {
	return strings.IndexFunc(text, func(c rune) bool { return c == utf8.RuneError || !unicode.IsPrint(c) }) < 0
}

// visible reports whether a text has visible ASCII characters only.
func visible(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// previous reads the former configurations.
func (p *parser) previous(f field, c *Config) []Former {
	items := f.items("a list of former configurations")
	if len(items) > mostPrevious {
		f.wrong("has " + strconv.Itoa(len(items)) + " former configurations, and each costs every call another digest; keep at most " +
			strconv.Itoa(mostPrevious))
		return nil
	}
	former := make([]Former, 0, len(items))
	for _, it := range items {
		former = append(former, p.former(it, c))
	}
	return former
}

// former reads one: its key_env is absent where the key is still the same, and null where there was none.
func (p *parser) former(f field, c *Config) Former {
	s := f.object("key_env", "key_id", "version", "calls")
	env, id, calls := s["key_env"], s["key_id"], s["calls"]
	if f.value.kind != '{' {
		return Former{}
	}
	if version, ok := s["version"].integer("the version of the canonical form, 1"); ok && version != 1 {
		s["version"].wrong("is no version of the canonical form that this filter knows; use 1")
	}
	if !env.there() && !id.there() && !calls.there() {
		f.wrong("differs in nothing from the configuration that it stands in; give its key_env (null where it had no key) or its calls")
	}
	key := canon.Key{Secret: c.Key.Secret}
	switch {
	case env.there() && env.value.kind == 'n':
		key.Secret = nil
	case env.there():
		key.Secret = p.secret(env)
	default:
		key.ID = c.Key.ID
	}
	keyed := c.Key.Secret != nil
	if env.there() {
		keyed = env.value.kind != 'n'
	}
	if given := keyID(id, keyed); given != "" && key.Secret != nil {
		key.ID = given
	}
	former := Former{Key: key}
	if calls.there() {
		former.Calls = p.calls(calls, key, true)
	} else {
		for _, rule := range c.Calls {
			former.Calls = append(former.Calls, p.rekey(f, rule, key))
		}
	}
	return former
}

// rekey gives a rule as it would be under another key.
func (p *parser) rekey(f field, rule *Rule, key canon.Key) *Rule {
	again := *rule
	again.canonicalizers(f, key)
	return &again
}

package policy

import (
	"errors"
	"slices"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"idem/canon"
	"idem/ledgerd/wire"
)

// Mode is what a rule does with the calls that it matches.
type Mode string

// The modes.
const (
	Enforce Mode = "enforce" // one execution per intent
	Shadow  Mode = "shadow"  // every call is passed on; what would have been done is counted only
	Off     Mode = "off"     // every call is passed on as if there were no rule
)

// Rule is what holds for the calls that match it. It is immutable.
type Rule struct {
	Name             string
	Mode             Mode
	Match            Match
	Canon            *canon.Canonicalizer
	Protocol         canon.Protocol
	RunHeaders       []string // lower case: the run is read from them, and they are not passed on to the tool
	Ledger           wire.Rule
	Wait             time.Duration
	HoldWait         time.Duration
	ExecutionTimeout time.Duration
	Lease            time.Duration
	MaxBodyBytes     int64
	MaxResultBytes   int64
	KeepHeaders      []string // lower case
	Envelope         bool
	Inline           bool
	Failures         Failures
	ProviderKey      *ProviderKey // nil: the tool is sent none

	settings  canon.Settings       // what Canon was made of
	elsewhere *canon.Canonicalizer // for other paths than the match's, on a route that names the rule; nil: Canon is
}

// ProviderKey is an idempotency key that the tool is sent.
type ProviderKey struct {
	Header       string // lower case
	RetryInDoubt bool   // the next arrival may execute a row in doubt again, under the same key
}

// The defaults and bounds of a rule's settings; doc.go documents them. The defaults that the ledger has too are
// wire.DefaultRule's.
const (
	mostNameBytes = 128
	mib           = 1 << 20
	mostBytes     = 16 * mib // a base64 of it still fits the 32 MB that Envoy buffers of one call
)

func milliseconds(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// calls reads a list of rules. former rules only tell what calls were once recorded as, so what they say of timing is
// not weighed against today's settings.
func (p *parser) calls(f field, key canon.Key, former bool) []*Rule {
	const want = "a list of rules"
	items := f.items(want)
	if len(items) == 0 && f.there() && f.value.kind == '[' {
		f.wrong(`guards nothing; name what is guarded, such as [{"match": {"path_prefix": "/tools/"}}]`)
	}
	if len(items) > mostCalls {
		f.wrong("has " + strconv.Itoa(len(items)) + " rules; use at most " + strconv.Itoa(mostCalls))
		return nil
	}
	named := make(map[string]string, len(items)) // the pointer of the rule that has a name
	rules := make([]*Rule, 0, len(items))
	for _, it := range items {
		rule := p.rule(it, key, former)
		rules = append(rules, rule)
		other, taken := named[rule.Name]
		switch {
		case rule.Name == "":
		case !taken:
			named[rule.Name] = it.pointer
		case it.member("name").there():
			it.member("name").wrong("is the name of " + other + " too; give every rule a name of its own")
		default:
			f.r.add(it.pointer, nil, "is named "+quoted(rule.Name)+" by its match, as "+other+
				" is; give it a name of its own, or another match")
		}
	}
	return rules
}

func (p *parser) rule(f field, key canon.Key, former bool) *Rule {
	s := f.object("name", "mode", "match", "protocol", "tool", "args", "run", "scope", "headers", "volatile", "identity",
		"money", "symbols", "intent", "near_duplicates", "wait", "execution_timeout", "lease", "retention",
		"max_body_bytes", "max_result_bytes", "keep_headers", "reply", "execution", "failures", "provider_key")
	if f.value.kind != '{' {
		return &Rule{}
	}
	before := len(f.r.mistakes)
	rule := &Rule{
		Mode:     Mode(s["mode"].word(string(Enforce), string(Shadow), string(Off))),
		Protocol: canon.Protocol(s["protocol"].word(string(canon.JSON), string(canon.Form), string(canon.MCP))),
	}
	rule.Match = match(s["match"], f)
	if rule.Protocol == canon.MCP && s["match"].there() && len(rule.Match.Tools) == 0 && !s["match"].member("tools").there() {
		f.r.add(child(s["match"].pointer, "tools"), nil, `is missing; with protocol "mcp" name the tools, such as ["refund*"], or ["*"] for all`)
	}
	rule.Name = ruleName(s["name"], rule.Match)
	rule.settings = canonSettings(s, rule)
	rule.RunHeaders = runHeaders(rule.settings.Run)
	p.terms(s, rule, former)
	p.reply(s, rule)
	if rule.Protocol == canon.MCP && !former {
		mcpOnly(s, rule)
	}
	if len(f.r.mistakes) > before {
		return rule
	}
	rule.canonicalizers(f, key)
	return rule
}

// mcpOnly refuses settings that say nothing where the protocol is MCP.
func mcpOnly(s map[string]field, rule *Rule) {
	if rule.Envelope {
		s["reply"].wrong(`has no meaning with protocol "mcp", whose results have a form of their own; use "transparent", or leave it out`)
	}
	if methods := s["match"].member("methods"); methods.there() && len(rule.Match.Methods) > 0 && !slices.Contains(rule.Match.Methods, "POST") {
		methods.wrong(`guards nothing with protocol "mcp", where a tools/call is sent by POST; use ["POST"], or leave it out`)
	}
}

// canonicalizers makes what reads the rule's calls, wherever they come in.
func (r *Rule) canonicalizers(f field, key canon.Key) {
	r.Canon = canonicalizer(f, r.settings, key)
	if r.Canon != nil && !r.settings.Paths {
		several := r.settings
		several.Paths = true
		r.elsewhere = canonicalizer(f, several, key)
	}
}

// canonicalizer makes what reads the rule's calls. What canon refuses of the settings is reported where it stands in
// the rule.
func canonicalizer(f field, s canon.Settings, key canon.Key) *canon.Canonicalizer {
	form, err := canon.New(s, key)
	if err != nil {
		refused(f, err)
	}
	return form
}

// refused reports an error of canon.New, which joins one for every mistake.
func refused(f field, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, each := range joined.Unwrap() {
			refused(f, each)
		}
		return
	}
	var setting *canon.SettingError
	if errors.As(err, &setting) {
		f.r.add(f.pointer+setting.Pointer, nil, setting.Detail)
		return
	}
	f.r.add(f.pointer, nil, err.Error())
}

// ruleName is the rule's own name, or what its match reads like.
func ruleName(f field, m Match) string {
	name, ok := f.text("a name for people and metrics")
	if !ok {
		if f.there() {
			return ""
		}
		return m.name()
	}
	for i, c := range name {
		if c == utf8.RuneError || !unicode.IsPrint(c) {
			f.wrong("has a character that does not print, at byte " + strconv.Itoa(i) + "; use a name that can be read")
			return ""
		}
	}
	if len(name) > mostNameBytes {
		f.wrong("is " + strconv.Itoa(len(name)) + " bytes long; use at most " + strconv.Itoa(mostNameBytes))
		return ""
	}
	return name
}

// terms reads what the ledger decides by, and how long things take.
func (p *parser) terms(s map[string]field, rule *Rule, former bool) {
	def := wire.DefaultRule()
	rule.Wait = s["wait"].duration(milliseconds(def.WaitMS), span{0, day})
	rule.ExecutionTimeout = s["execution_timeout"].duration(milliseconds(def.ExecutionMS), span{time.Millisecond, day})
	rule.Lease = s["lease"].duration(milliseconds(def.LeaseMS), span{time.Millisecond, day})
	if bound := 2 * p.ledgerTimeout; !former && rule.Lease <= bound {
		detail := "is not more than twice ledger.timeout (" + written(p.ledgerTimeout) + "); use more than " + quoted(written(bound))
		if s["lease"].there() {
			s["lease"].wrong(detail)
		} else {
			s["lease"].r.mistakes = append(s["lease"].r.mistakes,
				Mistake{s["lease"].pointer, quoted(written(rule.Lease)), "(the default) " + detail})
		}
	}
	retention := s["retention"].duration(milliseconds(def.RetentionMS), span{time.Second, 10 * year})
	rule.MaxResultBytes = s["max_result_bytes"].size(def.MaxResultBytes, 1, mostBytes)
	rule.Ledger = wire.Rule{
		Name:    rule.Name,
		LeaseMS: rule.Lease.Milliseconds(), WaitMS: rule.Wait.Milliseconds(),
		ExecutionMS: rule.ExecutionTimeout.Milliseconds(), RetentionMS: retention.Milliseconds(),
		MaxResultBytes: rule.MaxResultBytes,
	}
	nearDuplicates(s["near_duplicates"], rule, retention)
}

func nearDuplicates(f field, rule *Rule, retention time.Duration) {
	s := f.object("window", "horizon", "hold_wait", "hold_term", "approval_term", "on_new_run", "on_same_intent", "on_absent_run")
	def := wire.DefaultRule()
	l := &rule.Ledger
	// What is forgotten cannot be a near-duplicate of anything: the defaults give way to a short retention, and what
	// is written must fit it.
	within := func(f field, ms int64) int64 {
		d := f.duration(min(milliseconds(ms), retention), span{0, 10 * year})
		if d > retention {
			f.wrong("is longer than the rule's retention (" + written(retention) + "); use at most " + quoted(written(retention)))
		}
		return d.Milliseconds()
	}
	l.WindowMS = within(s["window"], def.WindowMS)
	l.HorizonMS = within(s["horizon"], def.HorizonMS)
	rule.HoldWait = s["hold_wait"].duration(0, span{0, day})
	l.HoldTermMS = s["hold_term"].duration(milliseconds(def.HoldTermMS), span{time.Second, year}).Milliseconds()
	l.ApprovalTermMS = s["approval_term"].duration(milliseconds(def.ApprovalTermMS), span{time.Second, year}).Milliseconds()
	hold, join, execute := string(wire.PolicyHold), string(wire.PolicyJoin), string(wire.PolicyExecute)
	l.OnNewRun = wire.Policy(s["on_new_run"].word(hold, join, execute))
	l.OnSameIntent = wire.Policy(s["on_same_intent"].word(hold, execute))
	l.OnAbsentRun = wire.Policy(s["on_absent_run"].word(execute, hold))
}

// reply reads how the tool is called and what its replies are.
func (p *parser) reply(s map[string]field, rule *Rule) {
	rule.MaxBodyBytes = s["max_body_bytes"].size(mib, 1, mostBytes)
	rule.KeepHeaders = headerNames(s["keep_headers"], neverStored)
	rule.Envelope = s["reply"].word("transparent", "envelope") == "envelope"
	rule.Inline = s["execution"].word("detached", "inline") == "inline"
	if rule.Envelope && rule.Inline {
		s["reply"].wrong(`cannot be had with execution "inline", where the reply streams past; use "transparent", or execution "detached"`)
	}
	rule.Failures = failures(s["failures"])
	rule.ProviderKey = providerKey(s["provider_key"])
	rule.Ledger.RetryInDoubt = rule.ProviderKey != nil && rule.ProviderKey.RetryInDoubt
}

func providerKey(f field) *ProviderKey {
	if !f.there() {
		return nil
	}
	s := f.object("header", "on_in_doubt")
	if f.value.kind != '{' {
		return nil
	}
	key := &ProviderKey{RetryInDoubt: s["on_in_doubt"].word("stop", "retry") == "retry"}
	if !s["header"].there() {
		s["header"].missing(`name the header that the tool reads its key from, such as "idempotency-key"`)
		return key
	}
	key.Header = headerName(s["header"], neverSent)
	return key
}

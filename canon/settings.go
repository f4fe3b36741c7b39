package canon

import (
	"errors"
	"slices"
	"strings"

	"idem/canon/money"
)

// Protocol is how a body is read.
type Protocol string

// The protocols.
const (
	JSON Protocol = "json" // application/json, +json
	Form Protocol = "form" // application/x-www-form-urlencoded
	MCP  Protocol = "mcp"  // a JSON-RPC tools/call message
)

// Source says where a value of a call comes from. Exactly one member is set.
type Source struct {
	Pointer     string   // RFC 6901 into the body
	Header      string   // a request header's name
	Cookie      string   // a cookie's name
	Value       string   // this very text
	Metadata    []string // a path into Envoy's dynamic metadata, as jwt_authn leaves verified claims there
	Certificate string   // one of CertificateParts, of the certificate that the peer has shown
}

// CertificateParts are what of a peer's certificate may be a source: its first URI or DNS name (RFC 5280 section
// 4.2.1.6), its subject, or the digest of all of it, which is another for each certificate.
var CertificateParts = []string{"uri_san", "dns_san", "subject", "sha256"}

// Settings are the canonical settings of one rule. Their digest is part of what is hashed. The zero value of each
// member means its default, which its comment names.
type Settings struct {
	Rule       string            // the rule's name; part of the endpoint
	Paths      bool              // the rule is for several paths, such as a prefix: the path counts in any case
	Protocol   Protocol          // JSON
	Tool       *Source           // {Pointer: "/tool"} where the body has it, else the endpoint's last path segment
	Args       *Source           // {Pointer: "/args"} where the body has it, else the whole body
	Run        []Source          // header x-idem-run, else /runId or /run_id where the body has /args
	Scope      []Source          // authorization and x-api-key, or cookie where neither is there
	ScopeNone  bool              // scope: "none"
	Headers    []string          // more headers that say for whom, beside stripe-account, x-tenant-id, x-org-id
	Drop, Keep []string          // volatile names to add, to keep
	Identity   []string          // the only pointers (from the args) that count; empty: all
	Money      []MoneyField      // fields whose unit or currency a rule states
	Symbols    map[string]string // "$": "CAD"; "" means: leave raw
	Customer   []string          // pointers from the args; default: customer, customer_id, recipient, user_id, email
	Amount     []string          // pointers from the args; default: the money called amount, else the only money
}

// MoneyField states what the number at a pointer means.
type MoneyField struct {
	Pointer  string // from the args
	Unit     string // "minor" or "major", the default
	Currency string // ISO 4217 alphabetic code; empty: the currency field beside it
}

// SettingError is one mistake in Settings. New gives all of them, joined.
type SettingError struct {
	Pointer string // where it stands in a rule of the plugin's configuration: /money/0/unit
	Detail  string // what is wrong, and what would be right
}

func (e *SettingError) Error() string { return e.Pointer + ": " + e.Detail }

// The headers that say for whom a call is made, in every rule.
var forWhom = []string{"stripe-account", "x-org-id", "x-tenant-id"}

// rule is Settings, checked and made ready.
type rule struct {
	Settings
	tool, args         source // of Tool and Args, where they are given
	run                []source
	scope              []source
	headers            []string // sorted, lower case
	drop, keep         []string // folded
	identity           []located
	money              []moneyRule
	customers, amounts []located
	symbols            money.Symbols
	digest             string
}

// source is a Source whose pointer is parsed.
type source struct {
	Source
	at pointer
}

// located is a pointer with its text.
type located struct {
	text string
	at   pointer
}

// moneyRule is a MoneyField, checked.
type moneyRule struct {
	at       pointer
	minor    bool
	currency string
}

// checker collects what is wrong.
type checker struct{ problems []error }

func (c *checker) wrong(pointer, detail string) {
	c.problems = append(c.problems, &SettingError{pointer, detail})
}

// compile checks settings and key. Its error joins a *SettingError for every mistake.
func compile(s Settings, key Key) (*rule, error) {
	r := &rule{Settings: s, headers: slices.Clone(forWhom)}
	c := &checker{}
	if r.Protocol == "" {
		r.Protocol = JSON
	}
	if r.Protocol != JSON && r.Protocol != Form && r.Protocol != MCP {
		c.wrong("/protocol", quoted(string(s.Protocol))+" is no protocol: json, form or mcp")
	}
	if s.Tool != nil {
		r.tool = c.source("/tool", *s.Tool)
	}
	if s.Args != nil {
		r.args = c.source("/args", *s.Args)
		if kind := kindOf(*s.Args); kind != "pointer" && kind != "" {
			c.wrong("/args", "the args are a part of the body: give a pointer")
		}
	}
	if r.Protocol == MCP && (s.Tool != nil || s.Args != nil) {
		c.wrong("/protocol", "mcp fixes tool and args: params.name and params.arguments")
	}
	for i, from := range s.Run {
		r.run = append(r.run, c.source("/run/"+itoa(i), from))
	}
	for i, from := range s.Scope {
		r.scope = append(r.scope, c.source("/scope/"+itoa(i), from))
	}
	if s.ScopeNone && len(s.Scope) > 0 {
		c.wrong("/scope", `either "none" or sources, not both`)
	}
	for i, name := range s.Headers {
		c.header("/headers/"+itoa(i), name)
		r.headers = append(r.headers, strings.ToLower(name))
	}
	slices.Sort(r.headers)
	r.headers = slices.Compact(r.headers)
	r.drop = c.names("/volatile/drop", s.Drop)
	r.keep = c.names("/volatile/keep", s.Keep)
	for i, name := range r.drop {
		if name != "" && slices.Contains(r.keep, name) {
			c.wrong("/volatile/drop/"+itoa(i), quoted(s.Drop[i])+" is also in keep: a name is dropped or kept")
		}
	}
	r.identity = c.pointers("/identity", s.Identity)
	slices.SortFunc(r.identity, func(a, b located) int { return compareUTF16(a.text, b.text) })
	r.customers = c.pointers("/intent/customer", s.Customer)
	r.amounts = c.pointers("/intent/amount", s.Amount)
	for i, field := range s.Money {
		r.money = append(r.money, c.money("/money/"+itoa(i), field))
	}
	if len(s.Money) > 1<<14 {
		c.wrong("/money", "there are more than 16384 fields")
	}
	for symbol, currency := range s.Symbols {
		at := "/symbols/" + escapeToken(symbol)
		if !money.IsSymbol(symbol) {
			c.wrong(at, quoted(symbol)+` is no symbol as amounts have it: "$", "kr", "CFA"`)
		}
		if currency != "" && !money.IsCode(currency) {
			c.wrong(at, quoted(currency)+" is not a currency of ISO 4217; use the code of one in upper case, such as \"CAD\", or null to leave the symbol raw")
		}
	}
	if key.ID != "" && len(key.Secret) == 0 {
		c.wrong("/key", "the key has an id and no secret")
	}
	slices.SortFunc(c.problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	if err := errors.Join(c.problems...); err != nil {
		return nil, err
	}
	r.symbols = money.Symbols(s.Symbols)
	r.digest = digest(r)
	return r, nil
}

func quoted(text string) string { return string(appendString(nil, text)) }

// kindOf names the member of a source that is set; empty where none or several are.
func kindOf(s Source) string {
	kind := ""
	for _, member := range []struct {
		name string
		set  bool
	}{
		{"pointer", s.Pointer != ""}, {"header", s.Header != ""}, {"cookie", s.Cookie != ""}, {"value", s.Value != ""},
		{"metadata", len(s.Metadata) > 0}, {"certificate", s.Certificate != ""},
	} {
		if member.set && kind != "" {
			return ""
		}
		if member.set {
			kind = member.name
		}
	}
	return kind
}

func (c *checker) source(at string, s Source) source {
	made := source{Source: s}
	switch kindOf(s) {
	case "":
		c.wrong(at, "a source has exactly one of pointer, header, cookie, value, metadata, certificate")
	case "pointer":
		made.at = c.pointer(at+"/pointer", s.Pointer)
	case "header":
		c.header(at+"/header", s.Header)
		made.Header = strings.ToLower(s.Header)
	case "cookie":
		if strings.ContainsAny(s.Cookie, "=; \t") {
			c.wrong(at+"/cookie", quoted(s.Cookie)+" is no cookie's name: it has no =, ; or space")
		}
	case "certificate":
		if !slices.Contains(CertificateParts, s.Certificate) {
			c.wrong(at+"/certificate", quoted(s.Certificate)+" is no part of a certificate that is read: "+strings.Join(CertificateParts, ", "))
		}
	}
	return made
}

func (c *checker) pointer(at, text string) pointer {
	p, ok := parsePointer(text)
	if !ok {
		c.wrong(at, quoted(text)+" is no JSON pointer (RFC 6901): it begins with /, and ~ is written ~0")
	}
	return p
}

func (c *checker) pointers(at string, texts []string) (made []located) {
	for i, text := range texts {
		made = append(made, located{text, c.pointer(at+"/"+itoa(i), text)})
		if slices.Index(texts, text) < i {
			c.wrong(at+"/"+itoa(i), quoted(text)+" stands twice")
		}
	}
	return made
}

func (c *checker) header(at, name string) {
	for i := range len(name) {
		if ch := name[i]; ch <= ' ' || ch >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, ch) >= 0 {
			c.wrong(at, quoted(name)+" is no header's name")
			return
		}
	}
	if name == "" {
		c.wrong(at, "a header's name is missing")
	}
}

func (c *checker) names(at string, names []string) (folded []string) {
	for i, name := range names {
		f := fold(nil, name)
		if len(f) == 0 || name[0] == '/' {
			c.wrong(at+"/"+itoa(i), quoted(name)+" is no field's name of up to 40 ASCII characters, in any key style: request_id")
		}
		folded = append(folded, string(f))
	}
	return folded
}

func (c *checker) money(at string, f MoneyField) moneyRule {
	made := moneyRule{at: c.pointer(at+"/pointer", f.Pointer), minor: f.Unit == "minor", currency: f.Currency}
	if f.Pointer == "" {
		c.wrong(at+"/pointer", "a pointer to a number in the args is missing: /fee")
	}
	if f.Unit != "" && f.Unit != "minor" && f.Unit != "major" {
		c.wrong(at+"/unit", quoted(f.Unit)+" is no unit: minor (cents) or major (dollars)")
	}
	if f.Currency != "" && !money.IsCode(f.Currency) {
		c.wrong(at+"/currency", quoted(f.Currency)+" is not a currency of ISO 4217; use the code of one in upper case, such as \"JPY\"")
	}
	return made
}

package policy

import (
	"slices"
	"strings"

	"idem/canon"
	"idem/ledgerd/wire"
)

// defaultRunHeader is where the run is read from when a rule does not say.
const defaultRunHeader = "x-idem-run"

// canonSettings reads what decides whether two calls are one. What is right in itself may still be refused by
// canon.New.
func canonSettings(s map[string]field, rule *Rule) canon.Settings {
	volatile := s["volatile"].object("drop", "keep")
	intent := s["intent"].object("customer", "amount")
	scope, none := scopeSources(s["scope"])
	const name = `a field's name, such as "attempt"`
	return canon.Settings{
		Rule:      rule.Name,
		Paths:     rule.Match.Path == "", // a prefix, or a host's every path
		Protocol:  rule.Protocol,
		Tool:      source(s["tool"], nil),
		Args:      source(s["args"], nil),
		Run:       sources(s["run"], "leave it out for the default", neverRun),
		Scope:     scope,
		ScopeNone: none,
		Headers:   headerNames(s["headers"], neverWhom),
		Drop:      volatile["drop"].texts(name, nil),
		Keep:      volatile["keep"].texts(name, nil),
		Identity:  s["identity"].texts(wantPointer, badPointer),
		Money:     money(s["money"]),
		Symbols:   symbols(s["symbols"]),
		Customer:  intent["customer"].texts(wantPointer, badPointer),
		Amount:    intent["amount"].texts(wantPointer, badPointer),
	}
}

// runHeaders lists the headers that the run is read from.
func runHeaders(run []canon.Source) []string {
	if run == nil {
		return []string{defaultRunHeader}
	}
	var names []string
	for _, s := range run {
		if s.Header != "" {
			names = append(names, s.Header)
		}
	}
	return names
}

const wantPointer = `a JSON pointer (RFC 6901), such as "/customer"`

// badPointer says what is wrong with a pointer.
func badPointer(p string) string {
	if p[0] != '/' {
		return "is not a JSON pointer (RFC 6901); it begins with a slash, such as " + quoted("/"+p)
	}
	for rest := p; ; {
		i := strings.IndexByte(rest, '~')
		if i < 0 {
			return ""
		}
		if rest = rest[i+1:]; rest == "" || rest[0] != '0' && rest[0] != '1' {
			return "is not a JSON pointer (RFC 6901); write ~0 for a tilde and ~1 for a slash in a name"
		}
	}
}

const wantSource = `one source, such as {"header": "authorization"} or {"pointer": "/runId"}`

// source reads where a value comes from. nil: the setting is not there, or wrong.
func source(f field, checkHeader func(string) string) *canon.Source {
	if !f.there() {
		return nil
	}
	if f.value.kind != '{' {
		f.is('{', wantSource)
		return nil
	}
	s := f.object("pointer", "header", "cookie", "value", "metadata", "certificate")
	given := 0
	for _, m := range s {
		if m.there() {
			given++
		}
	}
	if given != 1 {
		f.wrong("must have exactly one of pointer, header, cookie, value, metadata and certificate; use " + wantSource)
		return nil
	}
	var src canon.Source
	if p, ok := s["pointer"].text(wantPointer); ok {
		if detail := badPointer(p); detail != "" {
			s["pointer"].wrong(detail)
		}
		src.Pointer = p
	}
	src.Header = headerName(s["header"], checkHeader)
	if name, ok := s["cookie"].text("a cookie's name"); ok {
		if !wire.Token(name) {
			s["cookie"].wrong("is not the name of a cookie (RFC 6265 section 4.1.1); use a name without spaces and separators")
		}
		src.Cookie = name
	}
	src.Value, _ = s["value"].text("the text that counts")
	if s["metadata"].there() {
		src.Metadata = metadataPath(s["metadata"])
	}
	if s["certificate"].there() {
		src.Certificate = s["certificate"].word(canon.CertificateParts...)
	}
	return &src
}

// metadataPath reads a path into Envoy's dynamic metadata. Names on it may be there twice.
func metadataPath(f field) []string {
	const want = `a path of names, such as ["envoy.filters.http.jwt_authn", "claims", "sub"]`
	var path []string
	items := f.items(want)
	for _, it := range items {
		if name, ok := it.text("a name on the path"); ok {
			path = append(path, name)
		}
	}
	if f.value.kind == '[' && len(items) < 2 {
		f.wrong("names no value; use " + want)
	}
	return path
}

// sources reads a list of sources that is not empty.
func sources(f field, instead string, checkHeader func(string) string) []canon.Source {
	var list []canon.Source
	items := f.items("a list of sources, such as [{\"header\": \"authorization\"}]")
	if f.there() && f.value.kind == '[' && len(items) == 0 {
		f.wrong("names no source; " + instead)
	}
	for _, it := range items {
		s := source(it, checkHeader)
		switch {
		case s == nil:
		case slices.ContainsFunc(list, func(other canon.Source) bool { return sameSource(other, *s) }):
			it.wrong("is in this list twice" + sourceName(*s) + "; give it once")
		default:
			list = append(list, *s)
		}
	}
	return list
}

// sameSource says whether two sources are one.
func sameSource(a, b canon.Source) bool {
	return a.Pointer == b.Pointer && a.Header == b.Header && a.Cookie == b.Cookie && a.Value == b.Value &&
		a.Certificate == b.Certificate && slices.Equal(a.Metadata, b.Metadata)
}

// sourceName shows which source it is, for a mistake shows no more of an object than that it is one.
func sourceName(s canon.Source) string {
	switch {
	case s.Header != "":
		return " (the header " + quoted(s.Header) + ", in whatever letter case)"
	case s.Cookie != "":
		return " (the cookie " + quoted(s.Cookie) + ")"
	case s.Pointer != "":
		return " (the pointer " + quoted(s.Pointer) + ")"
	}
	return ""
}

// scopeSources reads whose call it is: sources, or "none".
func scopeSources(f field) (scope []canon.Source, none bool) {
	if f.there() && f.value.kind == '"' {
		if f.value.text != "none" {
			f.wrong(`is no scope; use a list of sources, such as [{"header": "authorization"}], or "none"`)
		}
		return nil, true
	}
	return sources(f, `use "none" where every caller may be given every result, or leave it out for the default`, neverWhom), false
}

// money reads what numbers mean.
func money(f field) []canon.MoneyField {
	var fields []canon.MoneyField
	at := map[string]bool{}
	for _, it := range f.items(`a list of fields, such as [{"pointer": "/fee", "unit": "minor", "currency": "JPY"}]`) {
		s := it.object("pointer", "unit", "currency")
		if it.value.kind != '{' {
			continue
		}
		var m canon.MoneyField
		pointer, ok := s["pointer"].text(wantPointer)
		switch {
		case !s["pointer"].there():
			s["pointer"].missing("use " + wantPointer)
		case !ok:
		case badPointer(pointer) != "":
			s["pointer"].wrong(badPointer(pointer))
		case at[pointer]:
			s["pointer"].wrong("is in this list twice; give it once")
		}
		at[pointer] = true
		m.Pointer = pointer
		if s["unit"].there() {
			m.Unit = s["unit"].word("minor", "major")
		}
		m.Currency = currency(s["currency"])
		if !s["unit"].there() && !s["currency"].there() {
			it.wrong("says nothing of the field; give its unit, its currency or both")
		}
		fields = append(fields, m)
	}
	return fields
}

// currency reads an alphabetic code of ISO 4217; whether there is such a currency is canon's matter.
func currency(f field) string {
	const want = `a code of ISO 4217, such as "USD"`
	code, ok := f.text(want)
	if !ok {
		return ""
	}
	if len(code) != 3 || strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		f.wrong("is not a currency; use " + want)
	}
	return code
}

// symbols reads what currency symbols mean: a code, or null for "leave it as it is written".
func symbols(f field) map[string]string {
	if !f.is('{', `an object, such as {"$": "CAD"}`) {
		return nil
	}
	meaning := make(map[string]string, len(f.value.members))
	for _, m := range f.value.members {
		at := field{f.r, child(f.pointer, m.name), m.value}
		if _, twice := meaning[m.name]; twice {
			at.wrong("is the second value of this symbol; give it once")
			continue
		}
		meaning[m.name] = ""
		switch {
		case m.name == "":
			at.wrong(`stands under an empty name; name a symbol, such as "$"`)
		case m.value.kind != 'n':
			meaning[m.name] = currency(at)
		}
	}
	return meaning
}

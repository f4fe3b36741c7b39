package canon

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// digest gives the first 16 hex digits of the SHA-256 of the settings as JSON: what is at its default is left out, and
// lists whose order means nothing are sorted. The rule's name is no part of it: it stands in the endpoint.
func digest(r *rule) string {
	d := digester{out: []byte{'{'}}
	d.list("amount", r.Amount, false)
	d.sources("args", r.args)
	d.list("customer", r.Customer, false)
	d.list("drop", r.drop, true)
	d.list("headers", r.headers, true)
	d.list("identity", r.Identity, true)
	d.list("keep", r.keep, true)
	if len(r.Money) > 0 {
		d.name("money")
		d.out = append(d.out, '[')
		fields := slices.Clone(r.Money)
		slices.SortFunc(fields, func(a, b MoneyField) int { return strings.Compare(a.Pointer, b.Pointer) })
		for i, f := range fields {
			if i > 0 {
				d.out = append(d.out, ',')
			}
			d.strings(f.Pointer, cmp.Or(f.Unit, "major"), f.Currency)
		}
		d.out = append(d.out, ']')
	}
	if r.Paths {
		d.name("paths")
		d.out = append(d.out, "true"...)
	}
	d.name("protocol")
	d.out = appendString(d.out, string(r.Protocol))
	d.sources("run", r.run...)
	d.sources("scope", r.scope...)
	if r.ScopeNone {
		d.list("scope", []string{"none"}, false)
	}
	var symbols []string
	for symbol, currency := range r.Symbols {
		if symbol != "$" || currency != "USD" { // the default
			symbols = append(symbols, symbol+" "+currency)
		}
	}
	d.list("symbols", symbols, true)
	d.sources("tool", r.tool)
	sum := sha256.Sum256(append(d.out, '}'))
	return hex.EncodeToString(sum[:8])
}

// digester writes the object that digest hashes.
type digester struct{ out []byte }

func (d *digester) name(name string) {
	if len(d.out) > 1 {
		d.out = append(d.out, ',')
	}
	d.out = append(appendString(d.out, name), ':')
}

func (d *digester) strings(texts ...string) {
	d.out = append(d.out, '[')
	for i, text := range texts {
		if i > 0 {
			d.out = append(d.out, ',')
		}
		d.out = appendString(d.out, text)
	}
	d.out = append(d.out, ']')
}

func (d *digester) list(name string, texts []string, sorted bool) {
	if len(texts) == 0 {
		return
	}
	if sorted {
		texts = slices.Clone(texts)
		slices.Sort(texts)
		texts = slices.Compact(texts)
	}
	d.name(name)
	d.strings(texts...)
}

func (d *digester) sources(name string, sources ...source) {
	sources = slices.DeleteFunc(slices.Clone(sources), func(s source) bool { return kindOf(s.Source) == "" })
	if len(sources) == 0 {
		return
	}
	d.name(name)
	d.out = append(d.out, '[')
	for i, s := range sources {
		if i > 0 {
			d.out = append(d.out, ',')
		}
		d.strings(append([]string{kindOf(s.Source), s.Pointer + s.Header + s.Cookie + s.Value + s.Certificate}, s.Metadata...)...)
	}
	d.out = append(d.out, ']')
}

package canon_test

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"idem/canon"
	"idem/canon/money"
)

// inOtherWords respells what the reading of a document says to have one form: amounts of money, the letter case of
// e-mail addresses, the key style of volatile names. Texts that are written alike stay so, because two spellings of one
// thing in one call may be what the call is about.
func inOtherWords(random *rand.Rand, root any, done []canon.Change) any {
	as := map[string]string{} // a text of an address or an amount, and what to write instead
	for _, change := range done {
		parent, name := parentOf(root, change.Pointer)
		if parent == nil {
			continue
		}
		text, isText := parent.get(name).(string)
		switch change.Rule {
		case "email":
			if !isText || !isASCII(text) {
				continue
			}
			if as[text] == "" {
				if as[text] = text; !writtenOtherwise(root, text) {
					as[text] = otherCase(random, text)
				}
			}
			parent.set(name, as[text])
		case "money":
			other := otherMoney(random, change, name)
			if number, ok := parent.get(name).(json.Number); ok {
				text, isText = string(number), true
			}
			if !isText || other == "" {
				continue
			}
			if as["$"+text] == "" {
				as["$"+text] = other
			}
			parent.set(name, as["$"+text])
		case "volatile":
			if object, ok := parent.(member); ok {
				object.rename(name, otherStyle(random, name))
			}
		}
	}
	return root
}

// otherCase gives an address with other letters in upper case.
func otherCase(random *rand.Rand, address string) string {
	return strings.Map(func(r rune) rune {
		if random.IntN(2) == 0 {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, address)
}

// otherMoney gives an amount in one of the spellings that are read wherever amounts are; "" where none is sure.
func otherMoney(random *rand.Rand, change canon.Change, name string) string {
	var amount struct {
		Minor    json.Number `json:"amount_minor"`
		Currency string
	}
	if json.Unmarshal([]byte(change.To), &amount) != nil || strings.ContainsAny(string(amount.Minor), ".") || len(amount.Minor) > 15 {
		return ""
	}
	if class := money.ClassOf(name); class == money.NameMinor || class == money.NameCents || class == money.NameInMinor {
		return "" // a text that names a major unit may be meant either way there
	}
	symbol := map[string]string{"USD": "US$", "EUR": "€", "CAD": "CA$", "JPY": "JP¥"}[amount.Currency]
	if symbol == "" {
		return ""
	}
	decimals, _ := money.Decimals(amount.Currency)
	digits, negative := strings.CutPrefix(string(amount.Minor), "-")
	for len(digits) <= decimals {
		digits = "0" + digits
	}
	number := digits[:len(digits)-decimals]
	if decimals > 0 {
		number += []string{".", ","}[random.IntN(2)] + digits[len(digits)-decimals:]
	}
	sign := ""
	if negative {
		sign = []string{"-", "\u2212"}[random.IntN(2)]
	}
	unit := []string{symbol, amount.Currency}[random.IntN(2)]
	space := []string{"", " ", "\u00a0"}[random.IntN(3)]
	if random.IntN(2) == 0 {
		return sign + unit + space + number
	}
	return sign + number + space + unit
}

var nameWords = regexp.MustCompile(`^[A-Za-z][a-z0-9]*([-_][A-Za-z0-9]+|[A-Z][a-z0-9]*)+$`)

// otherStyle gives a volatile name in another key style.
func otherStyle(random *rand.Rand, name string) string {
	if !nameWords.MatchString(name) {
		return name // of one word, or a container's
	}
	if strings.EqualFold(strings.NewReplacer("-", "", "_", "").Replace(name), "runid") {
		return name // two of its styles name the run, and must be a text
	}
	var words []string
	for _, r := range name {
		switch {
		case r == '-' || r == '_':
			words = append(words, "")
		case len(words) == 0 || unicode.IsUpper(r) && name != strings.ToUpper(name) && words[len(words)-1] != "":
			words = append(words, string(unicode.ToLower(r)))
		default:
			words[len(words)-1] += string(unicode.ToLower(r))
		}
	}
	camel := ""
	for _, word := range words {
		camel += strings.ToUpper(word[:1]) + word[1:]
	}
	return []string{strings.Join(words, "_"), strings.Join(words, "-"), strings.ToUpper(strings.Join(words, "_")), camel,
		strings.ToLower(camel[:1]) + camel[1:]}[random.IntN(5)]
}

// place is where a value of a decoded document stands.
type place interface {
	get(name string) any
	set(name string, v any)
}

type (
	member  map[string]any
	element []any
)

func (m member) get(name string) any    { return m[name] }
func (m member) set(name string, v any) { m[name] = v }

// rename gives a member another name, unless there is one of that name.
func (m member) rename(name, other string) {
	if _, there := m[other]; !there {
		m[other] = m[name]
		delete(m, name)
	}
}

func (e element) get(name string) any {
	n, _ := strconv.Atoi(name)
	return e[n]
}

func (e element) set(name string, v any) {
	n, _ := strconv.Atoi(name)
	e[n] = v
}

// parentOf finds the object or array that a pointer leads into, and the last token of the pointer; nil where it leads
// nowhere.
func parentOf(root any, pointer string) (place, string) {
	tokens := strings.Split(pointer, "/")
	var at place
	name := ""
	for _, token := range tokens[1:] {
		if at != nil {
			root = at.get(name)
		}
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch v := root.(type) {
		case map[string]any:
			if _, there := v[name]; !there {
				return nil, ""
			}
			at = member(v)
		case []any:
			at = element(v)
		default:
			return nil, ""
		}
	}
	return at, name
}

// writtenOtherwise tells whether a text stands in a document in another letter case too.
func writtenOtherwise(v any, text string) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			if writtenOtherwise(member, text) {
				return true
			}
		}
	case []any:
		for _, element := range v {
			if writtenOtherwise(element, text) {
				return true
			}
		}
	case string:
		return v != text && strings.EqualFold(v, text)
	}
	return false
}

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

// TestTheFuzzerRespellsMoneyAddressesAndNames keeps FuzzRespelling from passing because it respells nothing.
func TestTheFuzzerRespellsMoneyAddressesAndNames(t *testing.T) {
	c := reader(t, canon.Settings{})
	for _, part := range []struct{ body, among string }{
		{`{"x":"$12.00"}`, `12,00 US$`}, {`{"price":1200,"currency":"JPY"}`, `JP¥1200`}, {`{"to":"Ada@b.io"}`, `ADA@b.IO`},
		{`{"x":1,"trace_id":2}`, `Trace`}, {`{"x":1,"Idempotency-Key":2}`, `IDEMPOTENCY_KEY`},
	} {
		found := map[string]bool{}
		for seed := range uint64(500) {
			a := read(t, c, post("", "/pay", part.body))
			text, err := json.Marshal(inOtherWords(rand.New(rand.NewPCG(seed, 5)), decoded(t, []byte(part.body)), a.Changes))
			if err != nil {
				t.Fatal(err)
			}
			found[string(text)] = true
			if b := read(t, c, post("", "/pay", string(text))); a.Fingerprint != b.Fingerprint {
				t.Fatalf("%s respelled %s is another call", part.body, text)
			}
		}
		all := ""
		for text := range found {
			all += text + "\n"
		}
		if len(found) < 4 || !strings.Contains(all, part.among) {
			t.Errorf("%s has no spelling with %s:\n%s", part.body, part.among, all)
		}
	}
}

package money

import (
	"strings"
	"testing"
)

// digitsOf are the significant digits of a text: what stays the same when separators, sign and magnitude go.
func digitsOf(text string) string {
	var digits strings.Builder
	for _, c := range []byte(text) {
		if isDigit(c) {
			digits.WriteByte(c)
		}
	}
	return strings.Trim(digits.String(), "0")
}

// FuzzParseText holds for any text: it is read or left, never both; what is read keeps its digits, agrees with the
// currency beside it, is canonical, and is the same for a respelling of its spaces and minus.
func FuzzParseText(f *testing.F) {
	for _, text := range []string{"$12.00", "12.00 USD", "1200 cents", "(1.234,56) €", "1'234.50- CHF", "₹1,23,456.00", "-\u00a01\u202f234 kr", "USD $12", "PEN-12", "1,234",
		"\u2212$0.00", "12 F CFA", "1.234 KWD", "\u200f12 ₪", "999999999999999999999.999 JPY", "Ada@Example.com", "2026-02-01"} {
		f.Add(text, "", false, false, false)
		f.Add(text, "", true, false, false)
		f.Add(text, "USD", true, true, false)
		f.Add(text, "KWD", true, true, true)
	}
	f.Fuzz(func(t *testing.T, text, beside string, field, bare, minor bool) {
		in := Field{Beside: beside, Money: field, Bare: bare, Minor: minor}
		amount, reason := ParseText(text, in, nil)
		if reason != Read {
			if amount != (Amount{}) {
				t.Fatalf("%q: %s and an amount", text, reason)
			}
			return
		}
		if !IsCode(amount.Currency) || IsCode(beside) && amount.Currency != beside {
			t.Fatalf("%q beside %q is of %q", text, beside, amount.Currency)
		}
		number := amount.Minor.String()
		if digitsOf(number) != digitsOf(text) {
			t.Fatalf("%q became %s", text, number)
		}
		again, ok := FromNumber(number, amount.Currency, true)
		if !ok || string(again.AppendJSON(nil)) != string(amount.AppendJSON(nil)) {
			t.Fatalf("%q: the canonical form %s is not its own", text, number)
		}
		respelled := strings.NewReplacer(" ", "\u202f", "-", "\u2212", "'", "\u2019").Replace(text)
		if len(respelled) <= maxText {
			twin, _ := ParseText(respelled, in, nil)
			if twin.Minor.String() != number || twin.Currency != amount.Currency {
				t.Fatalf("%q is %s, %q is %s", text, number, respelled, twin.Minor)
			}
		}
	})
}

// grouping is a way to write a whole number.
type grouping struct {
	group, mark string
	indian      bool
}

var groupings = []grouping{
	{"", ".", false}, {"", ",", false}, {",", ".", false}, {".", ",", false}, {" ", ",", false}, {" ", ".", false},
	{"\u00a0", ",", false}, {"\u202f", ",", false}, {"'", ".", false}, {"\u2019", ".", false}, {",", ".", true},
}

// write spells whole with its groups.
func (g grouping) write(whole string) string {
	var groups []string
	for size := 3; len(whole) > size; {
		groups = append([]string{whole[len(whole)-size:]}, groups...)
		whole = whole[:len(whole)-size]
		if g.indian {
			size = 2
		}
	}
	return strings.Join(append([]string{whole}, groups...), g.group)
}

// spellings are the ways to write so many minor units of a currency. None of them is ambiguous.
func spellings(minor string, code string, negative bool) (texts []string, numbers []string) {
	decimals, _ := Decimals(code)
	padded := minor
	for len(padded) <= decimals {
		padded = "0" + padded
	}
	whole, fraction := padded[:len(padded)-decimals], padded[len(padded)-decimals:]
	sign := ""
	if negative {
		sign = "-"
	}
	numbers = []string{sign + whole + "." + fraction + "0", sign + minor + "e-" + string(byte('0'+decimals))}
	for _, g := range groupings {
		// Two zeros more, so that three decimals after a lone separator never stand for a group.
		number := g.write(whole) + g.mark + fraction + "00"
		if decimals == 1 {
			number += "0"
		}
		units := []string{code}
		for _, row := range symbolTable {
			if row.unit.alone == code && !row.unit.minor {
				units = append(units, row.text)
			}
		}
		for _, unit := range units {
			if negative {
				texts = append(texts, "-"+number+" "+unit, unit+" -"+number, "-"+unit+number, "\u2212"+number+unit,
					"("+number+") "+unit, unit+"("+number+")", "("+unit+" "+number+")", "("+number+" "+unit+")", number+"- "+unit, unit+" "+number+"-")
			} else {
				texts = append(texts, number+" "+unit, number+unit, unit+" "+number, unit+number, "\u200e"+unit+"\u00a0"+number+"\n")
			}
		}
	}
	if code == "USD" {
		for _, unit := range []string{" cents", "¢", " Cents"} {
			texts = append(texts, sign+minor+unit, sign+minor+".0000"+unit)
		}
	}
	return texts, numbers
}

// FuzzRespelling writes one amount in every way and reads it back, and checks that one minor unit more is another.
func FuzzRespelling(f *testing.F) {
	f.Add(uint64(1200), uint8(0), false)
	f.Add(uint64(0), uint8(3), false)
	f.Add(uint64(99), uint8(7), true)
	f.Add(uint64(123456789012345678), uint8(120), true)
	f.Add(uint64(1234), uint8(71), false)
	for at := 0; at < len(table); at += rowWidth {
		f.Add(uint64(1234567), uint8(at/rowWidth), at%8 == 0)
	}
	f.Fuzz(func(t *testing.T, units uint64, currency uint8, negative bool) {
		row := int(currency) % (len(table) / rowWidth) * rowWidth
		code := table[row : row+codeWidth]
		minor := decimal(units)
		want := `{"amount_minor":` + minor + `,"currency":"` + code + `"}`
		if negative && units != 0 {
			want = `{"amount_minor":-` + minor + `,"currency":"` + code + `"}`
		}
		texts, numbers := spellings(minor, code, negative)
		for _, text := range texts {
			if len(text) > maxText {
				continue
			}
			for _, beside := range []string{"", code} {
				amount, reason := ParseText(text, Field{Beside: beside, Money: true, Bare: beside != ""}, nil)
				if got := string(amount.AppendJSON(nil)); reason != Read || got != want {
					t.Fatalf("%q beside %q: %s (%s), want %s", text, beside, got, reason, want)
				}
			}
		}
		for _, number := range numbers {
			amount, ok := FromNumber(number, code, false)
			if got := string(amount.AppendJSON(nil)); !ok || got != want {
				t.Fatalf("%s beside %s: %s, want %s", number, code, got, want)
			}
		}
		neighbours, _ := spellings(decimal(units/2+1)+"7", code, negative)
		if decimal(units/2+1)+"7" == minor {
			return
		}
		for _, text := range neighbours {
			if amount, _ := ParseText(text, Field{Money: true}, nil); string(amount.AppendJSON(nil)) == want {
				t.Fatalf("%q is %s too", text, want)
			}
		}
	})
}

func decimal(n uint64) string {
	if n < 10 {
		return string(byte('0' + n))
	}
	return decimal(n/10) + string(byte('0'+n%10))
}

// TestReadingAllocatesNothing, for texts of money and for those that are none.
func TestReadingAllocatesNothing(t *testing.T) {
	symbols := Symbols{"$": "CAD"}
	dst := make([]byte, 0, 256)
	for _, text := range []string{"$1,234.50", "12.00 USD", "1200 Cents", "(1 234,50) €", "12 usd", "12 apples", "C-200", strings.Repeat("12 ", 1<<20)} {
		for _, rule := range []Symbols{nil, symbols} {
			if n := testing.AllocsPerRun(20, func() {
				amount, reason := ParseText(text, Field{Beside: "USD", Money: true, Bare: true}, rule)
				if reason == Read {
					dst = amount.AppendJSON(dst[:0])
				}
				ClassOf("Shipping-Cost")
				FoldCode("usd")
				_, _ = FromNumber("12.5", "USD", false)
			}); n != 0 {
				t.Errorf("%.20q: %v allocations", text, n)
			}
		}
	}
}

var (
	benchAmount Amount
	benchReason Reason
	benchJSON   []byte
)

func BenchmarkParseText(b *testing.B) {
	for name, text := range map[string]string{
		"prose":      "Your order has shipped and will arrive on Monday, the 5th",
		"long":       strings.Repeat("Lorem ipsum dolor sit amet ", 40),
		"uuid":       "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
		"email":      "ada@example.com",
		"identifier": "C-200",
		"words":      "12 apples",
		"dollars":    "$12.00",
		"code":       "12.00 USD",
		"grouped":    "1.234.567,89 €",
		"cents":      "1200 cents",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				benchAmount, benchReason = ParseText(text, Field{Money: true}, nil)
			}
		})
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	amount, reason := ParseText("$1,234.50", Field{}, nil)
	if reason != Read {
		b.Fatal(reason)
	}
	benchJSON = make([]byte, 0, 64)
	b.ReportAllocs()
	for b.Loop() {
		benchJSON = amount.AppendJSON(benchJSON[:0])
	}
}

func BenchmarkClassOf(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		for _, name := range []string{"customer", "amount", "currencyCode", "shipping_cost", "order_id"} {
			ClassOf(name)
		}
	}
}

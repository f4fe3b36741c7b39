package money

import (
	"strings"
	"testing"
)

// TestUnitTablesAreInOrderAndNameCurrenciesOfToday also keeps the assumption behind minor-unit words: the word's unit is
// the one that ISO 4217 counts by.
func TestUnitTablesAreInOrderAndNameCurrenciesOfToday(t *testing.T) {
	for _, table := range [][]row{symbolTable[:], wordTable[:]} {
		for i, row := range table {
			if i > 0 && table[i-1].text >= row.text {
				t.Errorf("%q stands after %q", row.text, table[i-1].text)
			}
			if !IsSymbol(row.text) {
				t.Errorf("%q can never be read", row.text)
			}
			if len(row.unit.codes) == 0 || len(row.unit.codes)%codeWidth != 0 {
				t.Fatalf("%q: codes %q", row.text, row.unit.codes)
			}
			if row.unit.alone != "" && (!strings.Contains(row.unit.codes, row.unit.alone) || row.unit.weak) {
				t.Errorf("%q means %s alone, which is none of its currencies", row.text, row.unit.alone)
			}
			for at := 0; at < len(row.unit.codes); at += codeWidth {
				code := row.unit.codes[at : at+codeWidth]
				decimals, ok := Decimals(code)
				if !ok {
					t.Errorf("%q: %s is no current code", row.text, code)
				}
				if row.unit.minor && decimals != 2 && row.text != "fils" {
					t.Errorf("%q: %s has %d decimals", row.text, code, decimals)
				}
			}
		}
	}
	for _, row := range wordTable {
		if row.text != strings.ToLower(row.text) {
			t.Errorf("%q is looked up in lower case", row.text)
		}
	}
}

func TestRuleSaysWhatASymbolMeans(t *testing.T) {
	symbols := Symbols{"$": "CAD", "£": "egp", "kr": "SEK", "pence": "GBP", "R": "ZAR", "RMB": "CNY", "dollars": "USD", "cents": "", "TOP": "", "C$": ""}
	cases := []struct {
		text, beside string
		want         string
		reason       Reason
	}{
		{"$12", "", "1200 CAD", Read},
		{"$12", "USD", "1200 USD", Read}, // the currency beside it is nearer
		{"$12", "EUR", "", Contradicts},
		{"US$12", "", "1200 USD", Read}, // another symbol
		{"£12", "", "1200 EGP", Read},
		{"12 kr", "", "1200 SEK", Read},
		{"1200 pence", "", "1200 GBP", Read}, // still a minor unit
		{"R12", "", "1200 ZAR", Read},
		{"RMB 12", "", "1200 CNY", Read},
		{"12 RMB", "CNY", "1200 CNY", Read},
		{"12 RMB", "USD", "", Contradicts},
		{"12 dollars", "", "1200 USD", Read},
		{"1200 cents", "", "", LeftRaw},
		{"1200 cents", "USD", "", LeftRaw},
		{"C$12", "CAD", "", LeftRaw},
		{"TOP 10", "", "", LeftRaw},
		{"12 EUR", "", "1200 EUR", Read},
		{"12 apples", "", "", NotMoney},
	}
	for _, c := range cases {
		amount, reason := ParseText(c.text, Field{Beside: c.beside}, symbols)
		got := ""
		if reason == Read {
			got = amount.Minor.String() + " " + amount.Currency
		}
		if got != c.want || reason != c.reason {
			t.Errorf("%q beside %q: %q (%s), want %q (%s)", c.text, c.beside, got, reason, c.want, c.reason)
		}
	}
}

func TestSymbolThatNoTextCanHoldIsRefused(t *testing.T) {
	for _, text := range []string{"$", "R$", "kr.", "S/.", "F CFA", "zł", "₿", "dollars", "руб."} {
		if !IsSymbol(text) {
			t.Errorf("%q is a symbol", text)
		}
	}
	for _, text := range []string{"", " ", "$ ", " $", "F  CFA", ".kr", "a1", "a-b", "(x)", "#", "a,b", "it's", "tab\there", "seventeen letters", "\u200e$", "a\u00a0b", "a\u2019b"} {
		if IsSymbol(text) {
			t.Errorf("%q is no symbol", text)
		}
	}
}

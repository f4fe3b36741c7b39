package money

import (
	"strings"
	"testing"
)

// TestACodeThatIsAWordTooIsMoneyOnlyWhereSomethingElseSaysSo goes through the whole table.
func TestACodeThatIsAWordTooIsMoneyOnlyWhereSomethingElseSaysSo(t *testing.T) {
	known := map[string]bool{}
	for at := 0; at < len(words); at += codeWidth {
		code := words[at : at+codeWidth]
		decimals, current := Decimals(code)
		if !current || known[code] {
			t.Fatalf("%s is no current code, or stands twice", code)
		}
		known[code] = true
		want := "8" + strings.Repeat("0", decimals) + " " + code
		for _, text := range []string{code + " 8", code + "8.0", "8 " + code, "8,00" + code, "-" + code + " 8"} {
			for _, field := range []Field{{}, {Beside: "XYZ"}} {
				if amount, reason := ParseText(text, field, nil); reason != NotPlain || amount != (Amount{}) {
					t.Errorf("%q in %+v is %s %s (%s)", text, field, amount.Minor, amount.Currency, reason)
				}
			}
			for _, field := range []Field{{Money: true}, {Beside: code}, {Beside: code, Money: true, Bare: true}} {
				amount, reason := ParseText(text, field, nil)
				if got := amount.Minor.String() + " " + amount.Currency; reason != Read || strings.TrimPrefix(got, "-") != want {
					t.Errorf("%q in %+v is %s (%s), want %s", text, field, got, reason, want)
				}
			}
			if amount, reason := ParseText(text, Field{}, Symbols{code: code}); reason != Read || amount.Currency != code {
				t.Errorf("%q is not read, although the rule's symbols have the code (%s)", text, reason)
			}
		}
	}
	for _, code := range []string{"ALL", "AMD", "BAM", "COP", "CUP", "GEL", "LAK", "MAD", "MOP", "PEN", "PHP", "RON", "SOS", "TOP", "TRY"} {
		if !known[code] {
			t.Errorf("%s is missing", code)
		}
	}
}

func TestLargeCurrenciesAndThoseWithASignAreReadInAnyField(t *testing.T) {
	for _, code := range []string{"USD", "EUR", "JPY", "GBP", "CNY", "AUD", "CAD", "CHF", "INR", "KRW", "BRL", "MXN", "RUB", "SAR", "SGD", "SEK", "ZAR", "PLN"} {
		if amount, reason := ParseText(code+" 12", Field{}, nil); reason != Read || amount.Currency != code {
			t.Errorf("%s 12 is not read (%s)", code, reason)
		}
	}
	for _, text := range []string{"PHP ₱8.10", "₱8.1 PHP", "₱8.1", "COP $8.10", "₺8.1 TRY"} {
		if _, reason := ParseText(text, Field{}, nil); reason != Read {
			t.Errorf("%q is not read (%s): its sign says that it is money", text, reason)
		}
	}
}

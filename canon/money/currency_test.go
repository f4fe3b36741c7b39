package money

import "testing"

func TestMinorUnitsAreThoseOfISO4217(t *testing.T) {
	for code, want := range map[string]int{
		"USD": 2, "EUR": 2, "GBP": 2, "CHF": 2, "JPY": 0, "KRW": 0, "VND": 0, "ISK": 0, "CLP": 0, "UGX": 0, "XAF": 0, "XOF": 0, "XPF": 0, "UYI": 0,
		"KWD": 3, "BHD": 3, "IQD": 3, "JOD": 3, "LYD": 3, "OMR": 3, "TND": 3, "CLF": 4, "UYW": 4,
		"HUF": 2, "IDR": 2, "CHE": 2, "MXV": 2, "COU": 2, "USN": 2, "BOV": 2, "XCD": 2, "XCG": 2, "ZWG": 2, "SLE": 2, "VED": 2,
	} {
		if got, ok := Decimals(code); !ok || got != want || !IsCode(code) {
			t.Errorf("%s has %d decimals (%t), want %d", code, got, ok, want)
		}
	}
}

func TestWhatHasNoMinorUnitsOrIsWithdrawnIsNoCode(t *testing.T) {
	for _, code := range []string{"XXX", "XTS", "XAU", "XAG", "XDR", "XBA", "XSU", "XUA", "DEM", "FRF", "HRK", "BGN", "ANG", "ZZZ", "AAA", "", "US", "USDD", "usd", "US2", "2US", "SD2"} {
		if _, ok := Decimals(code); ok || IsCode(code) {
			t.Errorf("%q is a code", code)
		}
	}
}

func TestEveryRowOfTheTableIsFound(t *testing.T) {
	if len(table)%rowWidth != 0 || len(table)/rowWidth < 160 {
		t.Fatalf("the table has %d bytes", len(table))
	}
	for at := 0; at < len(table); at += rowWidth {
		code := table[at : at+codeWidth]
		if at > 0 && table[at-rowWidth:at-1] >= code {
			t.Errorf("%s is out of order", code)
		}
		if decimals, ok := Decimals(code); !ok || decimals != int(table[at+codeWidth]-'0') {
			t.Errorf("%s: %d, %t", code, decimals, ok)
		}
	}
}

func TestCodeBesideAnAmountIsReadInAnyCase(t *testing.T) {
	for _, code := range []string{"usd", "Usd", "USD", "uSD"} {
		if got, ok := FoldCode(code); !ok || got != "USD" {
			t.Errorf("%s: %q, %t", code, got, ok)
		}
	}
	// The long s and the Kelvin sign fold to ASCII letters in Unicode, and must not here.
	for _, code := range []string{"", " usd", "usd ", "us", "xyz", "xxx", "u\u017fd", "\u212ar", "dollar"} {
		if got, ok := FoldCode(code); ok || got != "" {
			t.Errorf("%q: %q", code, got)
		}
	}
}

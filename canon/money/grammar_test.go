package money

import "testing"

// spelling is a text and what its object says about it.
type spelling struct {
	text string
	in   Field
}

// in are texts of one field.
func in(field Field, texts ...string) []spelling {
	var all []spelling
	for _, text := range texts {
		all = append(all, spelling{text, field})
	}
	return all
}

// alone are texts of a money field with nothing beside them.
func alone(texts ...string) []spelling { return in(Field{Money: true}, texts...) }

// with are texts beside a currency, in a field that is not one of money.
func with(beside string, texts ...string) []spelling { return in(Field{Beside: beside}, texts...) }

// field are texts of a money field beside a currency.
func field(beside string, texts ...string) []spelling {
	return in(Field{Beside: beside, Money: true, Bare: true}, texts...)
}

// minors are texts of a field beside a currency that counts minor units.
func minors(beside string, texts ...string) []spelling {
	return in(Field{Beside: beside, Money: true, Bare: true, Minor: true}, texts...)
}

func join(groups ...[]spelling) []spelling {
	var all []spelling
	for _, group := range groups {
		all = append(all, group...)
	}
	return all
}

func read(s spelling) (string, Reason) {
	amount, reason := ParseText(s.text, s.in, nil)
	if reason != Read {
		if amount != (Amount{}) {
			return "an amount in spite of the reason", reason
		}
		return "", reason
	}
	return amount.Minor.String() + " " + amount.Currency, reason
}

// TestSpellingsOfOneAmountAreOne goes through the grammar of the package comment: every spelling of a group is the one
// amount, in minor units, that the group names.
func TestSpellingsOfOneAmountAreOne(t *testing.T) {
	groups := map[string]struct {
		want      string
		spellings []spelling
	}{
		"code before and after": {"1200 USD", alone(
			"USD 12.00", "USD12.00", "12.00 USD", "12.00USD", "12 USD", "USD 12", "USD12", "12.0 USD", "12.000000 USD", "12,0 USD")},
		"symbol before and after": {"1200 EUR", join(
			alone("€12.00", "€ 12.00", "12.00€", "12.00 €", "12,00 €", "€12", "12 €", "€12,0"), with("EUR", "€12"))},
		"symbols that name a currency": {"1200 USD", alone("US$12", "US$ 12", "12 US$", "12,00 $US", "12,00 $ US", "12,00 $\u00a0US")},
		"a symbol of several means the default": {"1200 USD", alone(
			"$12.00", "$12", "$ 12", "12$", "12 $", "1200 cents", "1200 cent", "1200 Cents", "1200¢", "1200 ¢", "1200.0 cents")},
		"a symbol of several means what is beside it": {"1200 CAD", join(
			with("CAD", "$12.00", "12 $", "1200 cents", "1200c", "CA$12", "12 CAD", "C$12"), alone("CAD 12", "CA$12"))},
		"pounds":          {"1200 GBP", join(alone("£12", "12.00 GBP", "UK£12"), with("GBP", "£12", "1200 pence", "1200p", "1200 Pence"))},
		"pounds of Egypt": {"1200 EGP", join(alone("EGP 12", "EG£12"), with("EGP", "£12"))},
		"kronor":          {"1200 SEK", join(alone("12 SEK"), with("SEK", "12 kr", "kr 12", "kr. 12", "12 kr.", "1200 öre"))},
		"kroner":          {"1200 NOK", with("NOK", "12 kr", "kr12,00", "1200 øre")},
		"yen":             {"1200 JPY", join(alone("1200 JPY", "JPY 1200", "1200.00 JPY", "JP¥1200", "1200円"), with("JPY", "¥1200", "￥1200"))},
		"yuan":            {"1200 CNY", join(alone("CN¥12"), with("CNY", "¥12", "12元", "1200 fen"))},
		"won":             {"1200 KRW", alone("₩1200", "1200 KRW", "￦1200", "₩1200.00")},
		"rupees":          {"12345600 INR", join(alone("₹1,23,456.00", "INR 123456"), with("INR", "Rs. 1,23,456", "Rs 123456", "₨123456", "12345600 paise"))},
		"rand":            {"1200 ZAR", join(alone("12 ZAR"), with("ZAR", "R12.00", "R 12", "1200c"))},
		"real":            {"1200 BRL", join(alone("R$ 12,00", "R$12", "12 BRL"), with("BRL", "1200 centavos"))},
		"złoty":           {"1200 PLN", join(alone("12 zł", "12,00 zł"), with("PLN", "1200 groszy"))},
		"koruna":          {"1200 CZK", alone("12 Kč", "12,00 Kč")},
		"franc":           {"1200 CHF", join(alone("CHF 12", "SFr. 12"), with("CHF", "Fr. 12", "Fr.12", "Fr 12.00", "1200 Rappen"))},
		"francs CFA":      {"1200 XOF", join(alone("1200 XOF"), with("XOF", "1200 F CFA", "1200 F\u202fCFA", "1200 FCFA", "1200 CFA"))},
		"three decimals":  {"1234 KWD", join(alone("1.234 KWD", "KWD 1.2340", "1,2340 KWD"), with("KWD", "1234 fils"), field("KWD", "1.234"))},
		"four decimals":   {"12345 CLF", alone("1.2345 CLF", "CLF 1,2345")},
		"a code and a symbol that agree": {"1200 CAD", join(
			alone("$12 CAD", "$12.00CAD", "CAD $12", "CAD$12", "CAD 12 $", "12 $ CAD", "12 $CAD", "CA$12 CAD", "CAD 1200 cents", "1200 cents CAD"),
			with("CAD", "$12 CAD"))},
		"lower case beside its own code": {"1200 USD", with("USD", "12 usd", "usd 12", "12 Usd", "$12 usd")},
		"digits alone in a money field":  {"1200 USD", field("USD", "12", "12.0", "12.00", "12,00", "$12", "12 USD", "1200 cents", " 12 ", "$0012.00")},
		"digits alone in a minor field": {"1200 USD", join(
			minors("USD", "1200", "1,200.0", "1200 cents", "1200¢", "1200 cents USD"), in(Field{Money: true, Minor: true}, "1200 cents", "1200 ¢"))},
		"a unit of major ones that has no minor ones": {"1200 JPY", join(minors("JPY", "1200", "1200 JPY", "¥1200"), in(Field{Money: true, Minor: true}, "JPY 1200"))},
		"a plain spelling in any field": {"1200 USD", in(Field{},
			"$12.00", "$12", "12.00 USD", "12 USD", "USD12", "1200 cents", "1200¢", "US$ 12", "US$12", "$ 12", "12 $", "12,00 US$", "12.00 $\u00a0US", "USD $12")},
		"a plain sign in any field":  {"-1200 USD", in(Field{}, "-$12", "$-12", "-12.00 USD", "\u221212 USD", "USD -12", "-USD 12")},
		"a plain group in any field": {"123456789 USD", in(Field{}, "$1,234,567.89", "1.234.567,89 USD", "1'234'567.89 USD", "1\u202f234\u202f567,89\u00a0USD", "1 234 567,89 USD")},

		"grouped by commas":                     {"123456789 USD", alone("$1,234,567.89", "1,234,567.89 USD", "$1234567.89")},
		"grouped by points":                     {"123456789 EUR", alone("1.234.567,89 €", "€1.234.567,89", "1234567,89 €")},
		"grouped by spaces":                     {"123456789 EUR", alone("1 234 567,89 €", "1 234 567.89 EUR", "1\u00a0234\u00a0567,89\u00a0€", "1\u202f234\u202f567,89\u202f€", "1\u2009234\u2009567,89 €")},
		"grouped by apostrophes":                {"123456789 CHF", alone("CHF 1'234'567.89", "1’234’567.89 CHF", "1’234’567,89 CHF")},
		"grouped as in India":                   {"1234567890 INR", alone("₹1,23,45,678.90", "1,23,45,678.90 INR", "INR 12345678.9")},
		"groups without decimals":               {"123456700 USD", alone("$1,234,567", "1.234.567 USD", "1 234 567 USD", "1'234'567 USD", "12,34,567 USD")},
		"one group that cannot be decimals":     {"123400 USD", alone("1 234 USD", "1'234 USD", "1\u00a0234 USD", "$1,234.0")},
		"three decimals that cannot be a group": {"12.5 USD", alone("0.125 USD", "0,125 USD", "$0.125", "$00.125", "0.1250 USD")},
		"four before cannot be a group":         {"123456.7 USD", alone("1234.567 USD", "1234,567 USD", "1,234.567 USD", "1 234,567 USD")},

		"minus": {"-1200 USD", alone(
			"-12 USD", "-$12", "$-12", "$ -12.00", "- $12", "-12.00USD", "\u221212.00 USD", "$\u221212", "USD -12", "-USD 12", "12- USD", "12.00- USD",
			"$12-", "USD 12.00-", "USD-12.00", "12.00-USD", "\u200e-$12")},
		"accounting":            {"-1200 USD", alone("($12.00)", "(12.00) USD", "$(12.00)", "$ (12.00)", "(USD 12.00)", "(12.00 USD)", "(12.00 $)", "USD (12)", "($12) USD", "(1200 cents)")},
		"negative digits alone": {"-1200 USD", field("USD", "-12", "- 12", "12-", "(12.00)", "\u221212", "USD-12")},
		"zero has no sign":      {"0 USD", alone("$0", "-$0", "($0.00)", "0 cents", "-0.000 USD", "USD 0.00")},
		"white space and direction marks": {"-123450 ILS", alone(
			"\u200f-1,234.50\u00a0₪", "\u200e-\u200e₪1,234.50", "\u061c-1234.50 ILS", " -1234.5  ILS\n", "\t₪ -1234.50\r\n", "\u00a0-1234.50₪\u00a0", "\u00a0\n-1234.50₪\u200f \n\u202f")},

		"finer than a minor unit": {"1234.56 USD", alone("12.3456 USD", "$12.34560", "1234.56 cents", "1,234.56 cents")},
		"beyond 64 bits":          {"12345678901234567890123400 USD", alone("$123456789012345678901234", "123,456,789,012,345,678,901,234.00 USD")},
	}
	for name, group := range groups {
		t.Run(name, func(t *testing.T) {
			for _, s := range group.spellings {
				if got, reason := read(s); got != group.want {
					t.Errorf("%q in %+v: %q (%s), want %q", s.text, s.in, got, reason, group.want)
				}
			}
		})
	}
}

// TestWhatIsInDoubtStaysRaw names the reason why a text that looks like money is none.
func TestWhatIsInDoubtStaysRaw(t *testing.T) {
	raw := map[Reason][]spelling{
		Ambiguous: join(
			alone("1,234 USD", "1.234 USD", "$1,234", "12,345 EUR", "12.345 EUR", "123,456 JPY", "-1,234 USD", "(1.234) USD", "1.234 CLF", "1,234 cents", "100,000 USD"),
			alone("1,234 KWD", "KWD 12,345"), with("KWD", "1.234 fils"), field("USD", "1,234", "1.234"), minors("KWD", "1.234")),
		Misgrouped: join(
			alone("1,23,4 USD", "1,2,3 USD", "1234,567,890 USD", "1.23,45 EUR", "12 34 USD", "1,234,56 USD", "1.23.456 EUR", "1'23'456 INR", "1 2345 USD",
				"1,234.567,8 USD", "1 234'567 USD", "1 234.567.890 EUR", "0,123,456 USD", "0 123 USD", "123,45,678 INR", "1,23,456,789 INR", "1.234 567 EUR")),
		NoCurrency: join(alone("12 kr", "kr12", "kr. 12", "¥500", "Rs 500", "₨12", "50 pence", "500 öre", "12 C$", "100 fils", "12元"), field("", "12"), field("XYZ", "12")),
		MixedUnits: join(minors("USD", "1200 USD", "$1200", "12.00 USD", "USD 1200", "1200 usd", "$12 USD"), in(Field{Money: true, Minor: true}, "1200 USD", "$1200", "€12", "1.2345 CLF"),
			minors("KWD", "1200 KWD")),
		NotPlain: in(Field{}, "$12 ", " $12", "$12\n", "\t$12", "\u00a0$12", "$  12", "$12\r\n", "$01", "$00.50", "€007", "($12)", "(12 USD)", "$(12)", "(12.00) USD",
			"$12-", "12- USD", "12.00-USD", "- $12", "12$", "12.00$", "12$ CAD", "€1.50\n"),
		Contradicts: join(with("EUR", "$12", "12 USD", "£12", "12 kr", "50 pence", "¥12", "US$12", "$12 USD"), alone("€12 USD", "£12 USD", "1200 cents GBP", "EUR $12"), with("USD", "$12 CAD", "12 CAD"), with("JPY", "1200 cents")),
		NotMoney: join(
			alone("", " ", "USD", "$", "-", "()", "12", "12.00", "-12", "1,234.56", "75001", "0150", "2026-02-01", "10:00:00", "1.0.0", "+12 USD", "+$12"),
			alone("12 apples", "C-200", "r1", "Q3", "R12", "R 12", "12 p", "P5", "Fr. 12", "K2", "RM 12", "12 dollars", "v1.2", "1/2", "#12", "$x", "x$12", "12$x"),
			alone("12 usd", "usd 12", "top 10", "try 2", "Usd 12", "12 XXX", "12 XTS", "XAU 1", "12 XYZ", "12 DEM", "12 ABC"),
			alone("PEN-12", "TOP-10", "12-USD", "50-cents", "TOP 007", "PEN001", "007 USD", "MOP-05"),
			alone("USD 12 USD", "USD 12 EUR", "€12€", "$12 €", "cents 12", "¢50", "$1200 cents", "USD EUR 12", "$ $ 12", "USD 12 $ CAD"),
			alone("--12 USD", "-(12) USD", "(-12) USD", "-12- USD", "(12.00-) USD", "(12 USD", "12) USD", "((12)) USD", "(12) (USD)", "- -12 USD", "$-(12)", "12 USD-"),
			alone(".5 USD", "$.50", "5. USD", "$5.", "12.- CHF", "12,- €", "12.– CHF", "1..5 USD", "1,,234 USD", "1 ,234 USD", "1, 234 USD", "1_000 USD", "1e3 USD", "0x1F USD", "1e3", "12 . 5 USD"),
			alone("١٢ USD", "１２ USD", "½ USD", "12 U S D", "12\tUSD", "12\n USD", "1\u200b2 USD", "$12 and $13", "$12 $13", "USD 12, 13", "12 USD/h", "$12/h", "12 USD 13"),
			alone("123456789012345678901234567890123456789012345678901234567890123 USD"),
			in(Field{}, "12", "(12)", "12-", "apples "), with("USD", "R12", "Q3", "12 p", "12 eur", "12"), field("USD", "12 apples", "2026-02-01", "+12", "1e2", ".5", "", "00123", "0012.00", "-012"), minors("USD", "0120")),
	}
	for reason, spellings := range raw {
		t.Run(reason.String(), func(t *testing.T) {
			for _, s := range spellings {
				if got, found := read(s); got != "" || found != reason {
					t.Errorf("%q in %+v: %q (%s), want %s", s.text, s.in, got, found, reason)
				}
			}
		})
	}
}

// TestAmountsThatOnlyLookAlikeStayApart holds the pairs that a careless reader takes for one.
func TestAmountsThatOnlyLookAlikeStayApart(t *testing.T) {
	pairs := []struct {
		why  string
		a, b spelling
	}{
		{"brackets are a minus", alone("(12.00) USD")[0], alone("12.00 USD")[0]},
		{"a Unicode minus is a minus", alone("\u22125.00 EUR")[0], alone("5.00 EUR")[0]},
		{"a trailing minus is a minus", alone("5.00- EUR")[0], alone("5.00 EUR")[0]},
		{"the dollar beside CAD is not that of USD", with("CAD", "$12")[0], with("USD", "$12")[0]},
		{"a European group is no decimal", alone("€52.000,00")[0], alone("€52.00")[0]},
		{"cents are not dollars", alone("1200 cents")[0], alone("1200 USD")[0]},
		{"a minor field is not a major one", minors("USD", "1200")[0], field("USD", "1200")[0]},
		{"fractions of a cent are not rounded", alone("12.345600 USD")[0], alone("12.35 USD")[0]},
		{"nor cut off", alone("19.990 USD")[0], alone("19.98 USD")[0]},
		{"half a yen is not none", alone("1200.5 JPY")[0], alone("1200 JPY")[0]},
		{"beyond the doubles", alone("900719925474099.93 USD")[0], alone("900719925474099.92 USD")[0]},
		{"a thousand fils", alone("27.400 KWD")[0], alone("27400 KWD")[0]},
		{"currencies of one symbol", with("SEK", "12 kr")[0], with("NOK", "12 kr")[0]},
		{"hundred and thousand", alone("1,000.00 USD")[0], alone("100.000 USD")[0]},
		{"lakh and million", alone("₹1,00,000.00")[0], alone("₹10,00,000.00")[0]},
		{"a group of four digits is none", alone("1,2345 USD")[0], alone("12345 USD")[0]},
	}
	for _, pair := range pairs {
		a, _ := read(pair.a)
		b, _ := read(pair.b)
		if a == b {
			t.Errorf("%s: %+v and %+v are both %q", pair.why, pair.a, pair.b, a)
		}
	}
}

func TestEveryReasonTellsAPersonWhatWouldSettleIt(t *testing.T) {
	names, sentences := map[string]bool{}, map[string]bool{}
	for reason := NotMoney; reason < reasons; reason++ {
		names[reason.String()], sentences[reason.Why()] = true, true
	}
	if want := int(reasons); len(names) != want || len(sentences) != want || sentences[""] {
		t.Errorf("%d names and %d sentences for %d reasons", len(names), len(sentences), want)
	}
}

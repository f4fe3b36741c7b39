package money

import (
	"strings"
	"testing"
)

func TestNumberBesideACurrencyIsExact(t *testing.T) {
	cases := []struct {
		literal, currency string
		minor             bool
		want              string
	}{
		{"12", "USD", false, "1200"},
		{"12.0", "USD", false, "1200"},
		{"1.2e1", "USD", false, "1200"},
		{"1.2E+1", "USD", false, "1200"},
		{"1200e-2", "USD", false, "1200"},
		{"0.00012e5", "USD", false, "1200"},
		{"12.3456", "USD", false, "1234.56"},
		{"1.234", "USD", false, "123.4"}, // a number's point is never a group's
		{"1.234", "KWD", false, "1234"},
		{"1200", "JPY", false, "1200"},
		{"1200.5", "JPY", false, "1200.5"},
		{"1", "CLF", false, "10000"},
		{"1200", "USD", true, "1200"},
		{"1200.0", "USD", true, "1200"},
		{"1.5", "USD", true, "1.5"},
		{"-12", "USD", false, "-1200"},
		{"-0", "USD", false, "0"},
		{"-0.00e7", "USD", false, "0"},
		{"0e400", "USD", false, "0"},
		{"0.001", "USD", false, "0.1"},
		{"-0.0001", "USD", false, "-0.01"},
		{"900719925474099.93", "USD", false, "90071992547409993"},
		{"1e68", "USD", true, "1" + strings.Repeat("0", 68)},
		{"100e66", "USD", true, "1" + strings.Repeat("0", 68)},
		{"1e66", "USD", false, "1" + strings.Repeat("0", 68)},
		{"1e-69", "USD", true, "0." + strings.Repeat("0", 68) + "1"},
		{"0.01e-67", "USD", true, "0." + strings.Repeat("0", 68) + "1"},
		{"1e-71", "USD", false, "0." + strings.Repeat("0", 68) + "1"},
		{"0e-400", "USD", false, "0"},
	}
	for _, c := range cases {
		amount, ok := FromNumber(c.literal, c.currency, c.minor)
		if got := amount.Minor.String(); !ok || got != c.want || amount.Currency != c.currency {
			t.Errorf("%s beside %s: %s %s, %t; want %s", c.literal, c.currency, got, amount.Currency, ok, c.want)
		}
	}
}

func TestWhatIsNoNumberIsRefused(t *testing.T) {
	for _, literal := range []string{
		"", "-", "+1", "01", "-01", ".5", "1.", "1.e2", "1e", "1e+", "1e-", "1e1.5", "1 ", " 1", "1,2", "1_000", "0x1F", "NaN", "Infinity", "--1", "1e5x",
		"1e69", "10e68", "1" + strings.Repeat("0", 69), "1e-72", "0.1e-71", "0." + strings.Repeat("0", 71) + "1", "1e400", "1e-400", "1e401", "1e-401", "1e99999999999999999999", "0e999",
	} {
		if amount, ok := FromNumber(literal, "USD", false); ok || amount != (Amount{}) {
			t.Errorf("%q gave %s", literal, amount.AppendJSON(nil))
		}
	}
	for _, currency := range []string{"", "usd", "XXX", "XAU", "USDX", "DEM"} {
		if _, ok := FromNumber("12", currency, false); ok {
			t.Errorf("12 beside %q", currency)
		}
	}
}

func TestNumberOfAMillionDigitsKeepsThemAll(t *testing.T) {
	digits := strings.Repeat("1234567890", 100_000) + "1"
	amount, ok := FromNumber(digits+".25", "USD", false)
	if got := amount.Minor.String(); !ok || got != digits+"25" {
		t.Errorf("ok %t, %d digits; want %d", ok, len(got), len(digits)+2)
	}
}

func TestCanonicalFormHasNoSurplus(t *testing.T) {
	cases := map[string]Decimal{
		"0":         {},
		"7":         {whole: "007"},
		"70":        {whole: "7", shift: 1},
		"1234":      {whole: "1,234", fraction: "000"},
		"123450":    {whole: "1,234", fraction: "50", shift: 2},
		"123456.7":  {whole: "1 234", fraction: "567", shift: 2},
		"0.05":      {whole: "0", fraction: "05"},
		"0.0012":    {whole: "12", shift: -4},
		"1.2":       {whole: "12", shift: -1},
		"-1.2":      {negative: true, whole: "1", fraction: "20"},
		"-0.000001": {negative: true, fraction: "1", shift: -5},
		"10.01":     {whole: "10", fraction: "010"},
	}
	for want, number := range cases {
		if got := number.String(); got != want {
			t.Errorf("%+v is %s, want %s", number, got, want)
		}
	}
	zero := Amount{Minor: Decimal{negative: true, whole: "0", fraction: "00"}, Currency: "USD"}
	if got := string(zero.AppendJSON([]byte("x"))); got != `x{"amount_minor":0,"currency":"USD"}` {
		t.Errorf("minus zero is %s", got)
	}
}

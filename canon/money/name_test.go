package money

import "testing"

func TestFieldNamesAreReadInAnyKeyStyle(t *testing.T) {
	names := map[Class][]string{
		NameAmount: {
			"amount", "Amount", "AMOUNT", "price", "total", "subtotal", "fee", "tax", "tip", "cost", "charge", "balance", "payment", "refund",
			"paid_amount", "paidAmount", "PaidAmount", "Paid-Amount", "PAID_AMOUNT", "paid amount", "totalAMOUNT", "HTTPFee", "order.total", "charge[amount]",
			"shipping_cost", "unitPrice", "service-fee", "line2Total", "_amount", "amount_", "sub_total",
		},
		NameValue:    {"value", "Value", "VALUE"},
		NameMinor:    {"amount_minor", "amountMinor", "Amount-Minor", "AMOUNT_MINOR"},
		NameCents:    {"amount_cents", "amountCents", "Amount-Cents"},
		NameCurrency: {"currency", "Currency", "CURRENCY", "currency_code", "currencyCode", "Currency-Code", "ccy", "CCY"},
		NameInMinor:  {"minor", "cents", "price_cents", "feeMinor", "total_amount_minor", "amount-in-cents"},
		NameVerbatim: {
			"password", "newPassword", "PASSWORD", "passwd", "pwd", "passphrase", "passcode", "card_pin", "otp", "client_secret", "access-token", "tokens", "api_key", "keys",
			"credentials", "X-Signature", "pattern", "regex", "regexp", "replacement",
		},
		NameOther: {
			"", "_", "id", "amounts", "amounted", "paramount", "paramOunt", "amount_id", "amount2", "price_list", "tax_free", "taxi", "coffee", "tipping", "multiple",
			"payment_id", "refund_reason", "customer", "sticky", "costs", "value_date", "old_value", "tokenize", "monkey", "keyboard", "pin_number", "pattern_id",
			"payment_currency", "currencies", "my_ccy", "level", "quantity", "étotal", "totalé", "prix",
		},
	}
	for want, all := range names {
		for _, name := range all {
			if got := ClassOf(name); got != want {
				t.Errorf("%q has class %d, want %d", name, got, want)
			}
		}
	}
}

func TestBareDigitsAreMoneyOnlyWhereTheFieldSaysSo(t *testing.T) {
	cases := []struct {
		class        Class
		currency     string
		money, minor bool
	}{
		{NameAmount, "USD", true, false},
		{NameAmount, "JPY", true, false},
		{NameValue, "EUR", true, false},
		{NameMinor, "KWD", true, true},
		{NameCents, "USD", true, true},
		{NameCents, "JPY", false, true}, // there are no cents of a yen
		{NameCents, "KWD", false, true},
		{NameOther, "USD", false, false},
		{NameCurrency, "USD", false, false},
		{NameAmount, "", false, false},
		{NameMinor, "XYZ", false, false},
	}
	for _, c := range cases {
		money, minor := c.class.Bare(c.currency)
		if money != c.money || money && minor != c.minor {
			t.Errorf("class %d beside %q: %t, %t", c.class, c.currency, money, minor)
		}
	}
}

package money

// Class is what the name of a field says about the money in its object. The key style does not matter: paid_amount,
// paidAmount, Paid-Amount and PAID_AMOUNT are one.
type Class uint8

// The classes.
const (
	NameOther    Class = iota
	NameAmount         // amount, price, total, …, or a name that ends in one of them: bare numbers are money in major units
	NameValue          // value: as NameAmount, in an object of a value and a currency
	NameMinor          // amount_minor: minor units of the field amount
	NameCents          // amount_cents: likewise, of currencies with two decimals
	NameInMinor        // price_cents, fee_minor: minor units of a field of its own; digits alone are no money there
	NameCurrency       // currency, currency_code, ccy: names the currency
	NameVerbatim       // password, api_key, pattern: a text that is never read, because it is meant to the letter
)

// ClassOf tells the class of a field's name. It allocates nothing.
func ClassOf(name string) Class {
	switch {
	case plainly(name, "currency"), plainly(name, "currencycode"), plainly(name, "ccy"):
		return NameCurrency
	case plainly(name, "amountminor"):
		return NameMinor
	case plainly(name, "amountcents"):
		return NameCents
	case plainly(name, "value"):
		return NameValue
	}
	return classOfWord(lastWord(name))
}

// Bare tells what digits alone, a number or a string, are in a field of this class beside a currency: money at all, and
// of minor units. A NameValue is asked only where the object is one of a value and a currency.
func (c Class) Bare(currency string) (money, minor bool) {
	decimals, ok := Decimals(currency)
	if !ok {
		return false, false
	}
	switch c {
	case NameAmount, NameValue:
		return true, false
	case NameMinor:
		return true, true
	case NameCents:
		return decimals == 2, true
	}
	return false, false
}

// plainly reports whether name is plain, which is in lower case, but for key style: letter case, - and _.
func plainly(name, plain string) bool {
	at := 0
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c == '-' || c == '_' {
			continue
		}
		if at == len(plain) || lower(c) != plain[at] {
			return false
		}
		at++
	}
	return at == len(plain)
}

// lastWord is the last word of a name in any key style. A word ends at whatever is no ASCII letter or digit, and where
// a capital follows a small letter or starts a word of small ones (HTTPFee). Bytes beyond ASCII are letters.
func lastWord(name string) string {
	end := len(name)
	for end > 0 && !isWord(name[end-1]) {
		end--
	}
	start := end
	for start > 0 && isWord(name[start-1]) && !isUpper(name[start-1]) {
		start--
	}
	switch {
	case start < end && start > 0 && isUpper(name[start-1]):
		start-- // Amount
	case start == end:
		for start > 0 && isUpper(name[start-1]) {
			start-- // AMOUNT
		}
	}
	return name[start:end]
}

// classOfWord tells the class of a name by its last word.
func classOfWord(word string) Class {
	const longest = len("credentials")
	if len(word) < len("fee") || len(word) > longest {
		return NameOther
	}
	var buffer [longest]byte
	for i := range len(word) {
		buffer[i] = lower(word[i])
	}
	folded := buffer[:len(word)]
	switch string(folded) {
	case "amount", "price", "total", "subtotal", "fee", "tax", "tip", "cost", "charge", "balance", "payment", "refund":
		return NameAmount
	case "minor", "cents":
		return NameInMinor
	}
	if last := len(folded) - 1; folded[last] == 's' {
		folded = folded[:last] // passwords
	}
	switch string(folded) {
	case "password", "passwd", "pwd", "passphrase", "passcode", "pin", "otp", "secret", "token", "key", "credential", "signature":
		return NameVerbatim
	case "pattern", "regex", "regexp", "replacement": // where $1 and 12$ are no money
		return NameVerbatim
	}
	return NameOther
}

func lower(c byte) byte {
	if isUpper(c) {
		return c + 'a' - 'A'
	}
	return c
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func isWord(c byte) bool { return isDigit(c) || 'a' <= c && c <= 'z' || isUpper(c) || c >= 0x80 }

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
	NameCurrency       // currency, currency_code, ccy: names the currency
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
	case isAmount(lastWord(name)):
		return NameAmount
	}
	return NameOther
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

// isAmount reports whether a word is the name of a money field.
func isAmount(word string) bool {
	const longest = len("subtotal")
	if len(word) < len("fee") || len(word) > longest {
		return false
	}
	var buffer [longest]byte
	for i := range len(word) {
		buffer[i] = lower(word[i])
	}
	switch string(buffer[:len(word)]) {
	case "amount", "price", "total", "subtotal", "fee", "tax", "tip", "cost", "charge", "balance", "payment", "refund":
		return true
	}
	return false
}

func lower(c byte) byte {
	if isUpper(c) {
		return c + 'a' - 'A'
	}
	return c
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func isWord(c byte) bool { return isDigit(c) || 'a' <= c && c <= 'z' || isUpper(c) || c >= 0x80 }

package money

// Reason is what came of reading a text as money. Every reason but Read means that the text stays as it was written.
type Reason uint8

// The reasons. NotMoney is what nearly every string gets; the others deserve a word to a person.
const (
	NotMoney    Reason = iota // not of the grammar
	Read                      // an amount
	Ambiguous                 // 1,234: one separator that groups or that starts the decimals
	Misgrouped                // 1,23,4: separators that fit no way of grouping
	NoCurrency                // 12 kr: a unit of several currencies, and nothing names one of them
	Contradicts               // €12 USD, or $12 beside EUR: two currencies for one amount
	LeftRaw                   // a rule says that this unit is not read
	NotPlain                  // ($1), "$1 ", $01, PHP 8.1: read in a money field or beside a currency, and this is neither
	MixedUnits                // 1200 USD in a field that counts cents
	OutOfScale                // 1e400: too far from the decimal point to be a sum of money

	// What only the caller can see.
	TwoReadings // amount and amount_minor in one object
	Alike       // "$12.00" and "$12" in one call: what is made of one text may be told from the other
	Verbatim    // the field's name says that the text is meant to the letter

	reasons // how many there are
)

// String is the reason's short name.
func (r Reason) String() string {
	switch r {
	case Read:
		return "read"
	case Ambiguous:
		return "ambiguous"
	case Misgrouped:
		return "misgrouped"
	case NoCurrency:
		return "no_currency"
	case Contradicts:
		return "contradicts"
	case LeftRaw:
		return "left_raw"
	case NotPlain:
		return "not_plain"
	case MixedUnits:
		return "mixed_units"
	case OutOfScale:
		return "out_of_scale"
	case TwoReadings:
		return "two_readings"
	case Alike:
		return "alike"
	case Verbatim:
		return "verbatim"
	default:
		return "not_money"
	}
}

// Why is one sentence for a person: why the text was read or stays raw, and what would settle it.
func (r Reason) Why() string {
	switch r {
	case Read:
		return "an amount has one form however it is written"
	case Ambiguous:
		return "one separator with three digits after it may group or start the decimals: no rule can tell; written without " +
			"it, with decimals as well (1,234.00), or as a number beside a currency it is read"
	case Misgrouped:
		return "its separators group neither by three digits nor in the Indian way (1,23,456): written without groups it is read"
	case NoCurrency:
		return "its unit belongs to several currencies: a currency field beside it, or symbols in the rule (\"kr\": \"SEK\"), " +
			"would say which"
	case Contradicts:
		return "it names another currency than the one beside it, which is never resolved by a guess: make the two agree, " +
			"or name the symbol's currency by symbols in the rule"
	case LeftRaw:
		return "symbols in the rule says that this unit stays as written"
	case NotPlain:
		return "parentheses, a minus behind, surplus white space, leading zeros or a code that is a word too (TOP 10, PHP 8.1) " +
			"make it money in a money field or beside a currency only: elsewhere it may be any text"
	case MixedUnits:
		return "its field counts minor units (cents) and its text names the major one, so it may be meant either way: digits " +
			"alone, or a minor unit in the text, would say"
	case OutOfScale:
		return "its digits are too far from the decimal point for a sum of money: it counts as the number that it is"
	case TwoReadings:
		return "the object has two readings of one amount, so neither is believed: one of the two fields alone is read"
	case Alike:
		return "another text of the call means the same and is written differently, so the difference may be what the call " +
			"is about: written alike, or in fields that are named as money, both are read"
	case Verbatim:
		return "its field's name says that the text is meant to the letter: a secret, or a pattern"
	default:
		return "it is not written as money"
	}
}

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
	default:
		return "it is not written as money"
	}
}

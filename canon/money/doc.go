// Package money reads amounts of money as people and agents write them, and gives each one canonical form.
//
// # What it promises
//
// Two spellings of one amount become one form: "$12.00", "12.00 USD", "1200 cents", "US$ 12". Two amounts never become
// one: it is exact (no floating point, no rounding), and where a text has two readings it is left as it is. It keeps no
// state, allocates nothing to read, and takes time linear in the text.
//
// It does not know objects: its caller finds the currency beside an amount ([ClassOf], [FoldCode]), says what the field
// is that a text stands in ([Field]), decides what two readings in one object and two spellings in one call mean, and
// writes down what stays raw.
//
// # The grammar
//
// Before anything is read, direction marks (U+200E, U+200F, U+061C) go, no-break, narrow no-break and thin space
// (U+00A0, U+202F, U+2009) become a space, runs of spaces become one, U+2212 becomes a minus, U+2019 an apostrophe, and
// white space at both ends goes.
//
//	text      = [ "-" [ " " ] ] sum                     ; at most one minus or pair of parentheses in all
//	          | "(" [ units [ " " ] ] number ")" [ [ " " ] units ]
//	          | "(" [ units [ " " ] ] number [ " " ] units ")"
//	sum       = [ units [ " " ] ] signed [ [ " " ] units ]
//	signed    = [ "-" ] number | number "-" | "(" number ")"  ; parentheses behind a unit only, else see text
//	units     = unit | code | code [ " " ] unit | unit [ " " ] code
//	                                                    ; in all at most one code and one unit; of two on one side
//	                                                    ; the unit is next to the number; at least one of them,
//	                                                    ; unless the field says that digits alone are money
//	code      = an ISO 4217 code in upper case, or in any case the one that stands beside the text
//	unit      = a key of the rule's symbols | symbol | minor      ; the longest that fits
//	symbol    = a symbol of CLDR: "$", "US$", "€", "zł", "kr", … (symbol.go)
//	minor     = "cents", "¢", "pence", "øre", "fils", …           ; behind the number only; letter case is free
//
//	number    = whole [ mark digits ]
//	whole     = digits | grouped
//	grouped   = 1*3digit 1*( group 3digit )             ; 1,234,567: one kind of group, not starting with 0
//	          | 1*2digit 1*( "," 2digit ) "," 3digit    ; 1,23,456: the Indian way
//	group     = "." | "," | "'" | " "
//	mark      = "." | ","                               ; not the group's
//
// A plain spelling is what people write in running text: no white space outside, no line ends, no runs of spaces, no
// parentheses, no minus behind, none with a space behind it in front (an item of a list), no leading zeros (00.50), no
// "$" that touches the number's end (a pattern's), no code alone that is a word, a product or an abbreviation too (TOP 10,
// PHP 8.1, SDG 17.1; the table is in word.go), unless a rule's symbols have it. In a field that no name calls money, with
// no currency beside it, plain spellings alone are read.
//
// # What it means
//
// Currency. A code names it. A symbol or word of one currency names it; one of several ("$", "kr", "¥", "Rs", "cents")
// means the code beside it, where that is one of them. With nothing beside it "$" and "cents" mean USD, "£" means GBP
// and "₩" KRW, as CLDR gives them to every locale but those of the other currencies; a rule's symbols say otherwise,
// but not against a code beside. Letters that ordinary identifiers start with too ("R 12", "Q3", "12 p") are units only
// beside their own currency. Two currencies for one amount ("€12 USD", "$12" beside EUR) contradict each other, and it
// stays raw. A code or unit in a text always comes before the field's: "12.00" beside USD is of USD, "12.00 CAD" beside
// USD contradicts.
//
// Minor units. A minor-unit word counts them; digits alone do where the field says so (amount_minor). All else is in
// major units, and ISO 4217 says how many minor ones make one: JPY 10^0, USD 10^2, KWD 10^3, CLF 10^4. What is finer
// than a minor unit stays exact.
//
// Separators. Where a number has both "." and ",", the last one is the decimal mark; where it has one of them several
// times, it groups; where a space or an apostrophe groups, the other is the decimal mark. One alone with other than
// three digits behind it is the decimal mark.
//
// # What stays raw, and why
//
//   - Ambiguous: one "." or "," with three digits behind it and one to three before it that do not start with 0: 1,234
//     and 1.234. (0.125, 1234.567 have one reading.) Before the three decimals of KWD a point is the decimal mark; a
//     comma stays ambiguous. Minor units have no decimals, so 1.234 fils is ambiguous too.
//   - Misgrouped: 1,23,4; 1.23,45; 12 34; 1.234,567.8; 0,123,456.
//   - NoCurrency: "12 kr", "¥500", "50 pence" with no currency beside them.
//   - Contradicts: see above. LeftRaw: the rule's symbols have the unit with an empty code.
//   - NotPlain: see above.
//   - MixedUnits: "1200 USD" or "$12" in a field that counts minor units. (JPY, whose two units are one, is read.)
//   - OutOfScale: a number whose digits are more than 68 places from the decimal point: nobody's money, but many zeros.
//   - TwoReadings, Alike and Verbatim are its caller's.
//   - NotMoney, because in doubt two things are kept apart: a plus sign, "12.-", ".5" and "5.", exponents, digits that
//     are not ASCII, words like "dollars" (a rule's symbols may add them), codes in lower case with nothing beside them
//     ("top 10", "try 2"), what looks like an article number outside a money field (PEN-12, 12-USD: letters, a dash and
//     bare digits that touch, while CHF-12.00 is read; TOP 007: leading zeros beside a code), digits alone with leading
//     zeros, also in a money field (charge 00123), and texts of more than 64 bytes.
//
// # Sources
//
// ISO 4217 list one (its date is [Published]) for codes and minor units; funds codes (CLF, UYW, …) are in it, and what
// has no minor units (metals, XDR, XTS, XXX) is not. Unicode CLDR for symbols, separators, spaces and direction marks
// of its locales, and for the accounting formats.
package money

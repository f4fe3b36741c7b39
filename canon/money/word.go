package money

// words are the codes that people also write with a number behind or before them and mean no money: "PHP 8.1" is not
// "PHP 8.10", nor is "SDG 17.1" "SDG 17.10". Without a money field, a currency or a symbol of theirs beside them they
// are not read. The codes of large currencies stay read (CAD, EUR, INR, RUB, SAR, USD), although some mean other things
// too.
const words = "" +
	"ALLBAMBOBCOPCUPGELLAKMADMOPPENRONSOSTOPTRY" + // words and names
	"AMDBSDNIOPHPSLE" + // products: AMD 7.1, BSD 4.3, NIO 2, PHP 8.1, SLE 15.1
	"CDFCVESDGSRD" + // formats and documents by version or clause: CDF 3.8, CVE 5.1, SDG 17.1, SRD 5.1
	"MGANAD" + // maps: MGA 94, NAD 83
	"BTNCHECRCMDLSTNSVC" + // abbreviations: button, chemistry, cyclic redundancy check, model, station, service
	"AWGKGS" // units: wire gauge, kilograms

// isWordToo reports whether a code is one of words.
func isWordToo(code string) bool {
	return code != "" && unit{codes: words}.of(code)
}

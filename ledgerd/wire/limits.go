package wire

import "strconv"

// Limits of single members. The size of a line and of a batch is limited by who reads them from the network.
const (
	MaxID   = 128  // bytes of an attempt's or a hold's id
	MaxText = 1024 // bytes of a run, a tool's name (both canon.MaxName) or a rule's name
	MaxAlso = 16   // former identities of one reserve

	// MaxDurationMS is the longest duration, ten years: far beyond use, and far below what arithmetic with moments
	// could overflow by.
	MaxDurationMS = 10 * 366 * 24 * 3600 * 1000
	// MaxMomentMS is the last moment, the end of the year 9999.
	MaxMomentMS = 253_402_300_799_999
)

// checkDigest wants what a fingerprint and an intent are: 64 lower-case hex digits.
func checkDigest(s string) *OpError {
	if len(s) == 64 {
		good := true
		for i := range len(s) {
			c := s[i]
			good = good && (c >= '0' && c <= '9' || c >= 'a' && c <= 'f')
		}
		if good {
			return nil
		}
	}
	return &OpError{Detail: "must be 64 lower-case hex digits, is " + quoted(s)}
}

// checkID wants an id: 1 to MaxID printable ASCII characters, no space.
func checkID(s string) *OpError {
	good := len(s) >= 1 && len(s) <= MaxID
	for i := 0; good && i < len(s); i++ {
		good = s[i] > ' ' && s[i] < 0x7f
	}
	if good {
		return nil
	}
	return &OpError{Detail: "must be 1 to " + strconv.Itoa(MaxID) + " printable ASCII characters without spaces, is " + quoted(s)}
}

// checkText wants a text for people or a run: any UTF-8, at most MaxText bytes.
func checkText(s string) *OpError {
	if len(s) <= MaxText {
		return nil
	}
	return &OpError{Detail: "must be at most " + strconv.Itoa(MaxText) + " bytes, is " + strconv.Itoa(len(s))}
}

// checkRange wants lo ≤ n ≤ hi.
func checkRange(n, lo, hi int64) *OpError {
	if n >= lo && n <= hi {
		return nil
	}
	return &OpError{Detail: "must be from " + strconv.FormatInt(lo, 10) + " to " + strconv.FormatInt(hi, 10) +
		", is " + strconv.FormatInt(n, 10)}
}

// checkPolicy wants one of the policies that a member takes.
func checkPolicy(p Policy, takes ...Policy) *OpError {
	list := ""
	for _, q := range takes {
		if p == q {
			return nil
		}
		if list != "" {
			list += ", "
		}
		list += string(q)
	}
	return &OpError{Detail: "must be one of " + list + ", is " + quoted(string(p))}
}

package sqlite

import "encoding/hex"

// pack gives an identifier (a record's key, an attempt's id) as it stands in the database: lower-case hex digits, an
// even number of them, as the bytes they spell, which halves the indexes; anything else as text. Different
// identifiers never get one form, and identifiers of one length keep their order. row.identifier is the inverse.
func pack(id string) any {
	if len(id) == 0 || len(id)%2 != 0 {
		return id
	}
	for i := range len(id) {
		if c := id[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return id
		}
	}
	raw := make([]byte, len(id)/2)
	if _, err := hex.Decode(raw, []byte(id)); err != nil {
		return id
	}
	return raw
}

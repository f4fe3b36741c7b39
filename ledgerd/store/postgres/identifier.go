package postgres

import (
	"encoding/hex"
	"errors"
	"fmt"
)

// The first byte of a packed identifier.
const (
	packedHex  = 0 // lower-case hex digits, an even number of them, follow as the bytes that they spell
	packedText = 1 // anything else follows as it is
)

// pack gives an identifier (a record's key, an attempt's id) as it stands in the database: hex digits take half the
// room, which halves the indexes. Different identifiers never get one form, and those of one length keep their order.
func pack(id string) []byte {
	if !isHex(id) {
		return append([]byte{packedText}, id...)
	}
	raw := make([]byte, 1+len(id)/2)
	if _, err := hex.Decode(raw[1:], []byte(id)); err != nil {
		return append([]byte{packedText}, id...)
	}
	return raw // its first byte is packedHex
}

func isHex(id string) bool {
	if len(id) == 0 || len(id)%2 != 0 {
		return false
	}
	for i := range len(id) {
		if c := id[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func packAll(ids []string) [][]byte {
	all := make([][]byte, len(ids))
	for i, id := range ids {
		all[i] = pack(id)
	}
	return all
}

// unpack is the inverse of pack.
func unpack(raw []byte) (string, error) {
	switch {
	case len(raw) == 0:
		return "", errors.New("an identifier in the database is empty")
	case raw[0] == packedHex:
		return hex.EncodeToString(raw[1:]), nil
	case raw[0] == packedText:
		return string(raw[1:]), nil
	}
	return "", fmt.Errorf("an identifier in the database begins with %d, want %d or %d", raw[0], packedHex, packedText)
}

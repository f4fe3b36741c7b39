package sqlite

import (
	"database/sql/driver"
	"encoding/hex"
	"fmt"
)

// row is one row of a query's answer, good until the next. The schema is strict, so a value of another type than
// asked for means that the database is damaged; the first such is kept in err, and ends the query.
type row struct {
	values []driver.Value
	err    error
}

func (r *row) number(i int) int64 {
	n, ok := r.values[i].(int64)
	if !ok {
		r.wrong(i, "a whole number")
	}
	return n
}

func (r *row) text(i int) string {
	s, ok := r.values[i].(string)
	if !ok {
		r.wrong(i, "a text")
	}
	return s
}

// blob gives the bytes of a column that is NOT NULL; the driver gives nil for empty ones.
func (r *row) blob(i int) []byte {
	b, ok := r.values[i].([]byte)
	switch {
	case !ok && r.values[i] != nil:
		r.wrong(i, "a blob")
	case b == nil:
		b = []byte{}
	}
	return b
}

// moment gives a moment of an index, or noDue.
func (r *row) moment(i int) int64 {
	if r.values[i] == nil {
		return noDue
	}
	return r.number(i)
}

// identifier gives what pack wrote.
func (r *row) identifier(i int) string {
	switch v := r.values[i].(type) {
	case []byte:
		return hex.EncodeToString(v)
	case string:
		return v
	}
	r.wrong(i, "a blob or a text")
	return ""
}

func (r *row) wrong(i int, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: column %d of a row is a %T, want %s", ErrDamaged, i, r.values[i], want)
	}
}

package postgres

import (
	"fmt"
	"strings"
	"time"

	"idem/ledgerd/store"
)

// verb is what a write does to its record.
type verb int

const (
	create verb = iota
	replace
	remove
)

// shape says which tables a write touches. Each shape is a statement of its own, so that the usual write is a single
// INSERT or UPDATE.
type shape struct {
	verb    verb
	results bool // puts or drops some
	entries bool // has some, or replaces a record that has
}

func shapeOf(w *store.Write) shape {
	s := shape{verb: replace, results: len(w.Put) > 0 || len(w.Drop) > 0}
	switch {
	case w.Data == nil:
		s.verb = remove
	case w.Expect == 0:
		s.verb = create
	}
	s.entries = hasEntries(w.Expect) || entriesBit(w) != 0
	return s
}

// statements are the SQL of every shape. Each gives the record's new version (0 where it removed it) if the record had
// the version that was expected, and else nothing.
var statements = func() map[shape]string {
	all := map[shape]string{}
	for _, v := range []verb{create, replace, remove} {
		for _, results := range []bool{false, true} {
			for _, entries := range []bool{false, true} {
				s := shape{v, results, entries}
				all[s] = s.sql()
			}
		}
	}
	return all
}()

// sql puts the statement of a shape together; the order of its parameters is that of args.
func (s shape) sql() string {
	n := 1 // $1 is the key
	param := func(kind string) string {
		n++
		return fmt.Sprintf("$%d::%s", n, kind)
	}
	var won string
	switch s.verb {
	case create:
		won = fmt.Sprintf("INSERT INTO records (key, version, due, decided, data) VALUES ($1::bytea, %s, %s, %s, %s) ON CONFLICT (key) DO NOTHING RETURNING version",
			nextVersion+param("bigint"), param("bigint"), param("bigint"), param("bytea"))
	case replace:
		won = fmt.Sprintf("UPDATE records SET version = %s, due = %s, decided = %s, data = %s WHERE key = $1::bytea AND version = %s RETURNING version",
			nextVersion+param("bigint"), param("bigint"), param("bigint"), param("bytea"), param("bigint"))
	case remove:
		won = fmt.Sprintf("DELETE FROM records WHERE key = $1::bytea AND version = %s RETURNING 0::bigint AS version", param("bigint"))
	}
	if !s.results && !s.entries {
		return won
	}
	parts := []string{"won AS (" + won + ")"}
	if s.results {
		parts = append(parts,
			"dropped AS (DELETE FROM results WHERE attempt = ANY ("+param("bytea[]")+") AND EXISTS (SELECT FROM won))",
			"put AS (INSERT INTO results (attempt, data) SELECT p.attempt, p.data FROM won CROSS JOIN unnest("+param("bytea[]")+", "+param("bytea[]")+") AS p (attempt, data)"+
				" ON CONFLICT (attempt) DO UPDATE SET data = excluded.data)")
	}
	if s.entries {
		// No row is touched by both: a statement may change a row only once. An entry that another record has taken over
		// has that record's key.
		kinds, ids, ats := param("text[]"), param("bytea[]"), param("bigint[]")
		parts = append(parts,
			"gone AS (DELETE FROM entries e USING won WHERE e.key = $1::bytea AND NOT EXISTS (SELECT FROM unnest("+kinds+", "+ids+") AS n (kind, id) WHERE n.kind = e.kind AND n.id = e.id))",
			"named AS (INSERT INTO entries (kind, id, key, at) SELECT n.kind, n.id, $1::bytea, n.at FROM won CROSS JOIN unnest("+kinds+", "+ids+", "+ats+") AS n (kind, id, at)"+
				" ON CONFLICT (kind, id) DO UPDATE SET key = excluded.key, at = excluded.at)")
	}
	return "WITH " + strings.Join(parts, ", ") + " SELECT version FROM won"
}

// args gives a write's parameters, in the order of its shape's statement.
func (s shape) args(w *store.Write) []any {
	args := append(make([]any, 0, 12), pack(w.Key))
	if s.verb != remove {
		args = append(args, entriesBit(w), dueOf(w), store.CeilMicro(w.Now), w.Data)
	}
	if s.verb != create {
		args = append(args, int64(w.Expect))
	}
	if s.results {
		attempts, datas, put := make([][]byte, len(w.Put)), make([][]byte, len(w.Put)), map[string]bool{}
		for i := range w.Put {
			attempts[i], datas[i] = pack(w.Put[i].Attempt), w.Put[i].Data
			put[w.Put[i].Attempt] = true
			if datas[i] == nil {
				datas[i] = []byte{}
			}
		}
		var drop []string // what is in both is put
		for _, attempt := range w.Drop {
			if !put[attempt] {
				drop = append(drop, attempt)
			}
		}
		args = append(args, packAll(drop), attempts, datas)
	}
	if s.entries {
		kinds, ids, ats := []string{}, [][]byte{}, []int64{}
		for i := range w.Entries {
			if e := &w.Entries[i]; e.Index != store.Due {
				kinds, ids, ats = append(kinds, string(e.Index)), append(ids, []byte(e.ID)), append(ats, micro(e.At))
			}
		}
		args = append(args, kinds, ids, ats)
	}
	return args
}

// dueOf is a write's moment in the index due; nil: none.
func dueOf(w *store.Write) *int64 {
	for i := range w.Entries {
		if w.Entries[i].Index == store.Due {
			us := micro(w.Entries[i].At)
			return &us
		}
	}
	return nil
}

// micro is a moment as the database keeps it: Unix microseconds.
func micro(t time.Time) int64 { return t.UnixMicro() }

// moment is the inverse of micro.
func moment(us int64) time.Time { return time.UnixMicro(us).UTC() }

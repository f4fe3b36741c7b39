package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"

	"modernc.org/sqlite"

	"idem/ledgerd/store"
)

// conn is one connection to the database, used by one goroutine at a time. It goes past database/sql, whose pool and
// conversions would cost more than the statements themselves.
type conn struct {
	raw driver.Conn
}

// statement is a prepared statement with room for its arguments.
type statement struct {
	sql  string
	raw  driver.Stmt
	exe  driver.StmtExecContext
	qry  driver.StmtQueryContext
	args []driver.NamedValue
	row  row
}

// busyTimeout is how long a connection waits for another program's lock, in ms: less than an operation of the ledger may
// take, so that its answer says why.
const busyTimeout = "busy_timeout = 2500"

func connect(ctx context.Context, path string, pragmas ...string) (*conn, error) {
	return connectBy(ctx, url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}, pragmas)
}

// connectToRead gives a connection that changes neither the database nor its log, not even when it is closed: the last one
// to be closed that may write copies the log into the database, and removes it.
func connectToRead(ctx context.Context, path string) (*conn, error) {
	return connectBy(ctx, url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "mode=ro"}, []string{busyTimeout})
}

func connectBy(ctx context.Context, u url.URL, pragmas []string) (*conn, error) {
	connector, err := sqlite.NewConnector(u.String())
	if err != nil {
		return nil, err
	}
	raw, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{raw: raw}
	for _, p := range pragmas {
		if err := c.exec("PRAGMA " + p); err != nil {
			return nil, errors.Join(fmt.Errorf("PRAGMA %s: %w", p, err), c.close())
		}
	}
	return c, nil
}

func (c *conn) close() error { return c.raw.Close() }

// exec runs SQL without arguments; it may be several statements.
func (c *conn) exec(sql string) error {
	_, err := c.raw.(driver.ExecerContext).ExecContext(context.Background(), sql, nil)
	return err
}

// first is statement.first for a query that is asked once.
func (c *conn) first(sql string, each func(*row)) error {
	st, err := c.prepare(sql)
	if err != nil {
		return err
	}
	if err := errors.Join(st.first(each), st.close()); err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}

// number gives the whole number that a query answers with.
func (c *conn) number(sql string) (n int64, err error) {
	err = c.first(sql, func(r *row) { n = r.number(0) })
	return n, err
}

// text gives the text that a query answers with.
func (c *conn) text(sql string) (s string, err error) {
	err = c.first(sql, func(r *row) { s = r.text(0) })
	return s, err
}

func (c *conn) prepare(sql string) (*statement, error) {
	raw, err := c.raw.Prepare(sql)
	if err != nil {
		return nil, fmt.Errorf("preparing %q: %w", sql, err)
	}
	st := &statement{sql: sql, raw: raw}
	var isExec, isQuery bool
	st.exe, isExec = raw.(driver.StmtExecContext)
	st.qry, isQuery = raw.(driver.StmtQueryContext)
	if !isExec || !isQuery {
		return nil, errors.Join(fmt.Errorf("the driver's statement is a %T, which takes no context", raw), raw.Close())
	}
	return st, nil
}

func (st *statement) close() error { return st.raw.Close() }

// bind puts args where the driver reads them.
func (st *statement) bind(args []any) {
	if cap(st.args) < len(args) {
		st.args = make([]driver.NamedValue, len(args))
	}
	st.args = st.args[:len(args)]
	for i, a := range args {
		st.args[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
}

// unbind lets go of what was bound, so that a prepared statement keeps no caller's bytes alive.
func (st *statement) unbind() { clear(st.args) }

// exec runs the statement and gives the number of rows that it changed. Arguments are int64, string, []byte or nil.
func (st *statement) exec(args ...any) (int64, error) {
	st.bind(args)
	defer st.unbind()
	res, err := st.exe.ExecContext(context.Background(), st.args)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// query runs the statement and calls each with every row.
func (st *statement) query(each func(*row), args ...any) (err error) {
	st.bind(args)
	defer st.unbind()
	rows, err := st.qry.QueryContext(context.Background(), st.args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if n := len(rows.Columns()); len(st.row.values) != n {
		st.row.values = make([]driver.Value, n)
	}
	defer func() {
		clear(st.row.values)
		st.row.err = nil
	}()
	for {
		switch err := rows.Next(st.row.values); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if each(&st.row); st.row.err != nil {
			return st.row.err
		}
	}
}

// first is query for statements that give one row at most; without one it gives store.ErrNotFound.
func (st *statement) first(each func(*row), args ...any) error {
	found := false
	err := st.query(func(r *row) {
		found = true
		each(r)
	}, args...)
	if err == nil && !found {
		return store.ErrNotFound
	}
	return err
}

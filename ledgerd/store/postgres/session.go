package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// oldestServer is the oldest server that can be used, as server_version_num has it.
const oldestServer = 140_000

// sessionSQL makes a connection ours, in one round trip, and asks what the server promises.
//
//   - synchronous_commit is raised, never lowered: remote_apply stays.
//   - The schema alone is searched, so that nothing else is ever meant.
//   - Roles and databases may have time limits of their own. A statement_timeout could cut off the wait for a synchronous
//     standby of a write that has already happened: requests are bounded by our own timeout. A lock is waited for for
//     less than half of that, so that such a failure is a sure one, and the ledger hears of it in its own time.
//   - Every statement has one good plan, by its index, whatever the size of the tables was when a session made its plans.
//     A bitmap scan would not leave the marks by which later scans pass over what was removed.
const sessionSQL = `SELECT
	set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
	set_config('search_path', $1, false),
	set_config('default_transaction_isolation', 'read committed', false),
	set_config('statement_timeout', '0', false),
	set_config('lock_timeout', $2, false),
	set_config('plan_cache_mode', 'force_generic_plan', false),
	set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false),
	set_config('jit', 'off', false),
	current_setting('server_version_num')::int, current_setting('server_version'), current_setting('fsync')::bool,
	current_setting('full_page_writes')::bool, current_setting('synchronous_standby_names'),
	(SELECT count(*) FROM pg_stat_replication), current_database()`

// session makes a new connection ours.
func (s *Store) session(ctx context.Context, c *pgx.Conn) (Promise, error) {
	var p Promise
	var number int
	lockTimeout := strconv.FormatInt(s.options.Timeout.Milliseconds()*5/16, 10)
	row := c.QueryRow(ctx, sessionSQL, pgx.QueryExecModeExec, s.schema, lockTimeout)
	err := row.Scan(&p.Commit, nil, nil, nil, nil, nil, nil, nil, nil,
		&number, &p.Version, &p.Fsync, &p.FullPages, &p.SynchronousStandbys, &p.Standbys, &p.Database)
	if err != nil {
		return p, fmt.Errorf("setting up a connection: %w", err)
	}
	p.Server, p.Schema = c.PgConn().Conn().RemoteAddr().String(), s.schema
	switch {
	case number < oldestServer:
		return p, fmt.Errorf("%w: it is PostgreSQL %s, want %d or newer", ErrServer, p.Version, oldestServer/10_000)
	case !p.Fsync && !s.acceptLoss:
		return p, fmt.Errorf("%w: fsync is off on %s, so a crash of its machine takes back what was answered, or damages the database: "+
			"set fsync = on, or add %s=true to the store's URL to use it all the same", ErrUnsafe, p.Server, paramAcceptLoss)
	}
	return p, nil
}

// with lends a connection of the pool to f. One that f found broken is taken out of the pool at once: pgx takes up to 15
// seconds to bury it, and its place is needed as soon as the server is back. Where the server ended it, or takes no
// writes any more (after a failover behind a proxy), the others are replaced too before they are found out one by one.
func (s *Store) with(ctx context.Context, f func(c *pgx.Conn) error) error {
	if err := s.gone(); err != nil {
		return err
	}
	lent, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() {
		broken := lent.Conn().IsClosed()
		if broken {
			lent.Hijack()
		} else {
			lent.Release()
		}
		if broken && ctx.Err() == nil || code(err) == readOnlyTransaction {
			s.pool.Reset()
		}
	}()
	if err = f(lent.Conn()); code(err) == divisionByZero {
		err = s.lose(ctx, lent.Conn())
	}
	return err
}

// Promise is what the server promises, as it was when the store was opened.
type Promise struct {
	Version, Server, Database, Schema string
	Commit                            string // synchronous_commit of our sessions
	Fsync, FullPages                  bool
	SynchronousStandbys               string // synchronous_standby_names
	Standbys                          int    // that receive from the server now
}

// String says what an acknowledged write survives.
func (p Promise) String() string {
	text := fmt.Sprintf("PostgreSQL %s at %s, database %s, schema %s: a write that was answered is flushed to the server's disk",
		p.Version, p.Server, p.Database, p.Schema)
	switch names := strings.TrimSpace(p.SynchronousStandbys); {
	case !p.Fsync:
		return fmt.Sprintf("PostgreSQL %s at %s, database %s, schema %s: a write that was answered survives a crash of ledgerd, not one of the server's machine",
			p.Version, p.Server, p.Database, p.Schema)
	case names != "" && p.Commit == "remote_apply":
		text += fmt.Sprintf(" and applied by its synchronous standbys (%s)", names)
	case names != "":
		text += fmt.Sprintf(" and to its synchronous standbys' (%s)", names)
	default:
		text += "; a failover loses what the promoted standby had not received"
	}
	return text
}

// Warnings says what of it an operator should not leave so.
func (p Promise) Warnings() []string {
	var list []string
	if !p.Fsync {
		list = append(list, "fsync is off: a crash of the server's machine takes back what was answered, or damages the database")
	}
	if !p.FullPages {
		list = append(list, "full_page_writes is off: a crash of the server's machine may damage the database, unless its file system never tears a page")
	}
	if p.Standbys > 0 && strings.TrimSpace(p.SynchronousStandbys) == "" {
		list = append(list, fmt.Sprintf("%d standbys receive asynchronously: promoting one loses the newest writes, and calls that they recorded execute again; set synchronous_standby_names", p.Standbys))
	}
	return list
}

// warned is the name under which a connection keeps the last warning of its server. While a write is under way there is
// only one that it can be: the wait for the synchronous standbys was cut off, and the write is on this server only.
const warned = "idem.warning"

func noteWarning(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" || n.Severity == "WARNING" {
		c.CustomData()[warned] = n.Message
	}
}

// warning gives the warning that came since it was last asked, as an error.
func warning(c *pgconn.PgConn) error {
	text, there := c.CustomData()[warned].(string)
	if !there {
		return nil
	}
	delete(c.CustomData(), warned)
	return fmt.Errorf("the server has committed, but warns: %s", text)
}

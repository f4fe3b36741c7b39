package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"idem/ledgerd/store"
)

// belongsSQL stands before every request, in its round trip and its transaction. It ends both with divisionByZero where
// the tables are not the store that was opened ($1 is its id), or are an earlier state of it ($2 is a ceiling that was
// durable). Its lock on the table clock keeps anybody from putting another schema in the place of this one before the
// request is done.
//
// So a node that runs on while somebody drops the schema, restores a backup or leads the database's name elsewhere does
// not take what it finds there for a ledger in which nothing was executed.
const belongsSQL = "SELECT 1 / count(*) FROM clock WHERE store = $1::text AND ceiling >= $2::bigint"

const divisionByZero = "22012"

// behindGuard gives a batch that begins with the question whether this is still the store that was opened.
func (s *Store) behindGuard() *pgx.Batch {
	batch := &pgx.Batch{}
	batch.Queue(belongsSQL, s.id, s.ceiling.Load())
	return batch
}

// checkStore asks the same over a new connection.
func (s *Store) checkStore(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, belongsSQL, pgx.QueryExecModeExec, s.id, s.ceiling.Load())
	if code(err) == divisionByZero {
		return s.lose(ctx, c)
	}
	return err
}

// lose ends the store's service for good: what was decided by what it knew is not known to the tables that are there
// now.
func (s *Store) lose(ctx context.Context, c *pgx.Conn) error {
	what := fmt.Sprintf("schema %s no longer says which store it is", s.schema)
	var id string
	var ceiling int64
	err := c.QueryRow(ctx, "SELECT store, ceiling FROM clock", pgx.QueryExecModeExec).Scan(&id, &ceiling)
	switch {
	case err != nil:
	case id != s.id:
		what = fmt.Sprintf("schema %s has another store (%s) than the one that was opened (%s): it was made anew, "+
			"another backup was restored, or the address leads to another database", s.schema, id, s.id)
	default:
		what = fmt.Sprintf("the store %s in schema %s went back: decisions up to %s were durable, the database has them up to %s. "+
			"A standby that lacked the newest writes was promoted, or a backup was restored", s.id, s.schema,
			stamp(s.ceiling.Load()), stamp(ceiling))
	}
	lost := fmt.Errorf("%w: postgres: %s. Nothing is answered any more: see which database is the right one, take what is "+
		"missing there for possibly executed, and start all ledgerds again", store.ErrUnfit, what)
	if id == s.id && s.acceptLoss {
		s.ceiling.Store(ceiling)
		s.options.Log.Warn("accept_loss: calls that were executed since may execute again", "what", what)
		return unavailable("looking whether the store is the same", errors.New(what))
	}
	if s.lost.CompareAndSwap(nil, &lost) {
		s.options.Log.Error("the store refuses everything until ledgerd is started again", "error", lost)
	}
	return s.gone()
}

// gone says why nothing is answered any more, if so.
func (s *Store) gone() error {
	if err := s.lost.Load(); err != nil {
		return *err
	}
	return nil
}

// stamp is a ceiling for people.
func stamp(us int64) string { return moment(us).Format("2006-01-02T15:04:05.000Z07:00") }

// ID gives the random name that the store got when it was made.
func (s *Store) ID() string { return s.id }

// Made says whether Open made the store: it was not there before.
func (s *Store) Made() bool { return s.made }

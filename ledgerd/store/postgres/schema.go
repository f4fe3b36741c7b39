package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// steps are the schema's versions: step i takes a schema of version i to i+1. A released step never changes, and nodes
// of the version before go on refusing what they do not know.
var steps = []string{
	// versions   every version of every record, and the order in which records were created. Without a cache: with one, a
	//            session could give a record a smaller version than another session did before.
	// records    due is the entry of the index due, decided the moment that the record was decided by (both Unix µs). A
	//            third of each page stays free: a record changes a few times within seconds, and stays on its page.
	// entries    the indexes holds and doubts. Few records have any (see version.go).
	// clock      one row: no durable write was decided after ceiling.
	`
	CREATE TABLE migrations (version int PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now());
	CREATE SEQUENCE versions CACHE 1;
	CREATE TABLE records (
		key bytea PRIMARY KEY, created bigint NOT NULL DEFAULT nextval('versions'), version bigint NOT NULL, due bigint,
		decided bigint NOT NULL, data bytea NOT NULL
	) WITH (fillfactor = 66, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
	CREATE INDEX records_created ON records (created);
	CREATE INDEX records_due ON records (due, key) WHERE due IS NOT NULL;
	CREATE TABLE entries (kind text NOT NULL, id bytea NOT NULL, key bytea NOT NULL, at bigint NOT NULL, PRIMARY KEY (kind, id));
	CREATE INDEX entries_at ON entries (kind, at, key, id);
	CREATE INDEX entries_key ON entries (key);
	CREATE TABLE results (attempt bytea PRIMARY KEY, data bytea NOT NULL)
		WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
	CREATE TABLE settings (name bytea PRIMARY KEY, value bytea NOT NULL) WITH (fillfactor = 50);
	CREATE TABLE clock (one bool PRIMARY KEY DEFAULT true CHECK (one), ceiling bigint NOT NULL) WITH (fillfactor = 10);
	INSERT INTO clock (ceiling) VALUES (0);
	`,
	// clock.store is a random name of the store, for good: see identity.go.
	`
	ALTER TABLE clock ADD COLUMN store text NOT NULL DEFAULT '';
	UPDATE clock SET store = replace(gen_random_uuid()::text, '-', '');
	`,
}

// migrate brings the schema to the newest version, or says why it does not. All nodes that start at once wait for the
// one that does.
func (s *Store) migrate(ctx context.Context, c *pgx.Conn) error {
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		const ours = 0x4964656d // "Idem" in ASCII
		_, err := tx.Exec(ctx, "SELECT set_config('lock_timeout', '0', true)")
		if err == nil {
			_, err = tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1, hashtext($2))", ours, s.schema)
		}
		if err != nil {
			return err
		}
		there, version, err := s.schemaVersion(ctx, tx)
		if err == nil {
			err = s.checkSchema(ctx, tx, version)
		}
		if err != nil || version == len(s.options.steps) {
			return err
		}
		s.made = version == 0
		if !there {
			if _, err := tx.Exec(ctx, "CREATE SCHEMA "+s.schema); err != nil { // its name needs no quotes
				return fmt.Errorf("making schema %s: %w%s", s.schema, err, hintPrivilege(err))
			}
		}
		for ; version < len(s.options.steps); version++ {
			_, err := tx.Conn().PgConn().Exec(ctx, s.options.steps[version]).ReadAll()
			if err == nil {
				_, err = tx.Exec(ctx, "INSERT INTO migrations (version) VALUES ($1)", version+1)
			}
			if err != nil {
				return fmt.Errorf("migrating schema %s from version %d: %w%s", s.schema, version, err, hintPrivilege(err))
			}
		}
		return nil
	})
}

// examine asks what the server promises and looks whether the schema can be used, and changes nothing.
func (s *Store) examine(ctx context.Context, c *pgx.Conn) error {
	var err error
	if s.promise, err = s.session(ctx, c); err != nil {
		return err
	}
	_, version, err := s.schemaVersion(ctx, c)
	if err != nil {
		return err
	}
	return s.checkSchema(ctx, c, version)
}

// querier is a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// schemaVersion says whether the schema is there, and its version; an empty one has version 0.
func (s *Store) schemaVersion(ctx context.Context, q querier) (there bool, version int, err error) {
	var tables []string
	err = q.QueryRow(ctx, `SELECT to_regnamespace($1) IS NOT NULL,
		ARRAY(SELECT relname::text FROM pg_class WHERE relnamespace = to_regnamespace($1)::oid AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f'))`,
		s.schema).Scan(&there, &tables)
	if err != nil || len(tables) == 0 {
		return there, 0, err
	}
	if !slices.Contains(tables, "migrations") || !slices.Contains(tables, "records") {
		return true, 0, fmt.Errorf("%w: schema %s has tables that are not ledgerd's (%s): name another one by %s=… in the store's URL", ErrSchema, s.schema, tables[0], paramSchema)
	}
	if err := s.checkUsage(ctx, q); err != nil {
		return true, 0, err
	}
	if err := s.checkPrivileges(ctx, q); err != nil {
		return true, 0, err
	}
	if err = q.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM migrations").Scan(&version); err != nil {
		err = fmt.Errorf("reading the version of schema %s: %w", s.schema, err)
	}
	return true, version, err
}

// checkSchema says why a schema of a version is not used as it is; a missing one is made on demand only: it would know
// nothing of what was executed.
func (s *Store) checkSchema(ctx context.Context, q querier, version int) error {
	switch {
	case version == 0 && !s.options.Migrate:
		return fmt.Errorf("%w in schema %s of database %s at %s: for a first start make one with `ledgerd migrate --store …`. "+
			"If there was one, it was dropped, or the address leads to another database: a new one knows nothing of what was "+
			"executed, and lets it execute again", ErrNone, s.schema, s.promise.Database, s.promise.Server)
	case version > len(s.options.steps):
		return fmt.Errorf("%w: schema %s has version %d, this ledgerd knows up to %d: use the newer ledgerd", ErrSchema, s.schema, version, len(s.options.steps))
	case version > 0 && version < len(s.options.steps) && !s.options.Migrate:
		return fmt.Errorf("%w: schema %s has version %d, this ledgerd wants %d: stop the older ledgerds and run `ledgerd migrate`", ErrSchema, s.schema, version, len(s.options.steps))
	case version > 0:
		return s.checkSequence(ctx, q)
	}
	return nil
}

// checkSequence looks whether versions go on where they ended: a copy of the tables without the sequence (logical
// replication makes one) would give versions again.
func (s *Store) checkSequence(ctx context.Context, q querier) error {
	var last, greatest int64
	err := q.QueryRow(ctx, "SELECT (SELECT last_value FROM versions), (SELECT coalesce(max(created), 0) FROM records)").Scan(&last, &greatest)
	if err == nil && last < greatest {
		err = fmt.Errorf("%w: the sequence %s.versions stands at %d, behind a record's %d: the tables were copied without it. "+
			"Run SELECT setval('%[2]s.versions', (SELECT max(version) >> %d FROM %[2]s.records) + 1000000)", ErrSchema, s.schema, last, greatest, versionShift)
	}
	return err
}

func hintPrivilege(err error) string {
	if code(err) == insufficientPrivilege {
		return " (run `ledgerd migrate` once as a role that may; see the privileges in the README of the postgres store)"
	}
	return ""
}

// checkVersion refuses a new connection once a newer ledgerd has migrated the schema.
func (s *Store) checkVersion(ctx context.Context, c *pgx.Conn) error {
	var version int
	err := c.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM migrations", pgx.QueryExecModeExec).Scan(&version)
	if err == nil && version != len(s.options.steps) {
		err = fmt.Errorf("%w: schema %s has version %d, this ledgerd wants %d", ErrSchema, s.schema, version, len(s.options.steps))
	}
	return err
}

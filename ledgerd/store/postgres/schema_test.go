package postgres

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"idem/ledgerd/store"
	"idem/ledgerd/store/postgres/pgtest"
)

// A newer ledgerd, as far as the schema goes.
var newer = append(steps[:len(steps):len(steps)], "ALTER TABLE records ADD COLUMN novelty int")

func TestOlderSchemaIsRefusedAndMigratedOnDemand(t *testing.T) {
	url := pgtest.Shared(t).URL(pgtest.NewSchema())
	old := mustOpen(t, url, Options{})
	defer old.Close()
	version := mustSwap(t, old, "a", 0)
	_, err := Open(t.Context(), url, Options{steps: newer})
	if !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), "run `ledgerd migrate`") {
		t.Errorf("got %v, want ErrSchema and the command", err)
	}
	migrated := mustOpen(t, url, Options{steps: newer, Migrate: true})
	defer migrated.Close()
	if r, err := migrated.Load(t.Context(), hexKey("a")); err != nil || r.Version != version {
		t.Errorf("after the migration: got %+v, %v, want version %d", r, err, version)
	}
	// The older ledgerd refuses it when it starts, and with every new connection.
	if _, err := Open(t.Context(), url, Options{}); !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), "use the newer ledgerd") {
		t.Errorf("got %v, want ErrSchema", err)
	}
	old.pool.Reset()
	if _, err := old.Load(t.Context(), hexKey("a")); !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, ErrSchema) {
		t.Errorf("one that still runs: got %v, want ErrUnavailable, ErrSchema", err)
	}
}

func TestFailedMigrationChangesNothing(t *testing.T) {
	url := pgtest.Shared(t).URL(pgtest.NewSchema())
	broken := append(newer[:len(newer):len(newer)], "CREATE TABLE more (x int); SELECT 1/0")
	if _, err := Open(t.Context(), url, Options{steps: broken, Migrate: true}); err == nil {
		t.Fatal("a broken migration gave no error")
	}
	s := mustOpen(t, url, Options{})
	defer s.Close()
	mustSwap(t, s, "a", 0)
}

func TestForeignSchemaIsRefused(t *testing.T) {
	server, schema := pgtest.Shared(t), pgtest.NewSchema()
	server.Do(t, "CREATE SCHEMA "+schema+"; CREATE TABLE "+schema+".payroll (x int)")
	if _, err := Open(t.Context(), server.URL(schema), Options{Migrate: true}); !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), "payroll") {
		t.Errorf("got %v, want ErrSchema and the foreign table", err)
	}
}

// A copy that logical replication made has the rows and not the sequence: versions would be given again.
func TestTablesWithoutTheirSequenceAreRefused(t *testing.T) {
	server, schema := pgtest.Shared(t), pgtest.NewSchema()
	s := mustOpen(t, server.URL(schema), Options{})
	for _, name := range []string{"a", "b", "c"} {
		mustSwap(t, s, name, 0)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	server.Do(t, "SELECT setval('"+schema+".versions', 1)")
	_, err := Open(t.Context(), server.URL(schema), Options{})
	if !errors.Is(err, ErrSchema) {
		t.Fatalf("got %v, want ErrSchema", err)
	}
	_, remedy, _ := strings.Cut(err.Error(), "Run ")
	server.Do(t, remedy)
	again := mustOpen(t, server.URL(schema), Options{})
	defer again.Close()
	r, err := again.Load(t.Context(), hexKey("a"))
	if v := mustSwap(t, again, "d", 0); err != nil || v <= r.Version {
		t.Errorf("after the remedy: version %d after %d, %v", v, r.Version, err)
	}
}

// A store that is not there may be one that was lost: nobody makes a new one unasked.
func TestStoreThatIsNotThereIsMadeOnDemandOnly(t *testing.T) {
	server, schema := pgtest.Shared(t), pgtest.NewSchema()
	url := server.URL(schema)
	conn := server.Connect(t)
	database, address := conn.Config().Database, conn.PgConn().Conn().RemoteAddr()
	for name, f := range map[string]func() error{
		"Open":    func() error { _, err := Open(t.Context(), url, Options{}); return err },
		"Examine": func() error { _, err := Examine(t.Context(), url); return err },
	} {
		where := fmt.Sprintf("in schema %s of database %s at %s:", schema, database, address)
		if err := f(); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "`ledgerd migrate --store") || !strings.Contains(err.Error(), where) {
			t.Errorf("%s: got %v, want ErrNone, %q and the command", name, err, where)
		}
	}
	var there bool
	if err := server.Connect(t).QueryRow(t.Context(), "SELECT to_regnamespace($1) IS NOT NULL", schema).Scan(&there); err != nil || there {
		t.Errorf("the schema is there: %t, %v", there, err)
	}
	made := mustOpen(t, url, Options{})
	defer made.Close()
	again, err := Open(t.Context(), url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if !made.Made() || again.Made() || made.ID() == "" || again.ID() != made.ID() {
		t.Errorf("made %t, %t; ids %q, %q", made.Made(), again.Made(), made.ID(), again.ID())
	}
}

// The schema of the first release had no id of the store: it gets one, and keeps what it has.
func TestStoreOfTheFirstReleaseIsMigratedInPlace(t *testing.T) {
	server, schema := pgtest.Shared(t), pgtest.NewSchema()
	url := server.URL(schema)
	first := mustOpen(t, url, Options{})
	version := mustSwap(t, first, "a", 0)
	first.Close()
	server.Do(t, "SET search_path = "+schema+"; ALTER TABLE clock DROP COLUMN store; DELETE FROM migrations WHERE version = 2")
	if _, err := Open(t.Context(), url, Options{}); !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), "run `ledgerd migrate`") {
		t.Errorf("got %v, want ErrSchema and the command", err)
	}
	s := mustOpen(t, url, Options{})
	defer s.Close()
	if r, err := s.Load(t.Context(), hexKey("a")); err != nil || r.Version != version || s.Made() || len(s.ID()) != 32 {
		t.Errorf("got %+v, %v, id %q, made %t", r, err, s.ID(), s.Made())
	}
	mustSwap(t, s, "a", version)
}

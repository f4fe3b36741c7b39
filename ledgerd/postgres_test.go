package main

import (
	"regexp"
	"strings"
	"testing"

	"idem/ledgerd/store/postgres/pgtest"
)

// postgresStore gives a store's URL on the server that the tests share, with a password that must not show.
func postgresStore(t *testing.T) string {
	t.Helper()
	return strings.Replace(pgtest.Shared(t).URL(pgtest.NewSchema()), "ledgerd@", "ledgerd:s3cret@", 1)
}

// madeStore gives the URL of a store that an operator has made.
func madeStore(t *testing.T) string {
	t.Helper()
	url := postgresStore(t)
	command(t, "migrate", "--store", url).wants(t, 0, "Made a new, empty store")
	return url
}

func TestServeKeepsWhatWasExecutedInPostgres(t *testing.T) {
	url := madeStore(t)
	first := startProcess(t, "--store", url)
	status, text := first.ops(t, reserveOp("a1"), commitOp("a1"))
	if status != 200 || !strings.Contains(text, `"ok"`) {
		t.Fatalf("%d %s", status, text)
	}
	first.stop(t)
	second := startProcess(t, "--store", url)
	if strings.Contains(second.started, "data_dir") {
		t.Errorf("a directory is named where none is used: %s", second.started)
	}
	if status, text := second.ops(t, reserveOp("a2")); status != 200 || !strings.Contains(text, `"answer":"replay"`) {
		t.Errorf("after a restart: %d %s", status, text)
	}
	command(t, "doctor", "--store", url, "--data-dir", t.TempDir(), "--server", "http://"+second.admin, "--data-server", "http://"+second.data).
		wants(t, 0, "PostgreSQL 18", "flushed to the server's disk", "ready")
}

func TestMigrateMakesTheSchemaThatServeUses(t *testing.T) {
	url := postgresStore(t)
	serve := []string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--store", url}
	command(t, serve...).wants(t, 1, "there is no store", "`ledgerd migrate --store")
	command(t, "doctor", "--store", url, "--data-dir", t.TempDir()).wants(t, 1, "there is no store", "`ledgerd migrate --store")
	got := command(t, "migrate", "--store", url)
	got.wants(t, 0, "postgres://127.0.0.1:", "Made a new, empty store", "has the schema")
	if again := command(t, "migrate", "--store", url); again.code != 0 || strings.Contains(again.out, "new, empty") {
		t.Errorf("a store that was there: %+v", again)
	}
	schema := regexp.MustCompile(`schema=(\w+)`).FindStringSubmatch(url)[1]
	pgtest.Shared(t).Do(t, "INSERT INTO "+schema+".migrations (version) VALUES (1000)")
	refused := command(t, serve...)
	refused.wants(t, 1, schema, "version 1000", "use the newer ledgerd")
	command(t, "doctor", "--store", url, "--data-dir", t.TempDir()).wants(t, 1, "version 1000")
	for _, r := range []result{got, refused} {
		if strings.Contains(r.out+r.err, "s3cret") {
			t.Errorf("the password is shown: %s%s", r.out, r.err)
		}
	}
}

func TestStoreURLMayComeFromAFile(t *testing.T) {
	command(t, "migrate", "--store-file", file(t, "store", postgresStore(t)+"\n")).wants(t, 0, "has the schema")
	command(t, "migrate", "--store", "postgres://u:s3cret@h/db?schema=9").wants(t, 2, "--store", `schema is "9"`)
}

// A reset that the role may not do is told when ledgerd starts, not by the reset.
func TestServeThatMayBeResetNamesThePrivilegeThatIsMissing(t *testing.T) {
	url, role := madeStore(t), pgtest.NewSchema()
	schema := regexp.MustCompile(`schema=(\w+)`).FindStringSubmatch(url)[1]
	pgtest.Shared(t).Do(t, "CREATE ROLE "+role+" LOGIN; GRANT USAGE ON SCHEMA "+schema+" TO "+role+
		"; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "+schema+" TO "+role+"; GRANT ALL ON ALL SEQUENCES IN SCHEMA "+schema+" TO "+role)
	url = strings.Replace(url, "ledgerd:", role+":", 1)
	command(t, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--store", url, "--allow-reset").
		wants(t, 1, "GRANT TRUNCATE ON TABLE "+schema+".entries TO "+role)
	startProcess(t, "--store", url)
}

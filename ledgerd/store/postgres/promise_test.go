package postgres

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/postgres/pgtest"
)

func TestServerThatMayLoseWhatItAcknowledgedIsRefused(t *testing.T) {
	server := pgtest.Start(t)
	url := server.URL(pgtest.NewSchema())
	s := mustOpen(t, url, Options{Timeout: 5 * time.Second})
	defer s.Close()
	if text := s.Promise().String(); !strings.Contains(text, "flushed to the server's disk") || len(s.Promise().Warnings()) != 0 {
		t.Errorf("a sound server: %q, %q", text, s.Promise().Warnings())
	}
	server.Set(t, "fsync = off", "full_page_writes = off")
	_, err := Open(t.Context(), url, Options{})
	if !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), "accept_loss=true") {
		t.Errorf("got %v, want ErrUnsafe and the way out", err)
	}
	if _, err := Examine(t.Context(), url); !errors.Is(err, ErrUnsafe) {
		t.Errorf("Examine: got %v, want ErrUnsafe", err)
	}
	// A store that is open finds out with its next connection.
	s.pool.Reset()
	if _, err := s.Swap(t.Context(), store.Write{Key: hexKey("a"), Data: []byte("x")}); !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, ErrUnsafe) {
		t.Errorf("a store that was open: got %v, want ErrUnavailable, ErrUnsafe", err)
	}
	accepted := mustOpen(t, url+"&accept_loss=true", Options{})
	defer accepted.Close()
	if w := accepted.Promise().Warnings(); len(w) != 2 || !strings.Contains(w[0], "fsync") || !strings.Contains(w[1], "full_page_writes") {
		t.Errorf("the warnings are %q", w)
	}
	mustSwap(t, accepted, "a", 0)
}

// A role or a database may have settings that would break what a Swap promises. Ours win.
func TestSettingsOfTheRoleDoNotWeakenTheStore(t *testing.T) {
	server := pgtest.Shared(t)
	role, schema := pgtest.NewSchema(), pgtest.NewSchema()
	server.Do(t, `CREATE ROLE `+role+` LOGIN SUPERUSER; ALTER ROLE `+role+` SET synchronous_commit = off; ALTER ROLE `+role+` SET statement_timeout = '10s';
		ALTER ROLE `+role+` SET default_transaction_isolation = 'serializable'; ALTER ROLE `+role+` SET search_path = 'nowhere'`)
	url := strings.Replace(server.URL(schema), "ledgerd@", role+"@", 1)
	s := mustOpen(t, url, Options{})
	defer s.Close()
	mustSwap(t, s, "a", 0)
	for name, want := range map[string]string{"synchronous_commit": "on", "statement_timeout": "0", "transaction_isolation": "read committed"} {
		var got string
		if err := s.pool.QueryRow(t.Context(), "SHOW "+name).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
	// What is stronger stays.
	server.Do(t, "ALTER ROLE "+role+" SET synchronous_commit = remote_apply")
	again := mustOpen(t, url, Options{})
	defer again.Close()
	if got := again.Promise().Commit; got != "remote_apply" {
		t.Errorf("synchronous_commit is %q, want remote_apply", got)
	}
}

// The statements in the README make a role that can serve and nothing more.
func TestPrivilegesOfTheReadmeSuffice(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```sql\n(CREATE ROLE.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("README.md has no block of SQL that begins with CREATE ROLE")
	}
	server := pgtest.Shared(t)
	role, schema := pgtest.NewSchema(), pgtest.NewSchema()
	rename := strings.NewReplacer("ledgerd_serve", role, "SCHEMA idem", "SCHEMA "+schema, "idem.", schema+".", "DATABASE idem", "DATABASE postgres")
	url := strings.Replace(server.URL(schema), "ledgerd@", role+"@", 1)

	server.Do(t, "CREATE ROLE "+role+"_none LOGIN")
	_, err = Open(t.Context(), strings.Replace(url, role+"@", role+"_none@", 1), Options{})
	if err == nil || !strings.Contains(err.Error(), "ledgerd migrate") {
		t.Errorf("a role without privileges: got %v, want the way out", err)
	}

	owner := mustOpen(t, server.URL(schema), Options{Migrate: true})
	defer owner.Close()
	for _, statement := range strings.Split(rename.Replace(string(block[1])), ";") {
		if statement = strings.TrimSpace(statement); statement != "" {
			server.Do(t, statement)
		}
	}
	s := mustOpen(t, url, Options{})
	defer s.Close()
	version := mustSwap(t, s, "a", 0)
	_, err = s.Swap(t.Context(), store.Write{Key: hexKey("a"), Expect: version, Data: []byte("y"), Now: time.Now(),
		Entries: []store.Entry{{Index: store.Holds, ID: "h", At: time.Now()}}, Put: []store.Result{{Attempt: "1", Data: []byte("r")}}, Drop: []string{"2"}})
	if err != nil {
		t.Errorf("Swap: %v", err)
	}
	_, loadErr := s.Load(t.Context(), hexKey("a"))
	_, resultErr := s.Result(t.Context(), "1")
	_, lookupErr := s.Lookup(t.Context(), store.Holds, "h")
	_, newestErr := s.Newest(t.Context(), 1)
	if err := errors.Join(loadErr, resultErr, lookupErr, newestErr, s.SetSetting(t.Context(), "x", "y"), s.Watch(t.Context(), func(string) {})); err != nil {
		t.Error(err)
	}
	if err := s.Reset(t.Context()); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "privileges") {
		t.Errorf("Reset needs a privilege more: got %v", err)
	}
	// Who will ask for it is told at start.
	_, err = Open(t.Context(), url, Options{Reset: true})
	if !errors.Is(err, ErrPrivilege) || !strings.Contains(err.Error(), "GRANT TRUNCATE ON TABLE "+schema+".results TO "+role) {
		t.Fatalf("who will reset: got %v, want ErrPrivilege with the statement", err)
	}
	grants := err.Error()[strings.Index(err.Error(), "GRANT"):]
	server.Do(t, grants)
	resetter := mustOpen(t, url, Options{Reset: true})
	defer resetter.Close()
	if err := resetter.Reset(t.Context()); err != nil {
		t.Errorf("Reset after %s: %v", grants, err)
	}
}

// A server that is there and takes no writes is not one that is away, be it found out by a write or by a new connection.
func TestServerThatIsMadeReadOnlyIsSaidToBeThere(t *testing.T) {
	server := pgtest.Start(t)
	s := mustOpen(t, server.URL(pgtest.NewSchema()), Options{Timeout: 5 * time.Second})
	defer s.Close()
	version := mustSwap(t, s, "a", 0)
	server.Set(t, "default_transaction_read_only = on")
	for range 5 {
		_, err := s.Swap(t.Context(), store.Write{Key: hexKey("a"), Expect: version, Data: []byte("y")})
		if !errors.Is(err, store.ErrUnfit) || !strings.Contains(err.Error(), "takes no writes") {
			t.Errorf("got %v, want ErrUnfit and that it takes no writes", err)
		}
	}
	// Who makes connections only from now on is told the same.
	s.pool.Reset()
	if _, err := s.Swap(t.Context(), store.Write{Key: hexKey("a"), Expect: version, Data: []byte("y")}); !errors.Is(err, store.ErrUnfit) {
		t.Errorf("over a new connection: got %v, want ErrUnfit", err)
	}
	server.Set(t, "default_transaction_read_only = off")
	var err error
	for range 1000 {
		if _, err = s.Swap(t.Context(), store.Write{Key: hexKey("a"), Expect: version, Data: []byte("y")}); err == nil {
			break
		}
	}
	if err != nil {
		t.Errorf("once it takes writes again: %v", err)
	}
}

// What a URL hands on to the server arrives as it is written there, spaces and plus signs too.
func TestParametersOfTheURLReachTheServerAsTheyAreWritten(t *testing.T) {
	server := pgtest.Shared(t)
	url := server.URL(pgtest.NewSchema()) + "&options=-c%20work_mem%3D5MB&application_name=my%20ledger+1%2B2"
	s := mustOpen(t, url, Options{})
	defer s.Close()
	for name, want := range map[string]string{"work_mem": "5MB", "application_name": "my ledger+1+2"} {
		var got string
		if err := s.pool.QueryRow(t.Context(), "SHOW "+name).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
	_, err := Open(t.Context(), "postgres://h/d?sslmode=verify-full&sslrootcert=/no%20such%20place/a+b.pem", Options{})
	if !errors.Is(err, ErrURL) || !strings.Contains(err.Error(), "/no such place/a+b.pem") {
		t.Errorf("a path with spaces: got %v", err)
	}
}

func TestURLsThatAreWrongAreToldWithoutThePassword(t *testing.T) {
	for url, want := range map[string]string{
		"mysql://u:s3cret@h/d":                       "postgres://",
		"postgres://u:s3cret@h/d?schema=A":           `schema is "A"`,
		"postgres://u:s3cret@h/d?schema=pg_x":        `schema is "pg_x"`,
		"postgres://u:s3cret@h/d?accept_loss=yes!":   `accept_loss is "yes!"`,
		"postgres://u:s3cret@h/d?pool_max_conns=3":   "pool_max_conns",
		"postgres://u:s3cret@h:port/d":               "port",
		"postgres://u:s3cret@h/d?sslmode=nonsense":   "sslmode",
		"postgres://u:s3cret@h/d?a=%zz":              "parameters",
		"postgres://u:s3cret@h1:1,h2:2/d?schema=1":   `schema is "1"`,
		"postgresql://u:s3cret@h/d?accept_loss=&x=1": `accept_loss is ""`,
	} {
		_, err := Open(t.Context(), url, Options{})
		if !errors.Is(err, ErrURL) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v, want ErrURL and %q", url, err, want)
		}
	}
	if _, err := parse("postgres://u:p@h1:5001,h2:5002/d"); err != nil {
		t.Errorf("several hosts: %v", err)
	}
}

func TestOptionsReportEveryMistake(t *testing.T) {
	_, err := Open(t.Context(), "postgres://h/d", Options{QueueWrites: -1, GroupBytes: -1, Timeout: -1})
	for _, want := range []string{"QueueWrites", "GroupBytes", "Timeout"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a word on %s", err, want)
		}
	}
}

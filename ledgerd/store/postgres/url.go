package postgres

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"idem/ledgerd/store/option"
)

// The parameters of a store's URL that are ours; all others are those of any client of PostgreSQL (libpq's).
const (
	paramSchema     = "schema"      // where the tables are; default idem
	paramAcceptLoss = "accept_loss" // true: a server that may lose what it acknowledged is used all the same
)

const defaultSchema = "idem"

// location is where a store is, from its URL.
type location struct {
	config     *pgxpool.Config
	schema     string
	acceptLoss bool
}

// schemaName keeps a schema's name free of quoting, and short enough for the name of its channel.
var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,39}$`)

// CheckURL says what is wrong with a store's URL, and asks no server: an ErrURL.
func CheckURL(url string) error {
	_, err := parse(url)
	return err
}

// parse reads postgres://user@host:port/database?schema=…; what it does not name comes from the environment (PGHOST,
// PGPASSWORD, PGSSLMODE, …) and the password file, as for every client of PostgreSQL. Its errors do not repeat a
// password.
func parse(text string) (location, error) {
	l := location{schema: defaultSchema}
	base, query, _ := strings.Cut(text, "?")
	if !strings.HasPrefix(base, "postgres://") && !strings.HasPrefix(base, "postgresql://") {
		return l, fmt.Errorf("%w: it does not begin with postgres://", ErrURL)
	}
	params, err := option.ParseQuery(query)
	if err != nil {
		return l, fmt.Errorf("%w: its parameters: %w", ErrURL, err)
	}
	if params.Has(paramSchema) {
		l.schema = params.Get(paramSchema)
	}
	if !schemaName.MatchString(l.schema) || strings.HasPrefix(l.schema, "pg_") {
		return l, fmt.Errorf("%w: %s is %q, want up to 40 of a-z, 0-9 and _, not starting with a digit or pg_", ErrURL, paramSchema, l.schema)
	}
	if params.Has(paramAcceptLoss) {
		if l.acceptLoss, err = strconv.ParseBool(params.Get(paramAcceptLoss)); err != nil {
			return l, fmt.Errorf("%w: %s is %q, want true or false", ErrURL, paramAcceptLoss, params.Get(paramAcceptLoss))
		}
	}
	for name := range params {
		if strings.HasPrefix(name, "pool_") {
			return l, fmt.Errorf("%w: it has %s, but the store chooses its connections itself (see its README)", ErrURL, name)
		}
	}
	params.Del(paramSchema)
	params.Del(paramAcceptLoss)
	if !params.Has("connect_timeout") {
		params.Set("connect_timeout", "5")
	}
	if l.config, err = pgxpool.ParseConfig(base + "?" + option.EncodeQuery(params)); err != nil {
		return l, fmt.Errorf("%w: %w", ErrURL, err) // pgx leaves the password out
	}
	c := l.config.ConnConfig
	c.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	if c.ValidateConnect == nil { // of several hosts, the one that takes writes
		c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "ledgerd"
	}
	l.config.MaxConnIdleTime = 5 * time.Minute
	return l, nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"idem/ledgerd/api"
	"idem/ledgerd/store"
	"idem/ledgerd/store/memory"
	"idem/ledgerd/store/postgres"
	"idem/ledgerd/store/redis"
	"idem/ledgerd/store/sqlite"
)

// storeChoice is where records are kept, as the settings say.
type storeChoice struct {
	kind    string // sqlite, memory, or the URL of a store that several ledgerds may share
	dataDir string
	resets  bool // it will be asked to forget everything
}

// storeFlags adds what says where records are kept. A URL may hold a password, so that it, too, may come from a file.
func storeFlags(c *cobra.Command, s *storeChoice) {
	f := c.Flags()
	f.StringVar(&s.dataDir, "data-dir", "data", "`directory` of the sqlite store; made where it is missing")
	secretFlag(f, &s.kind, "store", "where records are kept: sqlite, postgres://user@host/database or redis://host (several ledgerds may share these), or memory (for tests: forgets when ledgerd stops)")
	flag := f.Lookup("store")
	flag.DefValue, s.kind = "sqlite", "sqlite"
}

// scheme gives the kind of a store without what is particular to this one.
func (s storeChoice) scheme() string {
	scheme, _, isURL := strings.Cut(s.kind, "://")
	switch {
	case isURL && (scheme == "postgres" || scheme == "postgresql"):
		return "postgres"
	case isURL && (scheme == "redis" || scheme == "rediss"):
		return "redis"
	}
	return scheme
}

// String names the store for people: without the user, the password and the parameters of a URL.
func (s storeChoice) String() string {
	scheme, rest, isURL := strings.Cut(s.kind, "://")
	if !isURL {
		return s.kind
	}
	rest, _, _ = strings.Cut(rest, "?")
	return scheme + "://" + rest[strings.LastIndexByte(rest, '@')+1:]
}

// where says for the log where records are kept, and of a directory whether it is yet to be made: a wrong working
// directory, or a disk that is not mounted, looks like a ledger that never executed anything.
func (s storeChoice) where() []any {
	if s.scheme() != "sqlite" {
		return []any{"store", s.String()}
	}
	_, err := os.Stat(s.dataDir)
	return []any{"store", s.String(), "data_dir", s.dataDir, "data_dir_made", errors.Is(err, fs.ErrNotExist)}
}

// shared says whether other processes may write to the store while this one does.
func (s storeChoice) shared() bool { return s.scheme() == "postgres" || s.scheme() == "redis" }

// checkFlags refuses a command line that gives a directory to a store that has none. In the environment or a settings
// file, which serve several commands and stores, it may stand.
func (s storeChoice) checkFlags(c *cobra.Command) error {
	if c.Flags().Changed("data-dir") && s.scheme() != "sqlite" {
		return usageError{fmt.Errorf("--data-dir goes with the sqlite store only, and --store is %s", s.scheme())}
	}
	return nil
}

// validate says what is wrong with the setting, before anything is touched.
func (s storeChoice) validate() error {
	var err error
	switch s.scheme() {
	case "sqlite":
		if s.dataDir == "" {
			err = errors.New("--data-dir is empty: want the directory of the sqlite store")
		}
		return err
	case "memory":
		return nil
	case "postgres":
		err = postgres.CheckURL(s.kind)
	case "redis":
		err = redis.CheckURL(s.kind)
	default:
		return s.unknown()
	}
	if err != nil {
		err = fmt.Errorf("--store: %w", err)
	}
	return err
}

// unknown names what is no store. A URL may hold a password: only its scheme is repeated.
func (s storeChoice) unknown() error {
	name, _, isURL := strings.Cut(s.kind, "://")
	if isURL {
		name += "://…"
	}
	return fmt.Errorf("--store %q: the stores are sqlite (one ledgerd, durable in --data-dir), postgres://… and redis://… (several ledgerds may share them), and memory (tests)", name)
}

// open opens the store. One that is shared tells the log what it promises; it is made where there is none, and its schema
// brought up to date, only where migrate says so: the server may have lost it, and other nodes may be using it.
func (s storeChoice) open(ctx context.Context, log *slog.Logger, migrate bool) (store.Store, error) {
	if err := s.validate(); err != nil {
		return nil, usageError{err}
	}
	switch s.scheme() {
	case "sqlite":
		kept, err := sqlite.Open(ctx, s.dataDir, sqlite.Options{})
		if errors.Is(err, sqlite.ErrInUse) {
			return nil, fmt.Errorf("%w (choose another one by --data-dir)", err)
		}
		return kept, err
	case "memory":
		return memory.New(memory.Options{}), nil
	case "postgres":
		return opened(postgres.Open(ctx, s.kind, postgres.Options{Log: log, Migrate: migrate, Reset: s.resets}))
	case "redis":
		return opened(redis.Open(ctx, s.kind, redis.Options{Log: log, Migrate: migrate}))
	}
	return nil, usageError{s.unknown()}
}

// opened makes no store of a nil one, and a wrong setting of a URL that cannot be read.
func opened[S store.Store](s S, err error) (store.Store, error) {
	switch {
	case errors.Is(err, postgres.ErrURL), errors.Is(err, redis.ErrURL):
		return nil, usageError{fmt.Errorf("--store: %w", err)}
	case err != nil:
		return nil, err
	}
	return s, nil
}

// newlyMade says whether opening a store made it, and names it where it has a name.
func newlyMade(kept store.Store) (made bool, id string) {
	if s, ok := kept.(interface{ Made() bool }); ok {
		made = s.Made()
	}
	if s, ok := kept.(interface{ ID() string }); ok {
		id = s.ID()
	}
	return made, id
}

// writing says how a store's writing is doing, where it counts that; else nil.
func writing(kept store.Store) func() api.Writing {
	switch s := kept.(type) {
	case *sqlite.Store:
		return func() api.Writing {
			w := s.Stats()
			return api.Writing{Groups: w.Commits, Writes: w.Writes, Conflicts: w.Conflicts, Failures: w.Failures, Waiting: w.Waiting}
		}
	case *postgres.Store:
		return func() api.Writing {
			w := s.Stats()
			return api.Writing{Groups: w.Commits, Writes: w.Writes, Conflicts: w.Conflicts, Failures: w.Failures, Waiting: w.Waiting}
		}
	case *redis.Store:
		return func() api.Writing {
			w := s.Stats()
			return api.Writing{Groups: w.Groups, Writes: w.Writes, Conflicts: w.Conflicts, Failures: w.Failures, Waiting: w.Waiting}
		}
	}
	return nil
}

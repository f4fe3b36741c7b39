package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"idem/ledgerd/store"
)

// What Open refuses.
var (
	// ErrNone says that there is no store, and nobody asked for a new one.
	ErrNone = errors.New("there is no store")
	// ErrPrivilege says that the role lacks rights that the store needs.
	ErrPrivilege = errors.New("the role lacks privileges")
	// ErrSchema says that the schema is another program's, or of another version than this ledgerd's.
	ErrSchema = errors.New("the schema does not fit this ledgerd")
	// ErrUnsafe says that the server does not keep what it says it has kept.
	ErrUnsafe = errors.New("the server may lose what it has acknowledged")
	// ErrURL says that the store's URL cannot be read.
	ErrURL = errors.New("store/postgres: the store's URL is wrong")
	// ErrServer says that the server is too old.
	ErrServer = errors.New("the server is not one that this ledgerd can use")
)

// SQLSTATE codes (PostgreSQL's Appendix A) that are told apart.
const (
	serializationFailure  = "40001"
	deadlockDetected      = "40P01"
	readOnlyTransaction   = "25006"
	insufficientPrivilege = "42501"
	undefinedTable        = "42P01"
	undefinedSchema       = "3F000"
	invalidPassword       = "28P01"
	invalidAuthorization  = "28000"
	noDatabase            = "3D000"
	diskFull              = "53100"
	tooManyConnections    = "53300"
	lockNotAvailable      = "55P03"
	cardinalityViolation  = "21000"
)

// unavailable wraps an error of the server, or of the way to it, for the callers of the store. What an operator can act
// on is said in words.
func unavailable(doing string, err error) error {
	if errors.Is(err, store.ErrUnavailable) {
		return err
	}
	kind, hint := store.ErrUnavailable, ""
	for _, refused := range []error{ErrNone, ErrPrivilege, ErrSchema, ErrUnsafe, ErrServer} {
		if errors.Is(err, refused) {
			kind = store.ErrUnfit
		}
	}
	if errors.Is(err, pgconn.ErrReadOnlyConnection) || errors.Is(err, pgconn.ErrStandbyConnection) {
		kind, hint = store.ErrUnfit, " (the server takes no writes: is it a standby?)"
	}
	switch code(err) {
	case invalidPassword, invalidAuthorization:
		kind = store.ErrRefused
	case noDatabase:
		kind = store.ErrUnfit
	case readOnlyTransaction:
		kind, hint = store.ErrUnfit, " (the server takes no writes: is it a standby?)"
	case insufficientPrivilege:
		kind, hint = store.ErrUnfit, " (see the privileges in the README of the postgres store)"
	case undefinedTable, undefinedSchema:
		kind, hint = store.ErrUnfit, " (the schema is gone, or the role has no USAGE on it any more)"
	case diskFull:
		kind, hint = store.ErrUnfit, " (the server's disk is full)"
	case tooManyConnections:
		hint = " (raise max_connections, or run fewer nodes)"
	case lockNotAvailable:
		hint = " (somebody holds a lock on the tables)"
	}
	return fmt.Errorf("%w: postgres: %s: %w%s", kind, doing, err, hint)
}

// failed is what a method gives for an error: the caller's context's, where that is why.
func failed(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("store/postgres: %s: %w", doing, ctx.Err())
	}
	return unavailable(doing, err)
}

func closed() error { return fmt.Errorf("%w: postgres: the store is closed", store.ErrUnavailable) }

// code gives the SQLSTATE of an error of the server; empty where it is none.
func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// undone says whether it is sure that a write did not happen: nothing was sent, or the server answered with an ERROR,
// which ends the transaction that it happens in. A FATAL one may come between a commit and the word of it.
func undone(err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		severity := e.SeverityUnlocalized
		if severity == "" {
			severity = e.Severity
		}
		return severity == "ERROR"
	}
	var refused *pgconn.ConnectError
	return errors.As(err, &refused) || pgconn.SafeToRetry(err)
}

// passing says whether the same may work when it is tried again at once.
func passing(err error) bool {
	return slices.Contains([]string{serializationFailure, deadlockDetected}, code(err)) || pgconn.SafeToRetry(err)
}

// ofOne says whether an error may be one write's of several: about its data, not about the server.
func ofOne(err error) bool {
	c := code(err)
	if len(c) != 5 {
		return false
	}
	return slices.Contains([]string{"21", "22", "23", "27", "40", "54"}, c[:2])
}

package redis

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"idem/ledgerd/store"
)

// What Open refuses.
var (
	// ErrURL says that the URL is not one that names a store.
	ErrURL = errors.New("the store's URL is wrong")
	// ErrUnsafe says that the server is set up in a way that loses what it acknowledged.
	ErrUnsafe = errors.New("the server would lose what it acknowledged")
	// ErrNone says that there is no store, and nobody asked for a new one.
	ErrNone = errors.New("there is no store")
	// ErrRights says that the user lacks rights that the store needs.
	ErrRights = errors.New("the user lacks rights")
	// ErrDamaged says that a part of the store is missing.
	ErrDamaged = errors.New("a part of the store is missing")
	// ErrForeign says that the keys are a newer ledgerd's.
	ErrForeign = errors.New("the keys were not written by this ledgerd or an older one")
)

// unavailable wraps an error of the server or of the way to it. What an operator can act on is said in words.
func unavailable(doing string, err error) error {
	if errors.Is(err, store.ErrUnavailable) {
		return err
	}
	kind, hint := store.ErrUnavailable, ""
	switch {
	case redis.IsOOMError(err):
		kind, hint = store.ErrUnfit, " (the server is at its maxmemory)"
	case redis.IsReadOnlyError(err):
		kind, hint = store.ErrUnfit, " (the server has become a replica)"
	case redis.IsLoadingError(err):
		hint = " (the server is still reading its data)"
	case redis.IsNoReplicasError(err):
		kind, hint = store.ErrUnfit, " (the server has fewer replicas than its min-replicas-to-write)"
	case redis.IsPermissionError(err):
		kind, hint = store.ErrUnfit, " (the user lacks a right that the store's README names)"
	case redis.IsAuthError(err):
		kind = store.ErrRefused
	case said(err, "MISCONF"):
		kind, hint = store.ErrUnfit, " (the server cannot write its file: its disk is full, or fails)"
	case errors.Is(err, ErrUnsafe):
		kind = store.ErrUnfit
	}
	return fmt.Errorf("%w: redis: %s: %w%s", kind, doing, err, hint)
}

func closed() error {
	return fmt.Errorf("%w: redis: the store is closed", store.ErrUnavailable)
}

// forgotten says that the server does not have a script: the call was not executed.
func forgotten(err error) bool { return said(err, "NOSCRIPT") }

// elsewhere says that the call was not executed because the slot is, or is about to be, on another master, or because
// the server is not ready yet.
func elsewhere(err error) bool {
	if _, moved := redis.IsMovedError(err); moved {
		return true
	}
	_, ask := redis.IsAskError(err)
	return ask || redis.IsTryAgainError(err) || redis.IsClusterDownError(err) || redis.IsLoadingError(err)
}

// said tells whether the server answered with an error of a kind.
func said(err error, kind string) bool {
	var e redis.Error
	return errors.As(err, &e) && strings.HasPrefix(e.Error(), kind)
}

package main

import "errors"

// usageError says that the command line or a setting is wrong: exit code 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// verdictError is a command's answer rather than a failure (a configuration is wrong, two bodies are two calls, a check
// found something): it was already told, and the exit code is 1.
type verdictError struct{}

func (verdictError) Error() string { return "see above" }

func isSilent(err error) bool {
	var v verdictError
	return errors.As(err, &v)
}

// exitCode gives
//
//	0  it is done
//	1  it failed, or the answer is no (`check`, `doctor`, `explain` of two bodies that are two calls)
//	2  the command line or a setting is wrong; nothing was done
//	3  the ledger refused: no such id, answered already, not allowed
func exitCode(err error) int {
	var usage usageError
	var refused *refusedError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return 2
	case errors.As(err, &refused) && refused.Status < 500:
		return 3
	default:
		return 1
	}
}

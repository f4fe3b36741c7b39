package store

import (
	"fmt"
	"runtime/debug"
)

// Panicked is what is told of an operation whose goroutine panicked with what, by the function that recovered: nothing is
// known of its effect. The error says where it happened, for the log.
func Panicked(doing string, what any) error {
	return fmt.Errorf("%w: %s panicked: %v\n%s", ErrUnavailable, doing, what, debug.Stack())
}

//go:build !unix

package canon_test

import (
	"testing"
	"time"
)

var began = time.Now()

// worked is the time that has passed, where no processor's time is told.
func worked(*testing.T) time.Duration { return time.Since(began) }

// Package option is what the drivers' Options have in common: a zero member means its default, and every mistake is
// told at once, with the option's name, its value and what would have been right. And how a store's URL is read.
package option

import (
	"errors"
	"fmt"
	"time"
)

// Default gives an option its default where it is zero.
func Default[T ~int | ~int64](option *T, value T) {
	if *option == 0 {
		*option = value
	}
}

// Check collects the mistakes in a driver's options.
type Check struct {
	driver   string
	mistakes []error
}

// NewCheck begins a check of the options of a driver, which its errors begin with: "store/sqlite".
func NewCheck(driver string) *Check { return &Check{driver: driver} }

// Number wants at least so much of an option.
func (c *Check) Number(name string, value, least int64) {
	if value < least {
		c.mistakes = append(c.mistakes, fmt.Errorf("%s: option %s is %d, want at least %d", c.driver, name, value, least))
	}
}

// Duration wants an option to last at least so long.
func (c *Check) Duration(name string, value, least time.Duration) {
	if value < least {
		c.mistakes = append(c.mistakes, fmt.Errorf("%s: option %s is %v, want at least %v", c.driver, name, value, least))
	}
}

// Queue wants a queue and its groups to have room for something.
func (c *Check) Queue(writes int, bytes int64, groupWrites int, groupBytes int64) {
	c.Number("QueueWrites", int64(writes), 1)
	c.Number("QueueBytes", bytes, 1)
	c.Number("GroupWrites", int64(groupWrites), 1)
	c.Number("GroupBytes", groupBytes, 1)
}

// Err gives every mistake at once.
func (c *Check) Err() error { return errors.Join(c.mistakes...) }

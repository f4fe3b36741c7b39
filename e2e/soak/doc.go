// Package soak puts the whole product, Envoy with two workers, the compiled filter and ledgerd, through a long day: many
// thousand calls of every protocol and shape, most of them several times, by callers some of whom leave; a tool that
// breaks connections, never answers, fails and is slow; people who answer holds and look into what is in doubt.
//
// The judge is the tool, and only the tool. It is not idempotent: it does a deed each time that it is asked, counts them
// by order, and gives each a number of its own that nobody else's result has. What is held to be promised:
//
//   - an order is done at most once, and once more for each hold of it that a person released as a new intent;
//   - the tool is asked at most once, and once more for each of its own definite failures, for each such release, and for
//     each doubt about which a person saw that nothing had been done;
//   - every caller that stays is answered, within a bound, in words that the README lists;
//   - a result that somebody is given is, byte for byte, that of a deed of the caller's own order, and `executed` is told
//     once a deed; whoever comes again with its run gets the same deed again;
//   - nothing adds up: memory, descriptors, parked calls, trapped workers.
//
// A run is made from a seed, which it prints; the order in which things meet is the machine's.
package soak

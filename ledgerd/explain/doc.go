// Package explain says in words why two calls are one intent or are not: it reads each as the filter would, shows
// every step to the canonical form, and compares the canonical forms member by member. The command `ledgerd explain`
// and the console's explain page are its two readers.
//
// It judges nothing itself. Canonical forms and fingerprints are package canon's, and which rule reads a call is said by
// whoever makes an [Explainer]; this package only puts the two beside each other. Without the deployment's key the fingerprints are
// not those of the filter, though whether two are equal is the same; a report says which it is.
package explain

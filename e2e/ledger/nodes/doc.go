// Package nodes has tests of several ledgerds over one real PostgreSQL or Valkey: whoever waits at one is woken by what
// happens at another, at once, and within a poll where the notification is lost.
package nodes

// Package mcp reads and writes the Model Context Protocol's messages as far as Idem meets them: a tools/call request
// comes in, a tool result goes out (streamable HTTP, revisions 2025-03-26 to 2026-07-28).
//
// It promises: a message that is not wholly read is an error, never a guess (a duplicate member "method" would otherwise
// choose what is guarded); the stored form of a result ([Final]) bears neither an id nor the shape, JSON or event
// stream, in which the tool sent it, so that it can be given to any later caller under its own id and in the form that
// it accepts; and an event stream that comes in parts ([Stream]) is read as the one stream that it is.
//
// What a tools/call means (its tool, its arguments, its fingerprint) is package canon's matter; what becomes of it is
// package exchange's.
package mcp

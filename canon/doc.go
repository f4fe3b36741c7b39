// Package canon makes the canonical form of a tool call.
package canon

// Package mcp_test holds what users of MCP rely on: the official clients and servers, as they are published, with a real
// Envoy, the compiled filter and a real ledgerd in between.
//
//	client ─► Envoy :/mcp/RULE/SERVER ─► front (counts) ─► server /mcp ─► bank (counts, holds back)
//
// The clients are the Go SDK in this process, and the Python and both TypeScript SDKs as programs in clients/, which
// are driven line by line, so that one test is one story for all of them. The servers are the Go SDK's in this process,
// the Python SDK's, each with and without sessions, event streams and JSON, and server-everything; Go's, Python's and
// the TypeScript SDK's with streams that they end before the response; and one made by hand that does what none of them
// does. The front sees every request that reached a server; the bank is where the servers' tools do their work, so that
// executions are counted where they happen.
//
// And the same clients use the demo as it ships, which counts at its own tool.
//
// An Envoy takes many seconds to compile the module: all tests share one, run one after the other, and keep apart by
// the customer that they name.
package mcp_test

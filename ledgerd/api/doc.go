// Package api is ledgerd's two HTTP faces: the data API that the filter speaks (POST /v1/ops, newline-delimited JSON,
// one operation a line, one answer a line, in order) and the admin API that people, the console and Prometheus speak.
// Each is an http.Handler of its own ([API.Data], [API.Admin]) for a listener of its own, with tokens of its own.
//
// What it promises:
//
//   - An operation that is wrong gets an error answer of its own and never spoils its batch; a batch has as many
//     answers as lines. An answer is written only after the ledger gave it, so what it says is durable. Operations that
//     reached ledgerd whole are carried out even where their sender has gone meanwhile; only waits end with it.
//   - Who may do what is decided before a body is read: the token (compared in constant time), the role, and on the
//     admin face the Host (against DNS rebinding), the origin (against cross-site requests) and the content type.
//   - Every refusal is application/problem+json (RFC 9457) with a code that a program can decide by.
//   - Bodies are bounded, reads and writes have deadlines, and neither bodies nor credentials reach a log.
//
// What it leaves to others: what an operation or an answer means (package ledger), how a line is encoded (package
// wire), the pages (package console), on which address and with which certificates the faces are served (the serve
// command).
//
// Its routes stand in admin.go and data.go, each with the role that it needs.
package api

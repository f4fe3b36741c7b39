package main

import (
	"strings"
)

// whatToTry is printed once everything is ready.
func whatToTry(s settings) string {
	_, port, _ := strings.Cut(s.listen, ":")
	return strings.NewReplacer("HOST", "localhost:"+port, "ENVOY-ADMIN", s.envoyAdmin,
		"ADMIN-FLAG", elsewhere("server", s.admin, "127.0.0.1:7413"), "DATA-FLAG", elsewhere("data-server", s.data, "127.0.0.1:7411"),
		"DATA-DIR", s.dataDir).Replace(`
Idem is ready.

  http://HOST/            the console, with scenarios to click
  http://HOST/api/invoke  guarded, replies in an envelope     http://HOST/tools/<tool>  guarded, transparent
  http://HOST/mcp         the same tools as a guarded MCP server (streamable HTTP), for any MCP client
  http://HOST/executions  what the tool really did            http://ENVOY-ADMIN/  Envoy's own admin interface

One refund in three spellings. In three shells within 5 seconds, or all at once with & at the end of each line:

  curl -s HOST/api/invoke -H 'content-type: application/json' -d '{"tool":"refund","runId":"worker-a","args":{"customer":"Ada@Example.com","amount":"$12.00","currency":"usd"}}'
  curl -s HOST/api/invoke -H 'content-type: application/json' -d '{"args":{"currency":"USD","amount":"12.00 USD","customer":"ada@example.com"},"trace_id":"t-2","runId":"worker-b","tool":"refund"}'
  curl -s HOST/api/invoke -H 'content-type: application/json' -d '{"tool":"refund","request_id":"q","args":{"amount":"1200 cents","customer":"ADA@example.com","currency":"USD"}}'

One is executed, the others are coalesced or, later, replay; the refund_id is one. Later than 5 seconds after the first, a new
run is held, until a human says what it is:

  curl -s HOST/api/invoke -H 'content-type: application/json' -d '{"tool":"refund","runId":"worker-c","args":{"customer":"ada@example.com","amount":"$12.00","currency":"USD"}}'
  curl -s HOST/api/release -H 'content-type: application/json' -d '{"id":"the hold’s id"}'

Released, the same call executes once: send it again.

The same by MCP, where a retry has nothing in common with the first call but the tool and its arguments: both get one refund_id, each under
its own id. Or add http://HOST/mcp to your agent as a streamable HTTP server and ask it for a refund, twice:

  curl -s HOST/mcp -H 'content-type: application/json' -H 'accept: application/json, text/event-stream' -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refund","arguments":{"customer":"ada@example.com","amount":"$15.00","currency":"USD"}}}'
  curl -s HOST/mcp -H 'content-type: application/json' -H 'accept: application/json, text/event-stream' -d '{"jsonrpc":"2.0","id":"again","method":"tools/call","params":{"name":"refund","arguments":{"amount":15,"currency":"usd","customer":"Ada@example.com"}}}'

  curl -s HOST/api/state    curl -s HOST/executions
  curl -s HOST/api/reset -H 'content-type: application/json' -d '{}'    (empties the ledger; the tool goes on counting)
  bin/ledgerd holds listADMIN-FLAG
  bin/ledgerd doctor --data-dir DATA-DIR --envoy-admin http://ENVOY-ADMINADMIN-FLAGDATA-FLAG

Everything listens on loopback, and whoever is on this machine may answer holds without a token: a demo, not a deployment.
Ctrl-C stops all of it.
`)
}

// elsewhere gives the flag that says where a part listens, where that is not its default.
func elsewhere(flag, address, usual string) string {
	if address == usual {
		return ""
	}
	return " --" + flag + " http://" + address
}

package soak

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"

	"idem/e2e/envoytest"
)

// kind is one way to call the tool: a protocol, a shape of reply, a way to execute.
type kind struct {
	name   string
	weight int
	path   string // where it is called, and its orders' beginning

	write  func(o *order, r *rand.Rand, run string) envoytest.Call // one of many spellings of the call
	answer func(w http.ResponseWriter, request, result []byte)     // how the tool brings a result
	failed func(w http.ResponseWriter, request, result []byte)     // how the tool says that it failed
	read   func(reply envoytest.Reply) []byte                      // the tool's result in what a caller got; nil: none
	pads   int                                                     // results are up to so many bytes longer
}

// rules are the filter's rules for the kinds. Times are short, so that doubts and holds come and go within the run.
const rules = `
	{"name":"envelope","match":{"path":"/api/invoke"},"reply":"envelope",%[1]s},
	{"name":"tools","match":{"path_prefix":"/tools/"},%[1]s},
	{"name":"form","match":{"path":"/form/pay"},"protocol":"form",%[1]s},
	{"name":"mcp","match":{"path":"/mcp","tools":["*"]},"protocol":"mcp",%[1]s},
	{"name":"inline","match":{"path_prefix":"/inline/"},"execution":"inline",%[1]s},
	{"name":"orders","match":{"path_prefix":"/orders/","methods":["DELETE"]},%[1]s}`

const timing = `"lease":"5s","execution_timeout":"3s","wait":"10s","near_duplicates":{"window":"1s"}`

// plugin is the filter's configuration. With mode "off" nothing is guarded.
func plugin(mode string) string {
	return `{"ledger":{"cluster":"ledgerd","timeout":"2s"},"execute":{"cluster":"idem-execute"},"calls":[` +
		fmt.Sprintf(rules, `"mode":"`+mode+`",`+timing) + `]}`
}

var kinds = []*kind{
	{name: "envelope", weight: 25, path: "/api/invoke", write: writeJSON, answer: answerJSON, failed: fail500, read: readEnvelope},
	{name: "transparent", weight: 20, path: "/tools/refund", write: writeJSON, answer: answerJSON, failed: fail500, read: readPlain},
	{name: "large", weight: 4, path: "/tools/upload", write: writeLarge, answer: answerJSON, failed: fail500, read: readPlain, pads: 300_000},
	{name: "form", weight: 10, path: "/form/pay", write: writeForm, answer: answerJSON, failed: fail500, read: readPlain},
	{name: "mcp", weight: 12, path: "/mcp", write: writeMCP("refund"), answer: answerMCP, failed: failMCP, read: readMCP},
	{name: "mcp stream", weight: 12, path: "/mcp", write: writeMCP("stream_refund"), answer: answerMCP, failed: failMCP, read: readMCP},
	{name: "inline", weight: 10, path: "/inline/refund", write: writeJSON, answer: answerPieces, failed: fail500, read: readPlain},
	{name: "bodiless", weight: 7, path: "/orders/", write: writeDelete, answer: answerJSON, failed: fail500, read: readPlain},
}

// kindAt finds the kind that a request to the tool is of.
func kindAt(path string) *kind {
	for _, k := range kinds {
		if strings.HasPrefix(path, k.path) {
			return k
		}
	}
	return nil
}

func someKind(r *rand.Rand) *kind {
	all := 0
	for _, k := range kinds {
		all += k.weight
	}
	n := r.IntN(all)
	for _, k := range kinds {
		if n -= k.weight; n < 0 {
			return k
		}
	}
	panic("the weights do not add up")
}

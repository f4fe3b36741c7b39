package envoy

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"

	"go.yaml.in/yaml/v4"
)

// Names in demo.yaml.
const (
	Listener           = "idem"          // where callers come in
	ExecuteListener    = "idem-execute"  // where executions come in; internal, no port
	ExecuteCluster     = "idem-execute"  // leads to ExecuteListener
	LedgerCluster      = "ledgerd"       // ledgerd's data API
	LedgerAdminCluster = "ledgerd-admin" // ledgerd's admin API and console
	ToolCluster        = "tool"
)

// Settings are what may differ from the file. A zero member leaves what the file says. Addresses are ip:port.
type Settings struct {
	Listen      string // of listener idem
	Admin       string // of Envoy's own admin interface
	Ledger      string // cluster ledgerd
	LedgerAdmin string // cluster ledgerd-admin, and the Host that its routes send
	Tool        string // cluster tool
	Wasm        string // the compiled filter's file
	Plugin      []byte // the plugin configuration; the filter gets these very bytes
}

// Render reads the bootstrap configuration in a file and gives it as JSON (which Envoy reads from a file that ends in
// .json) with the settings put in. It reports every mistake at once.
func Render(file string, s Settings) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("envoy configuration: %w", err)
	}
	var doc node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("envoy configuration %s: %w", file, err)
	}
	e := editor{doc: doc}
	e.admin(s.Admin)
	e.listener(Listener, s.Listen)
	e.endpoint(ToolCluster, s.Tool)
	e.endpoint(LedgerCluster, s.Ledger)
	e.endpoint(LedgerAdminCluster, s.LedgerAdmin)
	e.wasm(s.Wasm, s.Plugin)
	if err := errors.Join(e.mistakes...); err != nil {
		return nil, fmt.Errorf("envoy configuration %s: %w", file, err)
	}
	return json.MarshalIndent(doc, "", "  ")
}

// node is an object of the configuration.
type node = map[string]any

// editor changes a configuration in place and collects what went wrong.
type editor struct {
	doc      node
	mistakes []error
}

func (e *editor) fail(format string, args ...any) {
	e.mistakes = append(e.mistakes, fmt.Errorf(format, args...))
}

func (e *editor) admin(address string) {
	if address == "" {
		return
	}
	admin, ok := e.doc["admin"].(node)
	if !ok {
		e.fail("there is no admin to move to %s", address)
		return
	}
	admin["address"] = e.socketAddress("admin", address)
}

func (e *editor) listener(name, address string) {
	if address == "" {
		return
	}
	if l := e.resource("listeners", name); l != nil {
		l["address"] = e.socketAddress("listener "+name, address)
	}
}

func (e *editor) endpoint(cluster, address string) {
	if address == "" {
		return
	}
	c := e.resource("clusters", cluster)
	if c == nil {
		return
	}
	c["load_assignment"] = node{
		"cluster_name": cluster,
		"endpoints": []any{node{"lb_endpoints": []any{node{"endpoint": node{
			"address": e.socketAddress("cluster "+cluster, address),
		}}}}},
	}
}

func (e *editor) wasm(file string, plugin []byte) {
	found := false
	walk(e.doc, func(n node) {
		vm, ok := n["vm_config"].(node)
		if !ok {
			return
		}
		found = true
		if file != "" {
			vm["code"] = node{"local": node{"filename": file}}
		}
		// The filter that looks on in the execution listener has no configuration.
		if _, guards := n["configuration"]; guards && plugin != nil {
			n["configuration"] = node{
				"@type": "type.googleapis.com/google.protobuf.StringValue",
				"value": string(plugin),
			}
		}
	})
	if !found && (file != "" || plugin != nil) {
		e.fail("there is no filter with a vm_config: want the wasm filter idem")
	}
}

// resource finds a static resource of a kind by its name; nil: there is none, which is a mistake.
func (e *editor) resource(kind, name string) node {
	static, _ := e.doc["static_resources"].(node)
	list, _ := static[kind].([]any)
	for _, item := range list {
		if n, ok := item.(node); ok && n["name"] == name {
			return n
		}
	}
	e.fail("static_resources.%s: there is none named %q", kind, name)
	return nil
}

func (e *editor) socketAddress(of, address string) node {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		e.fail("%s: address %q: want ip:port, like 127.0.0.1:10000", of, address)
	}
	return node{"socket_address": node{"address": ap.Addr().String(), "port_value": ap.Port()}}
}

// walk visits every object of a configuration, outer ones first.
func walk(v any, visit func(node)) {
	switch v := v.(type) {
	case node:
		visit(v)
		for _, member := range v {
			walk(member, visit)
		}
	case []any:
		for _, item := range v {
			walk(item, visit)
		}
	}
}

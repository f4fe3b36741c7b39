package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"idem/envoy"
)

// check looks before anything is started at what would stop the demo halfway: programs that are not there, addresses
// that are taken. It reports all of them.
func (s settings) check() error {
	var wrong []error
	for _, f := range []struct{ flag, path, remedy string }{
		{"config", s.config, "run the demo from the repository's root"},
		{"wasm", s.wasm, "`make build` makes it"},
		{"ledgerd", s.ledgerd, "`make build` makes it"},
		{"envoy", s.envoy, "`make tools` fetches it"},
	} {
		if _, err := os.Stat(f.path); err != nil {
			wrong = append(wrong, fmt.Errorf("--%s %s: there is no such file (%s)", f.flag, f.path, f.remedy))
		}
	}
	for _, a := range []struct{ flag, address, who string }{
		{"listen", s.listen, "Envoy"}, {"envoy-admin", s.envoyAdmin, "Envoy's admin interface"},
		{"ledgerd-listen", s.data, "ledgerd's data API"}, {"ledgerd-admin", s.admin, "ledgerd's admin API"},
		{"tool", s.tool, "the tool"},
	} {
		l, err := net.Listen("tcp", a.address)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s cannot listen on %s: %w (choose another address: make demo DEMO_ARGS='--%s %s')", a.who, a.address, err, a.flag, nextTo(a.address)))
			continue
		}
		if at, ok := l.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
			wrong = append(wrong, fmt.Errorf("--%s %s is not a loopback address: the demo lets everyone who reaches it answer holds", a.flag, a.address))
		}
		l.Close()
	}
	return errors.Join(wrong...)
}

// nextTo gives an address to try instead of one that is taken: the next port.
func nextTo(address string) string {
	host, port, err := net.SplitHostPort(address)
	n, wrong := strconv.Atoi(port)
	if err != nil || wrong != nil || n < 1 || n >= 65535 {
		return "127.0.0.1:…"
	}
	return net.JoinHostPort(host, strconv.Itoa(n+1))
}

// files are what the programs are given to read.
type files struct {
	envoy, plugin string // Envoy's configuration and, out of it, the filter's
}

// prepare writes the configurations for this demo's addresses.
func prepare(s settings, dir string) (files, error) {
	wasm, err := filepath.Abs(s.wasm)
	if err != nil {
		return files{}, err
	}
	config, err := envoy.Render(s.config, envoy.Settings{
		Listen: s.listen, Admin: s.envoyAdmin, Ledger: s.data, LedgerAdmin: s.admin, Tool: s.tool, Wasm: wasm,
	})
	if err != nil {
		return files{}, err
	}
	plugin, err := pluginIn(config)
	if err != nil {
		return files{}, fmt.Errorf("%s: %w", s.config, err)
	}
	f := files{envoy: filepath.Join(dir, "envoy.json"), plugin: filepath.Join(dir, "plugin.json")}
	return f, errors.Join(os.WriteFile(f.envoy, config, 0o600), os.WriteFile(f.plugin, plugin, 0o600))
}

// pluginIn finds the filter's configuration in Envoy's, so that the console explains calls by the very same rules.
func pluginIn(config []byte) ([]byte, error) {
	var doc any
	if err := json.Unmarshal(config, &doc); err != nil {
		return nil, err
	}
	var found []byte
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if c, ok := v["configuration"].(map[string]any); ok && v["vm_config"] != nil {
				if text, ok := c["value"].(string); ok {
					found = []byte(text)
				} else if text, err := json.Marshal(c["value"]); err == nil && c["value"] != nil {
					found = text
				}
			}
			for _, inner := range v {
				visit(inner)
			}
		case []any:
			for _, inner := range v {
				visit(inner)
			}
		}
	}
	visit(doc)
	if found == nil {
		return nil, errors.New("there is no wasm filter with a configuration in it")
	}
	return found, nil
}

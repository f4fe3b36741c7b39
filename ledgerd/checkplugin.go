package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"idem/filter/policy"
)

// pluginConfig is a plugin configuration as a file has it.
type pluginConfig struct {
	*policy.Config
	written writtenConfig
	unset   []string // variables that it names and that are not set here
}

// stand-in for a secret that is not set here: long enough for every check, known to everyone.
const standIn = "0000000000000000000000000000000000000000000000000000000000000000"

// readPluginConfig reads the plugin configuration in a file: JSON as the filter gets it, the same as YAML, or a whole
// Envoy configuration with the filter in it. Its secrets come from this environment; where one is not set here a
// stand-in serves, for the file can be right without them. key, where there is one, is the fingerprint key.
func readPluginConfig(text []byte, environ []string, key string) (*pluginConfig, error) {
	document, err := pluginDocument(text)
	if err != nil {
		return nil, err
	}
	c := &pluginConfig{written: readWritten(document)}
	c.Config, err = policy.Parse(document, func(name string) string {
		if key != "" && name == c.written.Fingerprint.KeyEnv {
			return key
		}
		for _, pair := range environ {
			if value, found := strings.CutPrefix(pair, name+"="); found && value != "" {
				return value
			}
		}
		if !slices.Contains(c.unset, name) {
			c.unset = append(c.unset, name)
		}
		return standIn
	})
	return c, err
}

// pluginDocument gives the configuration's JSON. JSON is taken as it is, so that mistakes are named where they stand.
func pluginDocument(text []byte) ([]byte, error) {
	var doc any
	if err := yaml.Load(text, &doc); err != nil {
		if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
			return text, nil // policy.Parse says what is wrong with it as JSON
		}
		return nil, fmt.Errorf("neither JSON nor YAML: %w", err)
	}
	top, _ := doc.(map[string]any)
	_, isBootstrap := top["static_resources"]
	_, isDump := top["configs"]
	if !isBootstrap && !isDump {
		// What begins like JSON is JSON to the filter, which takes no trailing comma and no bare name, as YAML does.
		if json.Valid(text) || bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
			return text, nil
		}
		return json.Marshal(doc)
	}
	found := embedded(doc)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, errors.New("this Envoy configuration has no wasm filter with a configuration")
	default:
		return nil, fmt.Errorf("this Envoy configuration has %d wasm filters with a configuration: give the one to look at as a file of its own", len(found))
	}
}

// embedded finds the configurations of wasm filters in an Envoy configuration.
func embedded(doc any) (found [][]byte) {
	switch v := doc.(type) {
	case map[string]any:
		if _, isPlugin := v["vm_config"]; isPlugin {
			if c, ok := v["configuration"].(map[string]any); ok {
				if text, ok := configurationText(c["value"]); ok {
					return [][]byte{text}
				}
			}
		}
		for _, name := range sortedKeys(v) {
			found = append(found, embedded(v[name])...)
		}
	case []any:
		for _, item := range v {
			found = append(found, embedded(item)...)
		}
	}
	return found
}

// configurationText reads a google.protobuf.Struct or StringValue.
func configurationText(value any) ([]byte, bool) {
	switch v := value.(type) {
	case string:
		return []byte(v), true
	case map[string]any:
		text, err := json.Marshal(v)
		return text, err == nil
	}
	return nil, false
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"

	"idem/filter/policy"
)

// pluginConfig is a plugin configuration as a file has it.
type pluginConfig struct {
	*policy.Config
	written writtenConfig
	unset   []string // variables that it names and that are not set here
	envoy   envoyDocument
}

// stand-in for a secret that is not set here: long enough for every check, known to everyone.
const standIn = "0000000000000000000000000000000000000000000000000000000000000000"

// pluginFile is what a file says: the plugin configuration, and the Envoy configuration that it stands in, if it does.
type pluginFile struct {
	document []byte // the plugin configuration's JSON
	written  any    // it as it is on paper, where Envoy reads it out of YAML
	envoy    envoyDocument
}

// readPluginConfig reads the plugin configuration in a file: JSON as the filter gets it, the same as YAML, or a whole
// Envoy configuration with the filter in it. Its secrets come from this environment; where one is not set here a
// stand-in serves, for the file can be right without them. key, where there is one, is the fingerprint key.
func readPluginConfig(text []byte, environ []string, key string) (*pluginConfig, error) {
	file, err := readPluginFile(text)
	if err != nil {
		return nil, err
	}
	c, err := parsePlugin(file.document, environ, key)
	c.envoy = file.envoy
	var mistakes *policy.Error
	if errors.As(err, &mistakes) {
		for i := range mistakes.Mistakes {
			m := &mistakes.Mistakes[i]
			var read any
			_ = json.Unmarshal(file.document, &read) // where it is none, nothing is found in it
			if remedy := unquoted(at(read, m.Pointer), at(file.written, m.Pointer)); remedy != "" {
				m.Detail += "; " + remedy
			}
		}
	}
	return c, err
}

// parsePlugin reads a plugin configuration's JSON.
func parsePlugin(document []byte, environ []string, key string) (*pluginConfig, error) {
	c := &pluginConfig{written: readWritten(document)}
	var err error
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

// readPluginFile finds the configuration in a file. JSON is taken as it is, so that mistakes are named where they stand.
func readPluginFile(text []byte) (f pluginFile, err error) {
	likeJSON := bytes.HasPrefix(bytes.TrimSpace(text), []byte("{"))
	var doc any
	if err := yaml.Load(text, &doc); err != nil {
		if likeJSON {
			return pluginFile{document: text}, nil // policy.Parse says what is wrong with it as JSON
		}
		return f, fmt.Errorf("neither JSON nor YAML: %w", err)
	}
	f.envoy.read = doc
	if !json.Valid(text) {
		if f.envoy, err = readEnvoyYAML(text); err != nil {
			return f, err
		}
	}
	top, _ := doc.(map[string]any)
	isBootstrap := top["static_resources"] != nil || top["staticResources"] != nil
	_, isDump := top["configs"]
	if !isBootstrap && !isDump {
		// What begins like JSON is JSON to the filter, which takes no trailing comma and no bare name, as YAML does.
		if likeJSON || json.Valid(text) {
			return pluginFile{document: text}, nil
		}
		f.document, err = json.Marshal(f.envoy.read)
		f.written, f.envoy = f.envoy.written, envoyDocument{}
		return f, err
	}
	f.envoy.read, f.envoy.written = spelledAsDumped(f.envoy.read), spelledAsDumped(f.envoy.written)
	found, written := embedded(f.envoy.read), embedded(f.envoy.written)
	switch len(found) {
	case 1:
		if len(written) == 1 {
			f.written = written[0]
		}
		f.document, err = configurationText(found[0])
		return f, err
	case 0:
		return f, errors.New("this Envoy configuration has no wasm filter with a configuration")
	default:
		return f, fmt.Errorf("this Envoy configuration has %d wasm filters with a configuration: give the one to look at as a file of its own", len(found))
	}
}

// embedded finds the configurations of wasm filters in an Envoy configuration: each a google.protobuf.Struct's members,
// or a StringValue's text. Where some are Idem's, others do not count; one that several listeners have counts once.
func embedded(doc any) (found []any) {
	plugins := findObjects(doc, func(o object) bool {
		value := inner(o, "configuration")["value"]
		_, isText := value.(string)
		_, isStruct := value.(object)
		_, isPlugin := o["vm_config"]
		return isPlugin && (isText || isStruct)
	})
	if slices.ContainsFunc(plugins, isIdem) {
		plugins = slices.DeleteFunc(plugins, func(o object) bool { return !isIdem(o) })
	}
	seen := map[string]bool{}
	for _, plugin := range plugins {
		value := inner(plugin, "configuration")["value"]
		if text := shownWhole(value); !seen[text] {
			seen[text] = true
			found = append(found, value)
		}
	}
	return found
}

func configurationText(value any) ([]byte, error) {
	if text, is := value.(string); is {
		return []byte(text), nil
	}
	return json.Marshal(value)
}

// at gives the value that a pointer (RFC 6901) leads to; nil: none.
func at(doc any, pointer string) any {
	for token := range jsontext.Pointer(pointer).Tokens() {
		switch v := doc.(type) {
		case object:
			doc = v[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			doc = v[i]
		default:
			return nil
		}
	}
	return doc
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

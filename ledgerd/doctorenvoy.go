package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// object is a message of Envoy's configuration as its admin interface writes it in JSON.
type object = map[string]any

// fetchDump reads the configuration that an Envoy runs with.
func fetchDump(ctx context.Context, admin string, timeout time.Duration) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(admin, "/")+"/config_dump?include_eds", nil)
	if err != nil {
		return nil, fmt.Errorf("--envoy-admin %q: %w", admin, err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, fmt.Errorf("admin interface of Envoy at %s cannot be reached: %w", admin, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s/config_dump answered %s: is it Envoy's admin interface?", admin, response.Status)
	}
	const most = 256 << 20
	var dump any
	if err := json.NewDecoder(io.LimitReader(response.Body, most)).Decode(&dump); err != nil {
		return nil, fmt.Errorf("%s/config_dump: %w", admin, err)
	}
	return dump, nil
}

// examineEnvoy judges a config dump: each wasm filter that is Idem's, and the route that its executions take.
func examineEnvoy(dump any) []finding {
	plugins := findObjects(dump, isIdem)
	if len(plugins) == 0 {
		return []finding{{fail, "envoy", "no wasm filter with Idem's configuration is running here"}}
	}
	var found []finding
	seen := map[string]bool{}
	for _, p := range plugins {
		found = append(found, examinePlugin(p)...)
		cluster := text(pluginOf(p), "execute", "cluster")
		if !seen[cluster] {
			seen[cluster] = true
			found = append(found, examineExecution(dump, cluster)...)
		}
	}
	return unique(append(found, examineRules(dump, plugins)...))
}

func isIdem(o object) bool {
	_, isPlugin := o["vm_config"]
	return isPlugin && pluginOf(o) != nil
}

// unique drops what was found before: a dump shows a static listener twice.
func unique(found []finding) (once []finding) {
	for _, f := range found {
		if !slices.Contains(once, f) {
			once = append(once, f)
		}
	}
	return once
}

// pluginOf gives Idem's configuration out of a wasm plugin's; nil where it is another plugin's.
func pluginOf(plugin object) object {
	c, _ := plugin["configuration"].(object)
	var config object
	switch v := c["value"].(type) {
	case object:
		config = v
	case string:
		if json.Unmarshal([]byte(v), &config) != nil {
			return nil
		}
	}
	if config["execute"] == nil || config["calls"] == nil {
		return nil
	}
	return config
}

func examinePlugin(p object) []finding {
	var found []finding
	if policy := text(p, "failure_policy"); policy == "FAIL_RELOAD" {
		found = append(found, finding{well, "failure policy", policy})
	} else {
		found = append(found, finding{fail, "failure policy", fmt.Sprintf("failure_policy is %q: want FAIL_RELOAD. With FAIL_OPEN calls pass unguarded once the filter has failed, with FAIL_CLOSED the worker never answers again", orWord(policy, "not set"))})
	}
	if allowed, _ := p["allow_on_headers_stop_iteration"].(bool); allowed {
		found = append(found, finding{well, "parking", "allow_on_headers_stop_iteration"})
	} else {
		found = append(found, finding{fail, "parking", "allow_on_headers_stop_iteration is not true: a parked request would run on to the tool"})
	}
	if text(pluginOf(p), "fingerprint", "key_env") == "" {
		found = append(found, finding{warn, "fingerprint key", "there is no fingerprint.key_env: who sees a fingerprint can guess what was called"})
	}
	return found
}

// findObjects gives the objects of a document that a question is true of, outermost first.
func findObjects(doc any, is func(object) bool) (found []object) {
	switch v := doc.(type) {
	case object:
		if is(v) {
			return []object{v}
		}
		for _, name := range sortedKeys(v) {
			found = append(found, findObjects(v[name], is)...)
		}
	case []any:
		for _, item := range v {
			found = append(found, findObjects(item, is)...)
		}
	}
	return found
}

// text gives the string at a path of names; empty where there is none.
func text(o object, path ...string) string {
	for _, name := range path[:len(path)-1] {
		o, _ = o[name].(object)
	}
	s, _ := o[path[len(path)-1]].(string)
	return s
}

package main

import (
	"fmt"
	"strings"

	"idem/canon"
	"idem/filter/policy"
)

// looksOn is the root id of the filter where it stands in the execution listener and looks on.
const looksOn = "idem-executions"

// unwatched names the rules for MCP servers whose event streams are in doubt once their connection breaks, for want of
// the filter in the execution listener. Where that listener is not known, it says nothing.
func unwatched(doc any, config *policy.Config) (warnings []string) {
	var rules []string
	for _, rule := range config.Calls {
		if rule.Protocol == canon.MCP && rule.Mode == policy.Enforce && !rule.Inline {
			rules = append(rules, rule.Name)
		}
	}
	c := named(doc, config.Execute.Cluster, "load_assignment", "type", "connect_timeout", "cluster_type")
	if len(rules) == 0 || c == nil {
		return nil
	}
	listener, _ := targetListener(doc, c)
	if listener == nil || switchedOn(doc, listener) {
		return nil
	}
	return []string{fmt.Sprintf("the filter does not look on in the listener behind cluster %s: an MCP server's event stream whose connection breaks, or that stays open after the response, is in doubt (rules: %s). Put %s there and switch it on, as in envoy/demo.yaml",
		config.Execute.Cluster, strings.Join(rules, ", "), looksOn)}
}

// switchedOn says whether the filter looks on in a listener: everywhere, or on some route.
func switchedOn(doc any, listener object) bool {
	filters := findObjects(listener, func(o object) bool {
		config, _ := o["typed_config"].(object)
		return text(config, "config", "root_id") == looksOn
	})
	for _, f := range filters {
		if off, _ := f["disabled"].(bool); !off || len(findObjects(doc, func(o object) bool {
			routes, _ := o["typed_per_filter_config"].(object)
			return routes[text(f, "name")] != nil
		})) > 0 {
			return true
		}
	}
	return false
}

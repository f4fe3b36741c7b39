package main

import (
	"strings"
)

// examineRules reads the configuration of each of Idem's filters as the filter does, and judges by it what routes say.
// Where filters differ, each judges the routes of its own connection manager.
func examineRules(dump any, plugins []object) (found []finding) {
	configs := map[string]*pluginConfig{}
	for _, p := range plugins {
		document, err := documentOf(p)
		if err != nil || configs[string(document)] != nil {
			continue
		}
		config, err := parsePlugin(document, nil, "")
		if err != nil {
			found = append(found, finding{fail, "rules", strings.ReplaceAll(err.Error(), "\n", "; ")})
			continue
		}
		configs[string(document)] = config
	}
	for _, document := range sortedKeys(configs) {
		where := dump
		if len(configs) > 1 {
			where = routesUnder(dump, document)
		}
		for _, text := range append(unrouted(dump, configs[document].Config), unwatched(dump, configs[document].Config)...) {
			found = append(found, finding{warn, "execution routes", text})
		}
		wrong := routeMistakes(sayings(envoyDocument{read: where}), configs[document].Config)
		for _, text := range wrong {
			found = append(found, finding{fail, "routes", text + ". Calls on it are answered with 500 misconfigured"})
		}
		if len(wrong) == 0 {
			found = append(found, finding{well, "routes", "the rules and modes that they name are there"})
		}
	}
	return found
}

// documentOf gives the JSON of Idem's configuration in a wasm plugin's.
func documentOf(plugin object) ([]byte, error) {
	c, _ := plugin["configuration"].(object)
	return configurationText(c["value"])
}

// routesUnder gives the route configurations of the connection managers whose filter has a configuration.
func routesUnder(dump any, document string) (routes []any) {
	for _, m := range findObjects(dump, isManager) {
		for _, p := range findObjects(m, isIdem) {
			if own, err := documentOf(p); err == nil && string(own) == document {
				routes = append(routes, routesOf(dump, m))
			}
		}
	}
	return routes
}

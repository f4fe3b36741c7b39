package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"idem/filter/policy"
)

// An Envoy's configuration is judged by the one examination below, whether `check` reads it in a file or `doctor` gets it
// from a running Envoy. It judges what it sees; of what comes from elsewhere and is not there it says so, and no more.

// examination looks at an Envoy's configuration for one of Idem's plugin configurations in it.
type examination struct {
	parts      *envoyParts
	config     *policy.Config
	written    writtenConfig
	guards     []*guard   // where callers come in
	executions []*manager // where executions come in

	guardedCalls []guardedCall
	found        []finding
}

// guard is a connection manager that Idem's filter stands in.
type guard struct {
	*manager
	filters []httpFilter
	at      int // of Idem's among them
}

func (g *guard) idem() httpFilter { return g.filters[g.at] }

// examineEnvoy judges an Envoy's configuration.
func examineEnvoy(doc envoyDocument) []finding {
	doc.read, doc.written = spelledAsDumped(doc.read), spelledAsDumped(doc.written)
	plugins := findObjects(doc.read, isIdem)
	if len(plugins) == 0 {
		return []finding{{fail, "envoy", "no wasm filter with Idem's configuration is running here"}}
	}
	parts := partsOf(doc.read)
	byDocument := map[string]*examination{}
	var found []finding
	for _, p := range plugins {
		document, err := documentOf(p)
		if err != nil || byDocument[string(document)] != nil {
			continue
		}
		config, err := parsePlugin(document, nil, "")
		if err != nil {
			found = append(found, finding{fail, "rules", strings.ReplaceAll(err.Error(), "\n", "; ")})
			byDocument[string(document)] = &examination{}
			continue
		}
		byDocument[string(document)] = &examination{parts: parts, config: config.Config, written: config.written}
	}
	guards := parts.guards()
	if len(guards) == 0 {
		found = append(found, finding{warn, "envoy", "not seen: a listener with Idem's filter. Its filters come from elsewhere, or it guards nothing"})
	}
	for _, document := range sortedKeys(byDocument) {
		x := byDocument[document]
		for _, g := range guards {
			if own, err := documentOf(g.idem().plugin()); err == nil && string(own) == document {
				x.guards = append(x.guards, g)
			}
		}
		for _, p := range plugins {
			if own, err := documentOf(p); err == nil && string(own) == document {
				x.plugin(p)
			}
		}
		if x.config != nil {
			x.all(doc, len(byDocument) > 1)
		}
		found = append(found, x.found...)
	}
	return unique(found)
}

// guards gives the connection managers that Idem's filter stands in.
func (p *envoyParts) guards() (found []*guard) {
	for _, m := range p.managers() {
		filters := p.httpFilters(m)
		for i, f := range filters {
			if f.plugin() != nil {
				found = append(found, &guard{m, filters, i})
			}
		}
	}
	return found
}

// all asks every question but those of the plugin itself. several: there are other plugin configurations too.
func (x *examination) all(doc envoyDocument, several bool) {
	x.execution()
	for _, g := range x.guards {
		x.place(g)
		x.paths(g)
		x.callersHeaders(g)
	}
	x.calls()
	x.innerWay()
	x.wayRound()
	x.unrouted()
	said := doc
	if several {
		var own []any
		for _, g := range x.guards {
			own = append(own, g.routes)
		}
		said = envoyDocument{read: own}
	}
	x.question("routes", "the rules and modes that they name are there", func() {
		for _, text := range routeMistakes(sayings(said), x.config) {
			x.found = append(x.found, finding{fail, "routes", text + ". Calls on it are answered with 500 misconfigured"})
		}
	})
}

// say adds a finding at a place of the configuration.
func (x *examination) say(g grade, what, place, format string, args ...any) {
	x.found = append(x.found, finding{g, what, place + ": " + fmt.Sprintf(format, args...)})
}

// question asks one thing, and says that it is well where nothing was found.
func (x *examination) question(what, fine string, ask func()) {
	before := len(x.found)
	ask()
	for _, f := range x.found[before:] {
		if f.What == what {
			return
		}
	}
	x.found = append(x.found, finding{well, what, fine})
}

// isIdem says whether an object is the wasm plugin that guards.
func isIdem(o object) bool {
	_, isPlugin := o["vm_config"]
	return isPlugin && pluginOf(o) != nil
}

// pluginOf gives Idem's configuration out of a wasm plugin's; nil where it is another plugin's.
func pluginOf(plugin object) object {
	var config object
	switch v := inner(plugin, "configuration")["value"].(type) {
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

// documentOf gives the JSON of Idem's configuration in a wasm plugin's.
func documentOf(plugin object) ([]byte, error) {
	return configurationText(inner(plugin, "configuration")["value"])
}

// unique drops what was found before: a dump shows a static listener twice.
func unique(found []finding) (once []finding) {
	seen := map[finding]bool{}
	for _, f := range found {
		if !seen[f] {
			seen[f] = true
			once = append(once, f)
		}
	}
	return once
}

// shown is a value of a configuration as a person would write it, shortened.
func shown(value any) string {
	if value == nil {
		return "not set"
	}
	text := shownWhole(value)
	const most = 120
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// shownWhole is a value in a form that can be compared.
func shownWhole(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

package main

import (
	"fmt"

	"go.yaml.in/yaml/v4"

	"idem/filter/policy"
)

// routeMistakes judges what the routes of an Envoy configuration say for Idem in their metadata, as the filter does at
// each call. A file that is no Envoy configuration has no routes.
func routeMistakes(text []byte, config *policy.Config) (mistakes []string) {
	var doc any
	if yaml.Load(text, &doc) != nil {
		return nil
	}
	routes := findObjects(doc, func(o object) bool { return o["match"] != nil && o["metadata"] != nil })
	for _, route := range routes {
		metadata, _ := route["metadata"].(object)
		filters, _ := metadata["filter_metadata"].(object)
		said, there := filters["idem"]
		if !there {
			continue
		}
		where := "route " + routeName(route)
		members, ok := said.(object)
		if !ok {
			mistakes = append(mistakes, where+": metadata.filter_metadata.idem is no object; use rule and mode in it")
			continue
		}
		for _, name := range sortedKeys(members) {
			value, isText := members[name].(string)
			if !isText {
				value = "\x00" // what is no text is no rule's name and no mode
			}
			if _, mistake := config.Route([][2]string{{name, value}}); mistake != nil {
				mistakes = append(mistakes, where+": metadata.filter_metadata.idem"+mistake.String())
			}
		}
	}
	return mistakes
}

// routeName is what people call a route: its name, else its match.
func routeName(route object) string {
	if name := text(route, "name"); name != "" {
		return fmt.Sprintf("%q", name)
	}
	match, _ := route["match"].(object)
	for _, kind := range []string{"path", "prefix", "path_separated_prefix"} {
		if at := text(match, kind); at != "" {
			return kind + " " + at
		}
	}
	return fmt.Sprint(match)
}

package main

import (
	"fmt"

	"idem/filter/policy"
)

// saying is a route that says something to Idem in its metadata.
type saying struct {
	route string // what people call it
	said  any    // metadata.filter_metadata.idem
	paper any    // the same as it is written; nil where that makes no difference
}

// sayings finds the routes of an Envoy configuration that say something to Idem.
func sayings(doc envoyDocument) (found []saying) {
	isRoute := func(o object) bool { return o["match"] != nil && o["metadata"] != nil }
	papers := findObjects(doc.written, isRoute)
	for i, route := range findObjects(doc.read, isRoute) {
		s := saying{route: "route " + routeName(route)}
		var there bool
		if s.said, there = idemMetadata(route); !there {
			continue
		}
		if i < len(papers) {
			s.paper, _ = idemMetadata(papers[i])
		}
		found = append(found, s)
	}
	return found
}

func idemMetadata(route object) (said any, there bool) {
	metadata, _ := route["metadata"].(object)
	filters, _ := metadata["filter_metadata"].(object)
	said, there = filters["idem"]
	return said, there
}

// routeMistakes judges what routes say, as the filter does at each call.
func routeMistakes(routes []saying, config *policy.Config) (mistakes []string) {
	for _, r := range routes {
		members, ok := r.said.(object)
		if !ok {
			mistakes = append(mistakes, r.route+": metadata.filter_metadata.idem is no object; use rule and mode in it")
			continue
		}
		paper, _ := r.paper.(object)
		for _, name := range sortedKeys(members) {
			value, isText := members[name].(string)
			if !isText {
				value = "\x00" // what is no text is no rule's name and no mode
			}
			_, mistake := config.Route([][2]string{{name, value}})
			if mistake == nil {
				continue
			}
			if remedy := unquoted(members[name], paper[name]); remedy != "" {
				mistake.Detail += "; " + remedy
			}
			mistakes = append(mistakes, r.route+": metadata.filter_metadata.idem"+mistake.String())
		}
	}
	return mistakes
}

// routeRows are what routes say, for a table.
func routeRows(routes []saying) [][]string {
	rows := [][]string{{"ROUTE", "RULE", "MODE"}}
	for _, r := range routes {
		members, _ := r.said.(object)
		rows = append(rows, []string{r.route, orWord(text(members, "rule"), "by its match"), orWord(text(members, "mode"), "the rule's")})
	}
	return rows
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

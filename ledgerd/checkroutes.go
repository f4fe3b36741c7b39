package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

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
			_, mistake := config.Route([][2]string{{name, asGiven(members[name])}})
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

// asGiven is a value as Envoy gives it to the filter: a text as it is, a number as the eight bytes of a double, a truth
// value as one byte, anything else as bytes that are no text.
func asGiven(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case bool:
		if v {
			return "\x01"
		}
		return "\x00"
	case json.Number:
		if number, err := v.Float64(); err == nil {
			return string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(number)))
		}
	case float64:
		return string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
	}
	return "\x00\x00"
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

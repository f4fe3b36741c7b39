package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// envoyDocument is a YAML document as Envoy reads it, which is not as most YAML is read today: without quotes off is
// false, 017 is 15 and 1.5 is a text. Measured on Envoy 1.40 (yaml-cpp, and what Envoy makes of its scalars).
type envoyDocument struct {
	read    any // what Envoy gets
	written any // the same, with every scalar but null as its text
}

// readEnvoyYAML reads a document that is known to be YAML.
func readEnvoyYAML(text []byte) (d envoyDocument, err error) {
	var root yaml.Node
	if err := yaml.Load(text, &root); err != nil {
		return d, err
	}
	if d.read, err = fromNode(&root, asEnvoy); err == nil {
		d.written, err = fromNode(&root, func(n *yaml.Node) any { return n.Value })
	}
	return d, err
}

// fromNode makes values of a node, its scalars by a function. A scalar that is null is so for everyone.
func fromNode(n *yaml.Node, scalar func(*yaml.Node) any) (any, error) {
	switch n.Kind {
	case yaml.DocumentNode:
		return fromNode(n.Content[0], scalar)
	case yaml.AliasNode:
		return fromNode(n.Alias, scalar)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			var err error
			if list[i], err = fromNode(item, scalar); err != nil {
				return nil, err
			}
		}
		return list, nil
	case yaml.MappingNode:
		return fromMapping(n, scalar)
	}
	if plain(n) && slices.Contains([]string{"", "~", "null", "Null", "NULL"}, n.Value) {
		return nil, nil
	}
	return scalar(n), nil
}

// fromMapping takes keys as they are written, whatever they look like, and leaves out those with Envoy's own !ignore.
func fromMapping(n *yaml.Node, scalar func(*yaml.Node) any) (any, error) {
	o := object{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Tag == "!ignore":
			continue
		case key.Value == "<<" && plain(key):
			return nil, fmt.Errorf("line %d: Envoy takes no merge key (<<); write the members out, or use an alias for the whole value", key.Line)
		}
		v, err := fromNode(value, scalar)
		if err != nil {
			return nil, err
		}
		o[key.Value] = v
	}
	return o, nil
}

func plain(n *yaml.Node) bool {
	return n.Tag != "!" && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
}

// asEnvoy gives a scalar's value: a boolean, a number of 32 bits, or a text.
func asEnvoy(n *yaml.Node) any {
	if !plain(n) {
		return n.Value
	}
	if v, is := envoyBool(n.Value); is {
		return v
	}
	if i, err := strconv.ParseInt(n.Value, 0, 64); err == nil && !strings.ContainsAny(n.Value, "_bBoO") && i >= math.MinInt32 && i <= math.MaxInt32 {
		return float64(i)
	}
	return n.Value
}

// envoyBool reads a boolean of YAML 1.1, which is one in lower case, in capitals, and with a capital at its beginning.
func envoyBool(word string) (value, is bool) {
	small := strings.ToLower(word)
	if word != small && word != strings.ToUpper(word) && word != strings.ToUpper(small[:1])+small[1:] {
		return false, false
	}
	switch small {
	case "y", "yes", "true", "on":
		return true, true
	case "n", "no", "false", "off":
		return false, true
	}
	return false, false
}

// unquoted says what is to be done about a value that is a word on paper and something else for Envoy; empty: nothing, or
// the paper is not there, as with what runs.
func unquoted(read, written any) string {
	word, known := written.(string)
	if v, is := read.(bool); is && known && !strings.EqualFold(word, strconv.FormatBool(v)) {
		return fmt.Sprintf("without quotes Envoy reads %s as %t; write %q", word, v, word)
	}
	return ""
}

package main

import (
	"strings"
	"unicode"
)

// spelledAsDumped gives a document with each field's name as a dump writes it. protobuf's JSON takes retryPolicy for
// retry_policy, and a TypedStruct for the message that it holds; what follows must miss neither. What is not protobuf's
// (metadata, the plugin configuration) stays as it is.
func spelledAsDumped(doc any) any {
	switch v := doc.(type) {
	case []any:
		items := make([]any, len(v))
		for i := range v {
			items[i] = spelledAsDumped(v[i])
		}
		return items
	case object:
		if isFreeForm(v) {
			return v
		}
		o := make(object, len(v))
		for name, member := range v {
			switch name = snake(name); name {
			case "filter_metadata", "configuration":
				o[name] = member
			case "typed_per_filter_config", "typed_extension_protocol_options":
				o[name] = namesKept(member)
			default:
				o[name] = spelledAsDumped(member)
			}
		}
		if held := inner(o, "value"); held != nil && strings.HasSuffix(text(o, "@type"), ".TypedStruct") {
			message := spelledAsDumped(held).(object)
			message["@type"] = text(o, "type_url")
			return message
		}
		return o
	}
	return doc
}

// namesKept is spelledAsDumped for a map, whose names are an operator's own.
func namesKept(member any) any {
	named, ok := member.(object)
	if !ok {
		return member
	}
	o := make(object, len(named))
	for name, value := range named {
		o[name] = spelledAsDumped(value)
	}
	return o
}

// isFreeForm says whether an object's names are not protobuf's.
func isFreeForm(o object) bool {
	return strings.HasSuffix(text(o, "@type"), "google.protobuf.Struct")
}

// snake is a name in lowerCamelCase as protobuf has it. Names that are something else stay: those of filters and clusters
// have points and dashes, if not always.
func snake(name string) string {
	if name == "" || !unicode.IsLower(rune(name[0])) || strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

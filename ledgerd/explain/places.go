package explain

import (
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"idem/canon"
)

// places says where in a call's body the two parts of its canonical form stand that are made of the body. So every
// pointer that people are shown is one into what they wrote.
type places struct{ args, beside string }

// placesOf finds them as package canon does (doc.go there: args are what the rule names, else /args where the body has
// it, else the whole body; of an MCP message params.arguments).
func placesOf(r Reader) places {
	switch {
	case r.Protocol == canon.MCP:
		return places{"/params/arguments", "/params"}
	case r.Args != "":
		return places{args: r.Args}
	case r.Protocol == canon.Form:
		if form, err := url.ParseQuery(r.Call.Body); err == nil && form.Has("args") {
			return places{args: "/args"}
		}
		return places{}
	}
	var top map[string]jsontext.Value
	if json.Unmarshal([]byte(r.Call.Body), &top) == nil && top["args"] != nil {
		return places{args: "/args"}
	}
	return places{}
}

// inBody turns a pointer into the canonical form into one into the body; what the body does not have, such as the
// endpoint, is a part with a name.
func (p places) inBody(canonical string) (pointer, part string) {
	for prefix, at := range map[string]string{"/args": p.args, "/beside": p.beside} {
		if rest, ok := strings.CutPrefix(canonical, prefix); ok && (rest == "" || rest[0] == '/') {
			return at + rest, ""
		}
	}
	return "", strings.TrimPrefix(canonical, "/")
}

// settingFor says which setting of the rule would make a field not count that has a volatile field's name and counts
// all the same; empty where no setting would.
func settingFor(s Step) string {
	if s.Rule != "volatile_kept" || strings.Contains(s.Why, "nothing would be left") {
		return ""
	}
	name := s.Pointer[strings.LastIndexByte(s.Pointer, '/')+1:]
	name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	drop := `"volatile": {"drop": [` + encode(name) + `]} leaves it out`
	if strings.EqualFold(strings.NewReplacer("_", "", "-", "").Replace(name), "runid") {
		return `"run": [{"header": "x-idem-run"}, {"pointer": ` + encode(s.Pointer) + `}] reads the run from it; ` + drop
	}
	return drop
}

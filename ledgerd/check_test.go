package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// What the pinned Envoy made of each scalar in a field for a text: --mode validate shows it in its refusal.
func TestScalarsOfAnEnvoyConfigurationAreReadAsEnvoyReadsThem(t *testing.T) {
	for want, words := range map[string]string{
		"true":  "y Y yes Yes YES on On ON true True TRUE",
		"false": "n N no No NO off Off OFF false False FALSE !!str~off !foo~off !!bool~off",
		"null":  "~ null Null NULL",
		"1":     "1 01 +1",
		"15":    "017",
		"31":    "0x1F 0X1F",
		"-31":   "-0x1F",
		"0":     "-0",
		"text": "yEs nO oN oFf tRue nUll 0o17 08 1.5 1e3 .5 5. .inf .nan 1_000 0b1 0x 2147483648 -2147483649 2001-01-01 60s " +
			"'off' \"off\" !~off \"1\"",
	} {
		for word := range strings.FieldsSeq(words) {
			word = strings.ReplaceAll(word, "!~", "! ")
			if strings.HasPrefix(word, "!") {
				word = strings.ReplaceAll(word, "~", " ")
			}
			doc, err := readEnvoyYAML([]byte("x: " + word + "\n"))
			if err != nil {
				t.Errorf("%s: %v", word, err)
				continue
			}
			value := doc.read.(object)["x"]
			got, _ := json.Marshal(value)
			if _, isText := value.(string); isText {
				got = []byte("text")
			}
			if string(got) != want {
				t.Errorf("%s is read as %s, Envoy reads it as %s", word, got, want)
			}
		}
	}
	doc, err := readEnvoyYAML([]byte("y: |-\n  off\n!ignore z: &z {no: 1}\na: *z\n"))
	if got, _ := json.Marshal(doc.read); err != nil || string(got) != `{"a":{"no":1},"y":"off"}` {
		t.Errorf("got %s and %v", got, err)
	}
}

// routedFile is the shipped Envoy configuration with one rule, as a Struct, and two routes more in both listeners, of
// which one has a metadata for Idem.
func routedFile(t *testing.T, rule, metadata string) string {
	t.Helper()
	shipped, err := os.ReadFile("../envoy/demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(shipped), "                configuration:\n")
	_, after, alsoOK := strings.Cut(rest, "          - name: envoy.filters.http.router\n")
	if !ok || !alsoOK {
		t.Fatal("the demo's configuration has no such part")
	}
	text := before + `                configuration:
                  "@type": type.googleapis.com/google.protobuf.Struct
                  value: {ledger: {cluster: ledgerd}, execute: {cluster: idem-execute}, calls: [` + rule + `]}
          - name: envoy.filters.http.router
` + after
	first, execution, _ := strings.Cut(text, "  - name: idem-execute\n    internal_listener: {}\n")
	const routes, more = "              routes:\n", `
              - {match: {prefix: /a}, route: {cluster: tool, timeout: 900s}}
              - {match: {prefix: /b}, route: {cluster: tool, timeout: 900s}`
	return file(t, "routed.yaml", strings.Replace(first, routes, routes+more+", metadata: {filter_metadata: {idem: "+metadata+"}}}\n", 1)+
		"  - name: idem-execute\n    internal_listener: {}\n"+strings.Replace(execution, routes, routes+more+"}\n", 1))
}

func TestCheckNamesTheQuotesThatEnvoyNeeds(t *testing.T) {
	pay := "{name: pay, match: {route: true}}"
	remedy := func(word, value string) string {
		return fmt.Sprintf("without quotes Envoy reads %s as %s; write %q", word, value, word)
	}
	command(t, "check", routedFile(t, pay, "{mode: off}")).wants(t, 1, "route prefix /b: metadata.filter_metadata.idem/mode", remedy("off", "false"))
	command(t, "check", routedFile(t, pay, "{rule: Yes}")).wants(t, 1, "idem/rule", remedy("Yes", "true"))
	command(t, "check", routedFile(t, pay, `{mode: "off"}`)).wants(t, 0, "prefix /b", "off")
	command(t, "check", routedFile(t, "{mode: off, name: pay, match: {route: true}}", "{rule: pay}")).wants(t, 1, "/calls/0/mode", remedy("off", "false"))
	command(t, "check", file(t, "plugin.yaml", "ledger: {cluster: l}\nexecute: {cluster: e}\ncalls:\n- mode: off\n  match: {path: /a}\n")).
		wants(t, 1, "/calls/0/mode", remedy("off", "false"))
	command(t, "check", routedFile(t, `{name: pay, near_duplicates: &n {window: 5s}, match: {route: true}}, {name: other, near_duplicates: {<<: *n}, match: {path: /x}}`, "{}")).
		wants(t, 1, "merge key")
	// JSON has quotes already, and so has a StringValue.
	text, err := os.ReadFile("../envoy/demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.Replace(string(text), `"reply": "envelope"`, `"mode": "off"`, 1)
	command(t, "check", file(t, "envoy.yaml", whole)).wants(t, 0, "invoke       off      POST")
}

func TestCheckListsTheRoutesThatNameARuleOrAMode(t *testing.T) {
	pay := "{name: pay, match: {route: true}}"
	command(t, "check", routedFile(t, pay, "{rule: pay, mode: shadow}")).wants(t, 0, "Routes that say", "prefix /b  pay   shadow")
	command(t, "check", routedFile(t, pay, "{mode: shadow}")).wants(t, 0, "prefix /b  by its match  shadow")
	if got := command(t, "check", "../envoy/demo.yaml"); strings.Contains(got.out, "Routes that say") {
		t.Errorf("no route says anything:\n%s", got.out)
	}
}

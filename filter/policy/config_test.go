package policy

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"idem/canon"
)

// environment is what getenv knows in these tests.
var environment = map[string]string{
	"TOKEN":     "t0k3n",
	"KEY":       "0123456789abcdef",
	"OLD_KEY":   "fedcba9876543210",
	"SHORT_KEY": "short",
	"LINE_END":  "t0k3n\n",
}

func getenv(name string) string { return environment[name] }

// with is a whole configuration: the members given (each `"name": value`), and the least of every required one that
// is not among them.
func with(members ...string) string {
	least := map[string]string{
		"ledger": `{"cluster": "l"}`, "execute": `{"cluster": "e"}`, "calls": `[{"match": {"path_prefix": "/tools/"}}]`,
	}
	for name, value := range least {
		given := false
		for _, m := range members {
			given = given || strings.HasPrefix(m, `"`+name+`"`)
		}
		if !given {
			members = append(members, `"`+name+`": `+value)
		}
	}
	return "{" + strings.Join(members, ", ") + "}"
}

func parse(t *testing.T, document string) *Config {
	t.Helper()
	c, err := Parse([]byte(document), getenv)
	if err != nil {
		t.Fatalf("%s\nis refused: %v", document, err)
	}
	return c
}

// mistakes gives what is wrong with a document, one line each.
func mistakes(t *testing.T, document string) []string {
	t.Helper()
	_, err := Parse([]byte(document), getenv)
	var refused *Error
	if err == nil {
		return nil
	}
	if !errors.As(err, &refused) {
		t.Fatalf("%s\nis refused with a %T: %v", document, err, err)
	}
	var lines []string
	for _, m := range refused.Mistakes {
		lines = append(lines, m.String())
	}
	return lines
}

// refusal is a document and everything that is wrong with it.
type refusal struct {
	document string
	want     []string
}

func checkRefusals(t *testing.T, cases []refusal) {
	t.Helper()
	for _, c := range cases {
		if got := mistakes(t, c.document); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s\nis refused with\n  %s\nwant\n  %s", c.document, strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
		}
	}
}

func TestTheSmallestConfigurationHasEveryDefault(t *testing.T) {
	c := parse(t, `{"ledger": {"cluster": "ledgerd"}, "execute": {"cluster": "idem-execute"},
		"calls": [{"match": {"path_prefix": "/tools/"}}]}`)
	if want := (Ledger{Cluster: "ledgerd", Timeout: 5 * time.Second, CommitTimeout: 5 * time.Second}); c.Ledger != want {
		t.Errorf("ledger %+v, want %+v", c.Ledger, want)
	}
	if c.Execute.Cluster != "idem-execute" {
		t.Errorf("execute %+v", c.Execute)
	}
	if c.Key.ID != "" || c.Key.Secret != nil || len(c.Previous) != 0 {
		t.Errorf("key %+v, previous %+v, want none", c.Key, c.Previous)
	}
	if len(c.Calls) != 1 {
		t.Fatalf("%d rules", len(c.Calls))
	}
}

func TestEverySettingOutsideOfRulesIsRead(t *testing.T) {
	c := parse(t, with(`"ledger": {"cluster": "l", "token_env": "TOKEN", "timeout": "2s", "commit_timeout": "1m30s"}`,
		`"fingerprint": {"key_env": "KEY", "key_id": "2026"}`))
	if want := (Ledger{"l", "t0k3n", 2 * time.Second, 90 * time.Second}); c.Ledger != want {
		t.Errorf("ledger %+v, want %+v", c.Ledger, want)
	}
	if c.Key.ID != "2026" || string(c.Key.Secret) != environment["KEY"] {
		t.Errorf("key %+v", c.Key)
	}
}

func TestFormerConfigurationsKeepTheirKeyAndRules(t *testing.T) {
	c := parse(t, with(`"fingerprint": {"key_env": "KEY", "key_id": "new", "previous": [
		{"key_env": "OLD_KEY", "key_id": "old"},
		{"key_env": null},
		{"version": 1, "calls": [{"name": "former", "match": {"path": "/old"}, "lease": "1s"}]},
		{"key_id": "newer"}]}`))
	if len(c.Previous) != 4 {
		t.Fatalf("%d former configurations", len(c.Previous))
	}
	for i, want := range []struct{ id, secret, rule string }{
		{"old", environment["OLD_KEY"], "POST /tools/*"},
		{"", "", "POST /tools/*"},
		{"new", environment["KEY"], "former"},
		{"newer", environment["KEY"], "POST /tools/*"},
	} {
		f := c.Previous[i]
		if f.Key.ID != want.id || string(f.Key.Secret) != want.secret {
			t.Errorf("previous/%d has the key %+v, want %+v", i, f.Key, want)
		}
		if len(f.Calls) != 1 || f.Calls[0].Name != want.rule || f.Calls[0].Canon == nil {
			t.Errorf("previous/%d has the rules %+v, want %s", i, f.Calls, want.rule)
		}
	}
	call := canon.Call{Method: "POST", Path: "/tools/refund", Body: []byte("{}"), Header: func(name string) []string {
		return map[string][]string{"content-type": {"application/json"}}[name]
	}}
	seen := map[string]int{}
	for i, rule := range []*Rule{c.Calls[0], c.Previous[0].Calls[0], c.Previous[1].Calls[0]} {
		action, err := rule.Canon.Read(call)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[action.Fingerprint]; ok {
			t.Errorf("keys %d and %d give one fingerprint", other, i)
		}
		seen[action.Fingerprint] = i
	}
}

func TestWhatIsNotOneJSONObjectIsRefused(t *testing.T) {
	checkRefusals(t, []refusal{
		{``, []string{`is empty; give an object with ledger, execute and calls`}},
		{"  \n", []string{`is empty; give an object with ledger, execute and calls`}},
		{`[]`, []string{`[] is a list; use an object`}},
		{`{"ledger": {"cluster": "l"`, []string{`/ledger: is not JSON (RFC 8259) at byte 26: unexpected EOF`}},
		{with() + `{}`, []string{`goes on after its end; give one JSON object`}},
		{`{"calls": [nul]}`, []string{`/calls/0: is not JSON (RFC 8259) at byte 14: invalid character ']' in literal null (expecting 'l')`}},
		{"{\"calls\": \"\xff\"}", []string{`/calls: is not JSON (RFC 8259) at byte 11: invalid UTF-8`}},
		{strings.Repeat("[", 5000), []string{`is nested too deeply; at most 64 levels`}},
	})
}

func TestMistakesOutsideOfRulesAreNamed(t *testing.T) {
	const noLedger = `/ledger/cluster: is missing; name the Envoy cluster of ledgerd`
	checkRefusals(t, []refusal{
		{`{}`, []string{
			noLedger,
			`/execute/cluster: is missing; name the Envoy cluster of the execution listener`,
			`/calls: is missing; name what is guarded, such as [{"match": {"path_prefix": "/tools/"}}]`,
		}},
		{with(`"ledgr": {"cluster": "l"}`), []string{
			`/ledgr: is not a setting; the settings here are ledger, execute, fingerprint and calls`,
		}},
		{with(`"ledger": {"cluster": "l"}`, `"ledger": {"cluster": "m"}`), []string{
			`/ledger: {…} is the second value of this setting; give it once`,
		}},
		{with(`"ledger": null`), []string{
			`/ledger: null is not a value here; use an object, or leave it out for the default`, noLedger,
		}},
		{with(`"ledger": "ledgerd"`), []string{`/ledger: "ledgerd" is a text; use an object`, noLedger}},
		{with(`"ledger": {"cluster": ""}`), []string{`/ledger/cluster: "" is empty; use the name of the Envoy cluster of ledgerd`}},
		{with(`"ledger": {"cluster": 7}`), []string{`/ledger/cluster: 7 is a number; use the name of the Envoy cluster of ledgerd`}},
		{with(`"ledger": {"cluster": "l", "token": "secret"}`), []string{
			`/ledger/token: is not a setting; the settings here are cluster, token_env, timeout and commit_timeout`,
		}},
		{with(`"ledger": {"cluster": "l", "token_env": "NO_TOKEN"}`), []string{
			`/ledger/token_env: "NO_TOKEN" names an environment variable that is not set; set it and list it in vm_config.environment_variables.host_env_keys`,
		}},
		{with(`"ledger": {"cluster": "l", "token_env": "LINE_END"}`), []string{
			`/ledger/token_env: "LINE_END" names a variable with a character at byte 5 that no bearer token may have; use visible ASCII characters, without a line end`,
		}},
		{with(`"ledger": {"cluster": "l", "timeout": 5}`), []string{
			`/ledger/timeout: 5 is a number; use a duration such as "500ms", "30s" or "24h"`,
		}},
		{with(`"ledger": {"cluster": "l", "timeout": "5"}`), []string{
			`/ledger/timeout: "5" is not a duration; write it like "500ms", "30s" or "24h"`,
		}},
		{with(`"ledger": {"cluster": "l", "timeout": "0s"}`), []string{`/ledger/timeout: "0s" is too short; use at least "1ms"`}},
		{with(`"ledger": {"cluster": "l", "timeout": "61s", "commit_timeout": "-5s"}`, `"calls": [{"match": {"host": "h"}, "lease": "3m"}]`), []string{
			`/ledger/timeout: "61s" is too long; use at most "1m"`,
			`/ledger/commit_timeout: "-5s" is too short; use at least "1ms"`,
		}},
		{with(`"ledger": {"cluster": "l", "timeout": "1.5ms"}`), []string{
			`/ledger/timeout: "1.5ms" is finer than a millisecond; use whole milliseconds, such as "2ms"`,
		}},
		{with(`"ledger": {"cluster": "l", "timeout": "20s"}`), []string{
			`/calls/0/lease: "15s" (the default) is not more than twice ledger.timeout (20s); use more than "40s"`,
		}},
		{with(`"execute": {"cluster": "e", "timeout": "5s"}`), []string{`/execute/timeout: is not a setting; the settings here are cluster`}},
		{with(`"fingerprint": {"key": "secret"}`), []string{
			`/fingerprint/key: is not a setting; the settings here are key_env, key_id and previous`,
		}},
		{with(`"fingerprint": {"key_env": "SHORT_KEY"}`), []string{
			`/fingerprint/key_env: "SHORT_KEY" names a key of 5 bytes, which can be guessed; use at least 16 random ones`,
		}},
		{with(`"fingerprint": {"key_id": "k"}`), []string{
			`/fingerprint/key_id: "k" names a key where there is none; give key_env too, or leave it out`,
		}},
		{with(`"fingerprint": {"key_env": "KEY", "key_id": "a b"}`), []string{
			`/fingerprint/key_id: "a b" is no key id; use at most 64 visible ASCII characters`,
		}},
		{with(`"fingerprint": {"key_env": "KEY", "previous": [{}]}`), []string{
			`/fingerprint/previous/0: {} differs in nothing from the configuration that it stands in; give its key_env (null where it had no key) or its calls`,
		}},
		{with(`"fingerprint": {"previous": [{"key_env": "KEY", "version": 2}, {"key_env": null, "key_id": "k"}, 7]}`), []string{
			`/fingerprint/previous/0/version: 2 is no version of the canonical form that this filter knows; use 1`,
			`/fingerprint/previous/1/key_id: "k" names a key where there is none; give key_env too, or leave it out`,
			`/fingerprint/previous/2: 7 is a number; use an object`,
		}},
		{with(`"fingerprint": {"previous": [` + strings.Repeat(`{"calls": []},`, 8) + `{}]}`), []string{
			`/fingerprint/previous: […] has 9 former configurations, and each costs every call another digest; keep at most 8`,
		}},
		{with(`"fingerprint": {"previous": [{"calls": [{"match": {}}]}]}`), []string{
			`/fingerprint/previous/0/calls/0/match: {} does not name what is guarded; give path, path_prefix, host, tools or route`,
		}},
		{with(`"calls": []`), []string{
			`/calls: [] guards nothing; name what is guarded, such as [{"match": {"path_prefix": "/tools/"}}]`,
		}},
		{with(`"calls": {}`), []string{`/calls: {} is an object; use a list of rules`}},
		{with(`"calls": [7]`), []string{`/calls/0: 7 is a number; use an object`}},
		{with(`"calls": [` + strings.Repeat(`{"match": {"host": "h"}},`, 256) + `{}]`), []string{`/calls: […] has 257 rules; use at most 256`}},
	})
}

func TestARefusalListsEveryMistakeOnALineOfItsOwn(t *testing.T) {
	_, err := Parse([]byte(with(`"ledger": {"cluster": "l", "timeout": "soon"}`, `"calls": [{"match": {"path": "/a"}, "lease": "5s", "wait": "x"}]`)), getenv)
	const want = `the plugin configuration is refused (3 mistakes)
/ledger/timeout: "soon" is not a duration; write it like "500ms", "30s" or "24h"
/calls/0/wait: "x" is not a duration; write it like "500ms", "30s" or "24h"
/calls/0/lease: "5s" is not more than twice ledger.timeout (5s); use more than "10s"`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestARefusalShowsLongValuesAbbreviatedAndWhole(t *testing.T) {
	long := strings.Repeat("é", 200)
	got := mistakes(t, with(`"calls": [{"match": {"path": "/a"}, "mode": "`+long+`"}]`))
	want := []string{`/calls/0/mode: "` + strings.Repeat("é", 40) + `…" is none of the words here; use "enforce", "shadow" or "off"`}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNumbersOfAStructAreReadAsTheyAreMeant(t *testing.T) {
	for spelling, want := range map[string]int64{"1048577": 1048577, "1048577.0": 1048577, "1.048577e+06": 1048577, "1e+06": 1000000} {
		c := parse(t, with(`"calls": [{"match": {"path": "/a"}, "max_body_bytes": `+spelling+`}]`))
		if got := c.Calls[0].MaxBodyBytes; got != want {
			t.Errorf("%s is read as %d, want %d", spelling, got, want)
		}
	}
}

func FuzzParseNeverPanicsAndNeverHalfReads(f *testing.F) {
	f.Add([]byte(with()))
	f.Add([]byte(with(`"fingerprint": {"previous": [{"key_env": null, "calls": [{}]}]}`, `"calls": [{"match": null, "symbols": {"$": null}, "scope": "none"}]`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(data, getenv)
		if (c == nil) == (err == nil) {
			t.Fatalf("config %v and error %v", c, err)
		}
		if c == nil {
			return
		}
		for _, rule := range c.Calls {
			if rule.Name == "" || rule.Canon == nil || len(rule.Match.Methods) == 0 {
				t.Fatalf("%s gives half a rule: %+v", data, rule)
			}
		}
	})
}

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"idem/envoy"
)

// setup is the shipped Envoy configuration, to be changed as an operator might.
type setup struct{ object }

func shippedSetup(t *testing.T) setup {
	t.Helper()
	text, err := envoy.Render("../envoy/demo.yaml", envoy.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	var s setup
	if err := json.Unmarshal(text, &s.object); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s setup) static(kind, name string) object {
	return byName(list(inner(s.object, "static_resources"), kind), name)
}
func (s setup) listener(name string) object { return s.static("listeners", name) }
func (s setup) cluster(name string) object  { return s.static("clusters", name) }
func (s setup) hcm(listener string) object {
	return inner(list(list(s.listener(listener), "filter_chains")[0], "filters")[0], "typed_config")
}
func (s setup) routes(listener string) object { return inner(s.hcm(listener), "route_config") }
func (s setup) host(listener string) object {
	return list(s.routes(listener), "virtual_hosts")[0]
}

// route gives the route for every method that people call so.
func (s setup) route(listener, name string) object {
	for _, r := range list(s.host(listener), "routes") {
		if routeName(r) == name && inner(r, "match")["headers"] == nil {
			return r
		}
	}
	panic("there is no " + name)
}
func (s setup) action(listener, name string) object { return inner(s.route(listener, name), "route") }
func (s setup) filter() object                      { return list(s.hcm("idem"), "http_filters")[0] }
func (s setup) plugin() object                      { return inner(inner(s.filter(), "typed_config"), "config") }
func (s setup) protocol(cluster string) object      { return httpProtocol(s.cluster(cluster)) }

// rules changes the text of the plugin configuration.
func (s setup) rules(old, with string) {
	c := inner(s.plugin(), "configuration")
	changed := strings.Replace(text(c, "value"), old, with, 1)
	if changed == text(c, "value") {
		panic("the plugin configuration has no " + old)
	}
	c["value"] = changed
}

func (s setup) insert(listener string, at int, filter object) {
	m := s.hcm(listener)
	filters, _ := m["http_filters"].([]any)
	m["http_filters"] = slices.Insert(slices.Clone(filters), at, any(filter))
}

// dump is what Envoy's admin interface shows of it.
func (s setup) dump() object {
	static := inner(s.object, "static_resources")
	wrap := func(kind, member string, items []object) (wrapped []any) {
		for _, i := range items {
			wrapped = append(wrapped, object{member: i})
		}
		return wrapped
	}
	var routes []object
	for _, name := range []string{"idem", "idem-execute"} {
		if r := s.routes(name); r != nil {
			routes = append(routes, r)
		}
	}
	const admin = "type.googleapis.com/envoy.admin.v3."
	return object{"configs": []any{
		object{"@type": admin + "BootstrapConfigDump", "bootstrap": s.object},
		object{"@type": admin + "ClustersConfigDump", "static_clusters": wrap("", "cluster", list(static, "clusters"))},
		object{"@type": admin + "ListenersConfigDump", "static_listeners": wrap("", "listener", list(static, "listeners"))},
		object{"@type": admin + "RoutesConfigDump", "static_route_configs": wrap("", "route_config", routes)},
	}}
}

// decoded is a value as it comes out of JSON.
func decoded(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var again any
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	return again
}

// judged gives what check and doctor find in a setup, which must be the same, and check's exit code.
func judged(t *testing.T, s setup) (found []finding, code int) {
	t.Helper()
	asJSON, err := json.Marshal(s.object)
	if err != nil {
		t.Fatal(err)
	}
	asYAML, err := yaml.Marshal(decoded(t, s.object))
	if err != nil {
		t.Fatal(err)
	}
	found = examineEnvoy(envoyDocument{read: decoded(t, s.dump())})
	inFile, err := readPluginFile(asYAML)
	if err != nil {
		t.Fatal(err)
	}
	if own := examineEnvoy(inFile.envoy); !slices.Equal(own, found) {
		t.Errorf("check finds in the file\n%+v\nand doctor in what runs\n%+v", own, found)
	}
	return found, command(t, "check", file(t, "envoy.json", string(asJSON))).code
}

func decodedObject(o object) (again object, err error) {
	text, err := json.Marshal(o)
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(text)).Decode(&again)
	}
	return again, err
}

func TestCheckAndDoctorNameWhatBreaksAPromise(t *testing.T) {
	for _, c := range operatorsChanges {
		t.Run(c.name, func(t *testing.T) {
			s := shippedSetup(t)
			c.change(s)
			found, code := judged(t, s)
			var not []string
			told := false
			for _, f := range found {
				if f.Grade == well || f.What == "fingerprint key" {
					continue
				}
				not = append(not, string(f.Grade)+" "+f.What+": "+f.Detail)
				told = told || f.Grade == c.grade && strings.Contains(f.Detail, c.want)
			}
			if !told {
				t.Errorf("there is no %s %q in\n%s", c.grade, c.want, strings.Join(not, "\n"))
			}
			if want := map[grade]int{fail: 1, warn: 0}[c.grade]; code != want && want == 1 {
				t.Errorf("check's exit code is %d, want %d", code, want)
			}
			if c.grade == warn && strings.HasPrefix(strings.Join(not, "\n"), string(fail)) {
				t.Errorf("a warning became a failure:\n%s", strings.Join(not, "\n"))
			}
		})
	}
}

// What is fine must not be found fault with.
func TestCheckAndDoctorRaiseNoFalseAlarm(t *testing.T) {
	for name, change := range map[string]func(s setup){
		"as shipped": func(setup) {},
		"no retries": func(s setup) { s.host("idem-execute")["retry_policy"] = object{"retry_on": "5xx", "num_retries": 0} },
		"a route that retries nothing": func(s setup) {
			s.host("idem-execute")["retry_policy"] = object{"retry_on": "5xx"}
			for _, r := range list(s.host("idem-execute"), "routes") {
				inner(r, "route")["retry_policy"] = object{}
			}
		},
		"retries where nothing is executed inline": func(s setup) { s.action("idem", "prefix /tools/")["retry_policy"] = object{"retry_on": "5xx"} },
		"no mirrors":       func(s setup) { s.host("idem-execute")["request_mirror_policies"] = []any{} },
		"no limit of time": func(s setup) { s.action("idem-execute", "prefix /tools/")["timeout"] = "0s" },
		"headers that are overwritten again": func(s setup) {
			s.route("idem-execute", "prefix /tools/")["response_headers_to_remove"] = []any{"x-idem-details"}
		},
		"a large buffer for one route": func(s setup) {
			s.rules(`"path_prefix": "/tools/"}`, `"path_prefix": "/tools/"}, "max_body_bytes": 8388608`)
			s.route("idem", "prefix /tools/")["request_body_buffer_limit"] = "16777216"
		},
		"a route on which nothing is guarded": func(s setup) {
			r := s.route("idem", "prefix /")
			r["typed_per_filter_config"] = object{"idem": object{"@type": filterConfig, "disabled": true}}
		},
		"the filter switched on by routes": func(s setup) {
			s.filter()["disabled"] = true
			s.host("idem")["typed_per_filter_config"] = object{"idem": object{"@type": filterConfig, "config": object{}}}
		},
		"the tool under two names": func(s setup) {
			again, _ := decodedObject(s.cluster("tool"))
			again["name"] = "tool-executions"
			static := inner(s.object, "static_resources")
			static["clusters"] = append(static["clusters"].([]any), again)
			s.action("idem-execute", "prefix /tools/")["cluster"] = "tool-executions"
		},
		"who is asked first": func(s setup) {
			s.rules(`"path_prefix": "/tools/"}`, `"path_prefix": "/tools/"}, "scope": [{"metadata": ["envoy.filters.http.jwt_authn", "verified", "sub"]}]`)
			s.insert("idem", 0, object{"name": "jwt", "typed_config": object{"@type": "type.googleapis.com/envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication",
				"providers": object{"p": object{"payload_in_metadata": "verified"}}}})
		},
		"another plugin beside it": func(s setup) {
			other, _ := decodedObject(s.filter())
			other["name"] = "other"
			inner(inner(other, "typed_config"), "config")["configuration"] = object{"@type": "type.googleapis.com/google.protobuf.StringValue", "value": "{}"}
			s.insert("idem", 0, other)
		},
		"an execution listener on a loopback port": func(s setup) {
			delete(s.listener("idem-execute"), "internal_listener")
			address := object{"socket_address": object{"address": "127.0.0.1", "port_value": 9}}
			s.listener("idem-execute")["address"] = address
			inner(list(list(inner(s.cluster("idem-execute"), "load_assignment"), "endpoints")[0], "lb_endpoints")[0], "endpoint")["address"] = address
		},
		"several ledgerds": func(s setup) {
			s.cluster("ledgerd")["health_checks"] = []any{object{"timeout": "1s", "interval": "1s", "http_health_check": object{"path": "/readyz"}}}
		},
		"routes that name rules": func(s setup) {
			host := s.host("idem")
			routes, _ := host["routes"].([]any)
			host["routes"] = append([]any{
				object{"match": object{"prefix": "/v2/payments/"}, "route": object{"cluster": "tool", "timeout": "60s"},
					"metadata": object{"filter_metadata": object{"idem": object{"rule": "tools"}}}},
				object{"match": object{"prefix": "/v2/"}, "route": object{"cluster": "tool", "timeout": "60s"},
					"metadata": object{"filter_metadata": object{"idem": object{"rule": "tools", "mode": "shadow"}}}},
			}, routes...)
			inner := s.host("idem-execute")
			routes, _ = inner["routes"].([]any)
			inner["routes"] = append([]any{object{"match": object{"prefix": "/v2/"}, "route": object{"cluster": "tool", "timeout": "900s"}}}, routes...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := shippedSetup(t)
			change(s)
			found, code := judged(t, s)
			for _, f := range found {
				if f.Grade != well && f.What != "fingerprint key" {
					t.Errorf("%s %s: %s", f.Grade, f.What, f.Detail)
				}
			}
			if code != 0 {
				t.Errorf("check's exit code is %d", code)
			}
		})
	}
	if got := command(t, "check", "../envoy/demo.yaml"); got.code != 0 || !strings.Contains(got.out, "is well") {
		t.Errorf("%d:\n%s", got.code, got.out)
	}
}

// What an Envoy would be told by others is not guessed at.
func TestCheckSaysWhatItHasNotSeen(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s setup)
		want   string
	}{
		"routes of the first listener": {func(s setup) {
			delete(s.hcm("idem"), "route_config")
			s.hcm("idem")["rds"] = object{"route_config_name": "calls"}
		}, "listener idem: not seen: what becomes of guarded calls, for its route configuration calls"},
		"routes of executions": {func(s setup) {
			delete(s.hcm("idem-execute"), "route_config")
			s.hcm("idem-execute")["rds"] = object{"route_config_name": "executions"}
		}, "listener idem-execute: not seen: its route configuration executions"},
		"another filter": {func(s setup) {
			s.insert("idem", 0, object{"name": "auth", "config_discovery": object{"type_urls": []any{"x"}}})
		}, "not seen: what filter auth is"},
	} {
		t.Run(name, func(t *testing.T) {
			s := shippedSetup(t)
			c.change(s)
			found, code := judged(t, s)
			seen := false
			for _, f := range found {
				if f.Grade == fail {
					t.Errorf("FAIL %s: %s", f.What, f.Detail)
				}
				seen = seen || f.Grade == warn && strings.Contains(f.Detail, c.want)
			}
			if !seen || code != 0 {
				t.Errorf("exit code %d, and %q is not in %+v", code, c.want, found)
			}
		})
	}
	s := shippedSetup(t)
	s.object["dynamic_resources"] = object{"cds_config": object{}, "lds_config": object{}}
	inner(s.object, "static_resources")["clusters"] = []any{}
	text, _ := json.Marshal(s.object)
	got := command(t, "check", file(t, "envoy.json", string(text)))
	got.wants(t, 0, "cluster idem-execute: not seen: it comes by CDS", "cluster ledgerd: not seen")
}

func TestTheExamplesOfEnvoysREADMEAreWell(t *testing.T) {
	readme, err := os.ReadFile("../envoy/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var ledgerd, routes []any
	for _, block := range strings.Split(string(readme), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		var items any
		if err := yaml.Load([]byte(block), &items); err != nil {
			t.Fatalf("%v in\n%s", err, block)
		}
		switch items, _ := items.([]any); {
		case strings.Contains(block, "filter_metadata"):
			routes = items
		case strings.Contains(block, "name: ledgerd"):
			ledgerd = items
		}
	}
	if len(routes) != 2 || len(ledgerd) != 1 {
		t.Fatalf("README has %d routes and %d clusters", len(routes), len(ledgerd))
	}
	s := shippedSetup(t)
	s.rules(`"name": "tools"`, `"name": "payments"`)
	for member, value := range ledgerd[0].(object) {
		s.cluster("ledgerd")[member] = value
	}
	first, second := s.host("idem"), s.host("idem-execute")
	first["routes"] = append(slices.Clone(routes), first["routes"].([]any)...)
	second["routes"] = append([]any{object{"match": object{"prefix": "/v2/"}, "route": object{"cluster": "tool", "timeout": "900s"}}}, second["routes"].([]any)...)
	found, _ := judged(t, s)
	for _, f := range found {
		if f.Grade != well && f.What != "fingerprint key" {
			t.Errorf("%s %s: %s", f.Grade, f.What, f.Detail)
		}
	}
}

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"idem/envoy"
)

// demoDump is what Envoy's admin interface would say of the demo's configuration, after change has had its way.
func demoDump(t *testing.T, change func(string) string) any {
	t.Helper()
	text, err := envoy.Render("../envoy/demo.yaml", envoy.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	changed := string(text)
	if change != nil {
		if changed = change(changed); changed == string(text) {
			t.Fatal("the test changes nothing: the demo's configuration has no such part")
		}
	}
	var bootstrap any
	if err := json.Unmarshal([]byte(changed), &bootstrap); err != nil {
		t.Fatal(err)
	}
	return object{"configs": []any{object{"@type": "type.googleapis.com/envoy.admin.v3.BootstrapConfigDump", "bootstrap": bootstrap}}}
}

func failures(found []finding) string {
	var text []string
	for _, f := range found {
		if f.Grade == fail {
			text = append(text, f.What+": "+f.Detail)
		}
	}
	return strings.Join(text, "\n")
}

func TestTheDoctorFindsTheShippedConfigurationWell(t *testing.T) {
	found := examineEnvoy(envoyDocument{read: demoDump(t, nil)})
	if text := failures(found); text != "" {
		t.Error(text)
	}
	if len(found) < 6 {
		t.Errorf("too little was looked at: %+v", found)
	}
}

func TestTheDoctorFindsWhatCouldExecuteTwiceOrHideAnEnd(t *testing.T) {
	in := func(part, other string) func(string) string {
		return func(text string) string { return strings.ReplaceAll(text, part, other) }
	}
	for name, c := range map[string]struct {
		change func(string) string
		want   string
	}{
		"retries":           {in(`"timeout": "900s"`, `"timeout": "900s", "retry_policy": {"retry_on": "5xx"}`), "retry_policy"},
		"hedging":           {in(`"timeout": "900s"`, `"timeout": "900s", "hedge_policy": {"hedge_on_per_try_timeout": true}`), "hedge_policy"},
		"mirroring":         {in(`"timeout": "900s"`, `"timeout": "900s", "request_mirror_policies": [{"cluster": "x"}]`), "request_mirror_policies"},
		"internal redirect": {in(`"timeout": "900s"`, `"timeout": "900s", "internal_redirect_policy": {}`), "internal_redirect_policy"},
		"fail open":         {in("FAIL_RELOAD", "FAIL_OPEN"), "want FAIL_RELOAD"},
		"no parking":        {in(`"allow_on_headers_stop_iteration": true`, `"allow_on_headers_stop_iteration": false`), "allow_on_headers_stop_iteration"},
		"no flags":          {in("%RESPONSE_FLAGS%", "-"), "x-idem-flags"},
		"no details":        {in("x-idem-details", "x-details"), "x-idem-details"},
		"added, not set":    {in("OVERWRITE_IF_EXISTS_OR_ADD", "APPEND_IF_EXISTS_OR_ADD"), "x-idem-attempts"},
		"no local replies":  {in("local_reply_config", "x_local_reply_config"), "so do Envoy's own replies"},
		"another listener":  {in(`"server_listener_name": "idem-execute"`, `"server_listener_name": "elsewhere"`), "no listener of this Envoy"},
		"no cluster":        {in(`\"execute\": {\"cluster\": \"idem-execute\"}`, `\"execute\": {\"cluster\": \"gone\"}`), "no cluster of this name"},
		"no such rule":      {in(`"timeout": "60s"`, `"timeout": "60s"}, "metadata": {"filter_metadata": {"idem": {"rule": "payouts"}}`), `route path /api/invoke: metadata.filter_metadata.idem/rule: "payouts" is no rule's name`},
		"a wrong mode":      {in(`"timeout": "60s"`, `"timeout": "60s"}, "metadata": {"filter_metadata": {"idem": {"mode": false}}`), "idem/mode: false is no mode"},
		"a refused rule":    {in(`\"calls\": [`, `\"calls\": [{\"match\": {}},`), "/calls/0"},
		"no filter":         {in(`\"calls\"`, `\"callz\"`), "no wasm filter"},
	} {
		t.Run(name, func(t *testing.T) {
			if text := failures(examineEnvoy(envoyDocument{read: demoDump(t, c.change)})); !strings.Contains(text, c.want) {
				t.Errorf("%q is not among what was found:\n%s", c.want, text)
			}
		})
	}
}

func TestTheDoctorSaysNothingOfAPaperThatItHasNotSeen(t *testing.T) {
	found := failures(examineEnvoy(envoyDocument{read: demoDump(t, func(text string) string {
		return strings.Replace(text, `"timeout": "60s"`, `"timeout": "60s"}, "metadata": {"filter_metadata": {"idem": {"mode": false}}`, 1)
	})}))
	if !strings.Contains(found, "idem/mode: false is no mode") || strings.Contains(found, "quotes") {
		t.Errorf("got %s", found)
	}
}

func TestARetryPolicyThatRetriesNothingIsWell(t *testing.T) {
	dump := demoDump(t, func(text string) string {
		return strings.ReplaceAll(text, `"timeout": "900s"`, `"timeout": "900s", "retry_policy": {"num_retries": 1}`)
	})
	if text := failures(examineEnvoy(envoyDocument{read: dump})); text != "" {
		t.Error(text)
	}
}

func TestTheDoctorAsksAnEnvoy(t *testing.T) {
	dump := demoDump(t, func(text string) string { return strings.ReplaceAll(text, "FAIL_RELOAD", "FAIL_OPEN") })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/config_dump" {
			_ = json.NewEncoder(w).Encode(dump)
		}
	}))
	defer server.Close()
	args := []string{"doctor", "--data-dir", t.TempDir(), "--server", "http://127.0.0.1:1", "--data-server", "http://127.0.0.1:1"}
	command(t, append(args, "--envoy-admin", server.URL)...).wants(t, 1, "FAIL", "FAIL_OPEN", "executed once")
	command(t, append(args, "--envoy-admin", "http://127.0.0.1:1")...).wants(t, 1, "admin interface of Envoy at http://127.0.0.1:1 cannot be reached")
	command(t, args...).wants(t, 1, "--server says where its admin API is", "--data-server says where its data API is")
	command(t, append(args, "--json")...).wants(t, 1, `"grade": "FAIL"`, "admin API")
}

func TestTheDoctorJudgesTheDisk(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := examineDisk(dir)[0]; got.Grade != warn || !strings.Contains(got.Detail, "open to others") {
		t.Errorf("%+v", got)
	}
	if got := examineDisk(dir + "/none")[0]; got.Grade != warn {
		t.Errorf("a directory that serve would make: %+v", got)
	}
	if got := examineDisk(file(t, "file", ""))[0]; got.Grade != fail {
		t.Errorf("a file as data directory: %+v", got)
	}
	for took, want := range map[time.Duration]grade{time.Microsecond: warn, time.Millisecond: well, time.Second: warn} {
		if got := durability([]time.Duration{took}); got.Grade != want {
			t.Errorf("a sync of %v is %s, want %s", took, got.Grade, want)
		}
	}
}

func TestTheDoctorComparesClocks(t *testing.T) {
	now := time.Now()
	for off, want := range map[time.Duration]grade{0: well, time.Hour: warn, -time.Hour: warn} {
		if got := clockAgainst(now.Add(off), now, now); got.Grade != want {
			t.Errorf("%v off is %s, want %s", off, got.Grade, want)
		}
	}
}

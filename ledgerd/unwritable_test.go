package main

import (
	"regexp"
	"strings"
	"testing"

	"idem/ledgerd/store/postgres/pgtest"
)

// A database that can be read, and keeps settings, but takes no records: /readyz and the metric say so as long as it is
// so, every operation has its answer, and both find their way back.
func TestServeIsNotReadyWhileNoRecordCanBeWritten(t *testing.T) {
	server := pgtest.Shared(t)
	url, role := madeStore(t), pgtest.NewSchema()
	schema := regexp.MustCompile(`schema=(\w+)`).FindStringSubmatch(url)[1]
	server.Do(t, "CREATE ROLE "+role+" LOGIN; GRANT USAGE ON SCHEMA "+schema+" TO "+role+
		"; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "+schema+" TO "+role+"; GRANT ALL ON ALL SEQUENCES IN SCHEMA "+schema+" TO "+role)
	var p *process
	lock := server.Connect(t)
	do := func(sql string) func() {
		return func() { server.Do(t, strings.ReplaceAll(sql, "records", schema+".records")) }
	}
	locked := func(mode string) func() {
		return func() {
			if _, err := lock.Exec(t.Context(), "BEGIN; LOCK TABLE "+schema+".records IN "+mode+" MODE"); err != nil {
				t.Fatal(err)
			}
		}
	}
	unlocked := func() {
		if _, err := lock.Exec(t.Context(), "COMMIT"); err != nil {
			t.Fatal(err)
		}
	}
	state := func(ready string) string {
		status, text := fetch(t, "GET", "http://"+p.admin+"/readyz", "", "")
		_, metrics := fetch(t, "GET", "http://"+p.admin+"/metrics", "", "")
		up := "idem_store_up 0"
		if ready == "ready" {
			up = "idem_store_up 1"
		}
		if (status == 200) != (ready == "ready") || !strings.Contains(metrics, up) {
			return "readyz " + text
		}
		return ""
	}
	for _, c := range []struct {
		name        string
		take, again func()
	}{
		{"no INSERT", do("REVOKE INSERT ON records FROM " + role), do("GRANT INSERT ON records TO " + role)},
		{"a SHARE lock", locked("SHARE"), unlocked},
		{"an ACCESS EXCLUSIVE lock", locked("ACCESS EXCLUSIVE"), unlocked},
	} {
		t.Run(c.name, func(t *testing.T) {
			do("DELETE FROM records")() // what the case before left
			p = startProcess(t, "--store", strings.Replace(url, "ledgerd:", role+":", 1))
			p.until(t, func() string { return state("ready") })
			c.take()
			p.until(t, func() string { return state("not ready") })
			if status, text := p.ops(t, reserveOp("a1")); status != 200 || !strings.Contains(text, "ledger_unavailable") {
				t.Errorf("%d %s", status, text)
			}
			if wrong := state("not ready"); wrong != "" { // and stays so
				t.Error(wrong)
			}
			c.again()
			p.until(t, func() string { return state("ready") })
			if status, text := p.ops(t, reserveOp("a1")); status != 200 || !strings.Contains(text, `"answer":"execute"`) {
				t.Errorf("%d %s", status, text)
			}
		})
	}
}

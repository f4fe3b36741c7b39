package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/store/postgres/pgtest"
)

// Somebody drops the schema, makes a new store and starts one node again, while another one never stopped: that one must
// not answer by the new, empty store, or a committed call runs again.
func TestNodeThatNeverStoppedRefusesAStoreThatWasMadeAnew(t *testing.T) {
	url := madeStore(t)
	one, two := startProcess(t, "--store", url), startProcess(t, "--store", url)
	if status, text := one.ops(t, reserveOp("a1"), commitOp("a1")); status != 200 || !strings.Contains(text, `"ok"`) {
		t.Fatalf("%d %s", status, text)
	}
	if status, text := two.ops(t, reserveOp("a2")); status != 200 || !strings.Contains(text, `"answer":"replay"`) {
		t.Fatalf("before: %d %s", status, text)
	}
	one.stop(t)
	schema := regexp.MustCompile(`schema=(\w+)`).FindStringSubmatch(url)[1]
	pgtest.Shared(t).Do(t, "DROP SCHEMA "+schema+" CASCADE")
	serve := []string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--store", url}
	command(t, serve...).wants(t, 1, "there is no store", "`ledgerd migrate --store")
	command(t, "migrate", "--store", url).wants(t, 0, "Made a new, empty store")
	again := startProcess(t, "--store", url)

	// The replay may come from memory until it knows that the store is another one; nothing is executed meanwhile.
	deadline := time.Now().Add(time.Minute)
	for {
		status, text := two.ops(t, reserveOp("a3"))
		if status == 200 && strings.Contains(text, `"answer":"execute"`) {
			t.Fatalf("a committed call is executed again: %s", text)
		}
		if strings.Contains(text, "cannot be used as it is") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it still answers %d %s", status, text)
		}
	}
	if status, text := fetch(t, "GET", "http://"+two.admin+"/readyz", "", ""); status != 503 || !strings.Contains(text, "cannot be used as it is") || !strings.Contains(text, `"retryable":true`) {
		t.Errorf("readyz: %d %s", status, text)
	}
	if line := two.await(t, "refuses everything until ledgerd is started again"); !strings.Contains(line, "level=ERROR") || !strings.Contains(line, "made anew") {
		t.Errorf("the log says %s", line)
	}
	if status, text := again.ops(t, reserveOp("a4")); status != 200 || !strings.Contains(text, `"answer":"execute"`) {
		t.Errorf("the node that was started again has the new store: %d %s", status, text)
	}
}

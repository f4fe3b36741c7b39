package main

import (
	"strings"
	"testing"

	"idem/ledgerd/store/redis/redistest"
)

// Two ledgerds over one store are one ledger: what one decides the other knows at once, and whoever waits at one is
// woken by a commit at the other.
func TestTwoLedgerdsOverOneStoreAreOneLedger(t *testing.T) {
	for kind, url := range map[string]func(t *testing.T) string{
		"postgres": postgresStore,
		"redis":    func(t *testing.T) string { return redistest.Start(t).URL() },
	} {
		t.Run(kind, func(t *testing.T) {
			url := url(t)
			command(t, "migrate", "--store", url).wants(t, 0, "Made a new, empty store")
			oneLedger(t, url)
		})
	}
}

func oneLedger(t *testing.T, url string) {
	t.Helper()
	one, two := startProcess(t, "--store", url), startProcess(t, "--store", url)
	if status, text := one.ops(t, reserveOp("a1")); status != 200 || !strings.Contains(text, `"answer":"execute"`) {
		t.Fatalf("the first arrival: %d %s", status, text)
	}
	if status, text := two.ops(t, reserveOp("a2")); status != 200 || !strings.Contains(text, `"answer":"in_flight"`) {
		t.Fatalf("at the other node: %d %s", status, text)
	}
	woken := make(chan string, 1)
	go func() {
		_, text := two.ops(t, `{"op":"await","attempt":"a1","intent":"`+strings.Repeat("5", 64)+`","wait_ms":20000}`)
		woken <- text
	}()
	if status, text := one.ops(t, commitOp("a1")); status != 200 || !strings.Contains(text, `"ok"`) {
		t.Fatalf("the commit: %d %s", status, text)
	}
	if text := <-woken; !strings.Contains(text, "ZG9uZQ==") {
		t.Errorf("who waited at the other node got %s", text)
	}
	if status, text := two.ops(t, reserveOp("a3")); status != 200 || !strings.Contains(text, `"answer":"replay"`) {
		t.Errorf("a later arrival at the other node: %d %s", status, text)
	}
}

// ops sends operations on one intent and gives the answers.
func (p *process) ops(t *testing.T, ops ...string) (int, string) {
	t.Helper()
	return fetch(t, "POST", "http://"+p.data+"/v1/ops", strings.Join(ops, "\n")+"\n", "application/x-ndjson")
}

func reserveOp(attempt string) string {
	id := strings.Repeat("5", 64)
	return `{"op":"reserve","attempt":"` + attempt + `","intent":"` + id + `","fingerprint":"` + id + `"}`
}

func commitOp(attempt string) string {
	return `{"op":"commit","attempt":"` + attempt + `","intent":"` + strings.Repeat("5", 64) + `","status":200,"body":"ZG9uZQ=="}`
}

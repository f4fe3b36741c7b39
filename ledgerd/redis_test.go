package main

import (
	"strings"
	"testing"

	"idem/ledgerd/store/redis/redistest"
)

// What an operator does with a Valkey: sees that there is no store, makes it, serves, looks.
func TestServeKeepsWhatWasExecutedInRedis(t *testing.T) {
	server := redistest.Start(t)
	url := strings.Replace(server.URL(), "://", "://default:s3cret@", 1)
	doctor := []string{"doctor", "--store", url, "--data-dir", t.TempDir()}
	command(t, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--store", url).
		wants(t, 1, "there is no store", "`ledgerd migrate --store")
	command(t, doctor...).wants(t, 1, "FAIL", "there is no store")
	made := command(t, "migrate", "--store", url)
	made.wants(t, 0, "Made a new, empty store", server.Address)
	if strings.Contains(made.out+made.err, "s3cret") {
		t.Errorf("the password is shown: %s%s", made.out, made.err)
	}
	if again := command(t, "migrate", "--store", url); again.code != 0 || strings.Contains(again.out, "new, empty") {
		t.Errorf("a store that was there: %+v", again)
	}
	first := startProcess(t, "--store", url)
	if status, text := first.ops(t, reserveOp("a1"), commitOp("a1")); status != 200 || !strings.Contains(text, `"ok"`) {
		t.Fatalf("%d %s", status, text)
	}
	first.stop(t)
	second := startProcess(t, "--store", url)
	if status, text := second.ops(t, reserveOp("a2")); status != 200 || !strings.Contains(text, `"answer":"replay"`) {
		t.Errorf("after a restart: %d %s", status, text)
	}
	doctor = append(doctor, "--server", "http://"+second.admin, "--data-server", "http://"+second.data)
	command(t, doctor...).wants(t, 0, "each write is synced before it is acknowledged", "ready")
	server.Do(t, "CONFIG", "SET", "appendfsync", "everysec")
	command(t, doctor...).wants(t, 1, "appendfsync is everysec")
}

// The password is changed on the server, and every connection ends: the ledger says so, forgets nothing, and finds its way
// back by itself.
func TestServeFindsItsWayBackWhenItsCredentialsWorkAgain(t *testing.T) {
	server := redistest.Start(t)
	server.Do(t, "ACL", "SETUSER", "ledger", "on", ">one", "~*", "&*", "+@all")
	url := strings.Replace(server.URL(), "://", "://ledger:one@", 1)
	command(t, "migrate", "--store", url).wants(t, 0, "Made a new, empty store")
	p := startProcess(t, "--store", url)
	if status, text := p.ops(t, reserveOp("a1"), commitOp("a1")); status != 200 || !strings.Contains(text, `"ok"`) {
		t.Fatalf("%d %s", status, text)
	}
	server.Do(t, "ACL", "SETUSER", "ledger", "resetpass", ">two")
	server.Do(t, "CLIENT", "KILL", "TYPE", "normal")
	p.until(t, func() string {
		if status, text := p.ops(t, commitOp("a1")); status != 200 || !strings.Contains(text, "ledger_unavailable") || !strings.Contains(text, "credentials") {
			return text
		}
		if status, text := fetch(t, "GET", "http://"+p.admin+"/readyz", "", ""); status != 503 || !strings.Contains(text, "credentials") {
			return text
		}
		return ""
	})
	server.Do(t, "ACL", "SETUSER", "ledger", ">one")
	p.until(t, func() string {
		if status, text := fetch(t, "GET", "http://"+p.admin+"/readyz", "", ""); status != 200 {
			return text
		}
		return ""
	})
	if status, text := p.ops(t, reserveOp("a2")); status != 200 || !strings.Contains(text, `"answer":"replay"`) || !strings.Contains(text, "ZG9uZQ==") {
		t.Errorf("what was committed before: %d %s", status, text)
	}
}

package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/sqlite"
)

// opsAs sends an empty batch with a token and gives the status.
func (p *process) opsAs(t *testing.T, token string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+p.data+"/v1/ops", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("content-type", "application/x-ndjson")
	r.Header.Set("authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

func rewrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Tokens are replaced without a restart, all at once; a file that cannot be taken changes nothing.
func TestSIGHUPReadsTheTokenFilesAnew(t *testing.T) {
	const first, second = "the-first-t0ken-of-all", "the-second-t0ken-of-all"
	data, operators := file(t, "token", first+"\n"), file(t, "operator-token", "ada "+first+"-operator\n")
	p := startProcess(t, "--store", "memory", "--token-file", data, "--operator-token-file", operators)
	wants := func(token string, status int) {
		t.Helper()
		if got := p.opsAs(t, token); got != status {
			t.Errorf("%s: %d, want %d", token, got, status)
		}
	}
	wants(first, 200)
	wants(second, 401)

	rewrite(t, data, first+"\n"+second+"\n") // both, as long as filters have either
	p.signal(t, syscall.SIGHUP)
	if line := p.await(t, "read anew"); !strings.Contains(line, "tokens=2 operator_tokens=1") {
		t.Error(line)
	}
	wants(first, 200)
	wants(second, 200)

	rewrite(t, data, second+"\n")
	for _, broken := range []string{"too short", "", "# nobody\n", "short"} {
		rewrite(t, operators, broken)
		p.signal(t, syscall.SIGHUP)
		if line := p.await(t, "stay as they were"); !strings.Contains(line, "level=ERROR") || !strings.Contains(line, "operator-token") {
			t.Error(line)
		}
		wants(first, 200) // the good file was not taken alone
	}
	if err := os.Remove(operators); err != nil {
		t.Fatal(err)
	}
	p.signal(t, syscall.SIGHUP)
	p.await(t, "stay as they were")

	rewrite(t, operators, "bob "+second+"-operator\n")
	p.signal(t, syscall.SIGHUP)
	p.await(t, "read anew")
	wants(first, 401)
	wants(second, 200)
	command(t, "holds", "list", "--server", "http://"+p.admin, "--token", first+"-operator").wants(t, 3, "unauthorized")
	command(t, "holds", "list", "--server", "http://"+p.admin, "--token", second+"-operator").wants(t, 0)
	p.stop(t)
}

func TestSIGHUPEndsNothingWhereThereIsNoTokenFile(t *testing.T) {
	p := startProcess(t, "--store", "memory")
	p.signal(t, syscall.SIGHUP)
	p.await(t, "nothing to read anew")
	if status, text := p.ops(t, reserveOp("a1")); status != 200 {
		t.Errorf("%d %s", status, text)
	}
	p.stop(t)
}

// A sender that stalls in the middle of a batch has had nothing done, so it is no reason for a stop to be late, or to be
// called a failure.
func TestAHalfSentBatchDoesNotHoldUpAStop(t *testing.T) {
	p := startProcess(t, "--store", "memory", "--drain-timeout", "60s")
	var halves []net.Conn
	for _, at := range []struct{ address, path, kind string }{{p.data, "/v1/ops", "application/x-ndjson"}, {p.admin, "/api/release", "application/json"}} {
		c, err := net.Dial("tcp", at.address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		head := "POST " + at.path + " HTTP/1.1\r\nhost: localhost\r\ncontent-type: " + at.kind + "\r\nexpect: 100-continue\r\ncontent-length: 100\r\n\r\n"
		if _, err := io.WriteString(c, head); err != nil {
			t.Fatal(err)
		}
		// That it goes on says that the body is being read.
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
			t.Fatalf("%q, %v", line, err)
		}
		if _, err := io.WriteString(c, `{"op":`); err != nil {
			t.Fatal(err)
		}
		halves = append(halves, c)
	}
	before := time.Now()
	p.stop(t) // and exits with 0
	if took := time.Since(before); took > 45*time.Second {
		t.Errorf("the stop took %v", took)
	}
	for _, c := range halves {
		if text, _ := io.ReadAll(c); !strings.Contains(string(text), "503") || !strings.Contains(string(text), "ledgerd is stopping and has not got the whole body") {
			t.Errorf("the sender is told %q", text)
		}
	}
}

func TestServeSaysThatTheLedgersClockIsAhead(t *testing.T) {
	dir := t.TempDir()
	kept, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Swap(context.Background(), store.Write{Key: "k", Data: []byte("d"), Now: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	p := startProcess(t, "--data-dir", dir)
	if line := p.await(t, "clock is ahead"); !strings.Contains(line, "level=WARN") || !strings.Contains(line, "ahead=59m") && !strings.Contains(line, "ahead=1h0m0") {
		t.Error(line)
	}
	if _, text := fetch(t, "GET", "http://"+p.admin+"/metrics", "", ""); !strings.Contains(text, "\nidem_clock_ahead_seconds 35") && !strings.Contains(text, "\nidem_clock_ahead_seconds 3600") {
		t.Error("the metric does not say so")
	}
	command(t, "doctor", "--data-dir", dir, "--server", "http://"+p.admin, "--data-server", "http://"+p.data).
		wants(t, 0, "ledger's clock", "ahead of this machine's", "no lease, hold or retention ends")
	p.stop(t)
}

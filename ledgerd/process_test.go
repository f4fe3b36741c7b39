package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is this program, started as an operator would.
type process struct {
	cmd         *exec.Cmd
	data, admin string // addresses
	started     string // the line that says where it serves
	log         *bufio.Scanner
}

// startProcess starts `ledgerd serve` on free ports and waits until it says where it serves.
func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self, append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), "IDEM_TEST_IS_LEDGERD=1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, log: bufio.NewScanner(stderr)}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	line := p.await(t, "ledgerd serves")
	p.started = line
	p.data = regexp.MustCompile(`data=(\S+)`).FindStringSubmatch(line)[1]
	p.admin = regexp.MustCompile(`admin=(\S+)`).FindStringSubmatch(line)[1]
	return p
}

// await reads the log until a line has a text.
func (p *process) await(t *testing.T, text string) string {
	t.Helper()
	var seen []string
	for p.log.Scan() {
		seen = append(seen, p.log.Text())
		if strings.Contains(p.log.Text(), text) {
			return p.log.Text()
		}
	}
	t.Fatalf("the log ended without %q:\n%s", text, strings.Join(seen, "\n"))
	return ""
}

func (p *process) stop(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.await(t, "ledgerd has stopped")
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("a stop that was asked for is no failure: %v", err)
	}
}

func fetch(t *testing.T, method, url, body, kind string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("content-type", kind)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestServeKeepsWhatWasCommittedOverARestart(t *testing.T) {
	dir, id := t.TempDir(), strings.Repeat("1", 64)
	reserve := `{"op":"reserve","attempt":"ATTEMPT","intent":"` + id + `","fingerprint":"` + id + `","run":"r","tool":"refund"}` + "\n"
	first := startProcess(t, "--data-dir", dir)
	commit := `{"op":"commit","attempt":"a1","intent":"` + id + `","status":200,"body":"ZG9uZQ=="}` + "\n"
	status, text := fetch(t, "POST", "http://"+first.data+"/v1/ops", strings.Replace(reserve, "ATTEMPT", "a1", 1)+commit, "application/x-ndjson")
	if status != 200 || strings.Count(text, "\n") != 2 || !strings.Contains(text, `"ok"`) {
		t.Fatalf("%d %s", status, text)
	}
	command(t, "migrate", "--data-dir", dir).wants(t, 1, "in use", "--data-dir")
	first.stop(t)
	command(t, "migrate", "--data-dir", dir).wants(t, 0, "sqlite in "+dir)

	second := startProcess(t, "--data-dir", dir)
	status, text = fetch(t, "POST", "http://"+second.data+"/v1/ops", strings.Replace(reserve, "ATTEMPT", "a2", 1), "application/x-ndjson")
	if status != 200 || !strings.Contains(text, `"answer":"replay"`) || !strings.Contains(text, "ZG9uZQ==") {
		t.Fatalf("after a restart: %d %s", status, text)
	}
	for _, path := range []string{"/", "/readyz", "/api/state", "/metrics"} {
		if status, text := fetch(t, "GET", "http://"+second.admin+path, "", ""); status != 200 {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	command(t, "doctor", "--data-dir", dir, "--server", "http://"+second.admin, "--data-server", "http://"+second.data).
		wants(t, 0, "durability", "free space", "clock", "ready", "data API")
	second.stop(t)
}

// A wait, and an event stream, would hold up a stop for as long as they last.
func TestAStopEndsWaitsAndStreams(t *testing.T) {
	p := startProcess(t, "--store", "memory")
	id := strings.Repeat("1", 64)
	ops := `{"op":"reserve","attempt":"a1","intent":"` + id + `","fingerprint":"` + id + `"}` + "\n" +
		`{"op":"await","attempt":"a1","intent":"` + id + `","wait_ms":600000}` + "\n"
	waiting, err := http.Post("http://"+p.data+"/v1/ops", "application/x-ndjson", strings.NewReader(ops))
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Body.Close()
	answers := bufio.NewScanner(waiting.Body)
	if !answers.Scan() {
		t.Fatal("no answer to the reserve")
	}
	stream, err := http.Get("http://" + p.admin + "/api/events")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	before := time.Now()
	p.stop(t)
	if took := time.Since(before); took > 10*time.Second {
		t.Errorf("the stop took %v", took)
	}
	if !answers.Scan() {
		t.Error("the wait got no answer")
	}
}

func TestServeSaysWhatIsOpenAndWhatIsNew(t *testing.T) {
	dir := t.TempDir() + "/new"
	first := startProcess(t, "--data-dir", dir)
	if !strings.Contains(first.started, "data_dir_made=true") {
		t.Errorf("a directory that was not there: %s", first.started)
	}
	if anew := first.await(t, "made a new, empty store"); !strings.Contains(anew, "level=WARN") {
		t.Errorf("a new store: %s", anew)
	}
	if open := first.await(t, "no token"); !strings.Contains(open, "level=WARN") || !strings.Contains(open, "--operator-token-file") || !strings.Contains(open, "--viewer-token-file") {
		t.Errorf("an open admin API: %s", open)
	}
	first.stop(t)
	if again := startProcess(t, "--data-dir", dir); !strings.Contains(again.started, "data_dir_made=false") {
		t.Errorf("a directory that was there: %s", again.started)
	}
}

func TestServeSaysWhichAddressIsTaken(t *testing.T) {
	p := startProcess(t, "--store", "memory")
	command(t, "serve", "--listen", p.data, "--admin-listen", "127.0.0.1:0", "--store", "memory").wants(t, 1, p.data, "--listen")
}

func TestVersionTellsTheCanonicalForm(t *testing.T) {
	command(t, "version").wants(t, 0, "ledgerd "+version, "canonical form 1")
	command(t, "version", "--json").wants(t, 0, `"canon":1`)
}

// until looks again and again until there is nothing wrong any more.
func (p *process) until(t *testing.T, wrong func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		text := wrong()
		if text == "" {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("it still answers %s", text)
		}
	}
}

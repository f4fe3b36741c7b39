package envoytest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Ledgerd is a ledgerd process with a data directory and addresses that outlive it.
type Ledgerd struct {
	Address string // of the data API, ip:port
	Admin   string // of the admin API, ip:port
	Dir     string // its data

	process *process
	args    []string
	logFile string
}

// MakeStore makes the store that several ledgerds share, as an operator does before the first start.
func MakeStore(t TB, url string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), Artifact(t, ledgerdFile), "migrate", "--store", url).CombinedOutput()
	if err != nil {
		t.Fatalf("ledgerd migrate: %v\n%s", err, out)
	}
}

// StartLedgerd starts ledgerd on a data directory (empty: a new one) with free ports and waits until it is ready.
// Further arguments go to `ledgerd serve`.
func StartLedgerd(t TB, dir string, args ...string) *Ledgerd {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	l := &Ledgerd{Address: FreeAddress(t), Admin: FreeAddress(t), Dir: dir, args: args}
	l.logFile = filepath.Join(t.TempDir(), "ledgerd.log")
	l.Start(t)
	return l
}

// Start starts a ledgerd that was stopped or killed again, on the same data and addresses, and waits until it is
// ready.
func (l *Ledgerd) Start(t TB) {
	t.Helper()
	args := []string{"serve", "--listen", l.Address, "--admin-listen", l.Admin}
	if i := slices.Index(l.args, "--store"); i < 0 || l.args[i+1] == "sqlite" { // no other store has a directory
		args = append(args, "--data-dir", l.Dir)
	}
	args = append(args, l.args...)
	l.process = start(t, "ledgerd", l.logFile, nil, Artifact(t, ledgerdFile), args...)
	if err := poll(t.Context(), startPatience, func() bool { return l.Ready() || !l.process.running() }); err != nil {
		t.Fatalf("ledgerd is not ready after %v", startPatience)
	}
	if !l.process.running() {
		t.Fatalf("ledgerd ended while it started: %v", l.process.err)
	}
}

// Ready says whether ledgerd answers and its store writes.
func (l *Ledgerd) Ready() bool {
	response, err := http.Get("http://" + l.Admin + "/readyz")
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// Kill9 ends ledgerd as a crash does.
func (l *Ledgerd) Kill9(t TB) {
	t.Helper()
	l.process.kill(t)
}

// Stop asks ledgerd to end and waits for it.
func (l *Ledgerd) Stop(t TB) {
	t.Helper()
	if err := l.process.stop(t); err != nil {
		t.Errorf("ledgerd ended with %v", err)
	}
}

// Log gives what ledgerd has logged.
func (l *Ledgerd) Log() string { return string(l.process.log()) }

// PID is the process's id, for looking at what it uses.
func (l *Ledgerd) PID() int { return l.process.cmd.Process.Pid }

// Post sends JSON to the admin API and gives the status and the reply.
func (l *Ledgerd) Post(t TB, path string, body any) (status int, reply []byte) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatalf("%v", err)
	}
	response, err := http.Post("http://"+l.Admin+path, "application/json", bytes.NewReader(text))
	if err != nil {
		t.Fatalf("POST %s: %v", path, err)
	}
	defer response.Body.Close()
	reply, err = io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("POST %s: %v", path, err)
	}
	return response.StatusCode, reply
}

// Counter gives one of the counters of GET /api/state; one that is not there counts 0.
func (l *Ledgerd) Counter(t TB, name string) int64 {
	t.Helper()
	var state struct{ Counters map[string]int64 }
	l.get(t, "/api/state?limit=1", &state)
	return state.Counters[name]
}

// Gauge gives one of ledgerd's metrics that has no labels, and fails the test where there is none of the name.
func (l *Ledgerd) Gauge(t TB, name string) (value float64) {
	t.Helper()
	response, err := http.Get("http://" + l.Admin + "/metrics")
	if err != nil {
		t.Fatalf("ledgerd's metrics: %v", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("ledgerd's metrics: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if number, found := strings.CutPrefix(line, name+" "); found {
			if value, err = strconv.ParseFloat(strings.TrimSpace(number), 64); err != nil {
				t.Fatalf("ledgerd's %s: %v", name, err)
			}
			return value
		}
	}
	t.Fatalf("%s is not among ledgerd's metrics (status %d)", name, response.StatusCode)
	return 0
}

// Row is a row of the ledger as people see it.
type Row struct {
	Attempt, State, Fingerprint string

	Runs          []string
	Status        int
	Action        json.RawMessage
	FencedCommits []string `json:"fenced_commits"`
}

// Rows gives the newest rows, at most so many records of them.
func (l *Ledgerd) Rows(t TB, limit int) []Row {
	t.Helper()
	var state struct{ Rows []Row }
	l.get(t, "/api/state?limit="+strconv.Itoa(limit), &state)
	return state.Rows
}

// Row gives the row of an attempt.
func (l *Ledgerd) Row(t TB, attempt string) (r Row) {
	t.Helper()
	l.get(t, "/api/rows/"+attempt, &r)
	return r
}

func (l *Ledgerd) get(t TB, path string, into any) {
	t.Helper()
	response, err := http.Get("http://" + l.Admin + path)
	if err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(into); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: status %d, %v", path, response.StatusCode, err)
	}
}

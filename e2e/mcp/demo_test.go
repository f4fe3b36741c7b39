package mcp_test

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"idem/e2e/envoytest"
)

// demo is the demo as it ships, started as `make demo` starts it, but on other addresses: its Envoy with envoy/demo.yaml,
// its ledgerd, its tool, which counts for itself what it did.
type demo struct {
	url string // of Envoy
}

// theDemo gives the demo, which the first test that asks starts.
var theDemo = sync.OnceValue(func() *demo {
	program := filepath.Join(all.TempDir(), "demo")
	if log, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "idem/e2e/demo").CombinedOutput(); err != nil {
		all.Fatalf("the demo cannot be built: %v\n%s", err, log)
	}
	listen := envoytest.FreeAddress(all)
	stop := envoytest.StartProgram(all, "the demo", []string{"TMPDIR=" + all.TempDir()}, program,
		"--config", envoytest.Artifact(all, "envoy/demo.yaml"), "--wasm", envoytest.Artifact(all, "bin/idem.wasm"),
		"--ledgerd", envoytest.Artifact(all, "bin/ledgerd"), "--envoy", envoytest.Artifact(all, ".tools/bin/envoy"),
		"--listen", listen, "--envoy-admin", envoytest.FreeAddress(all), "--ledgerd-listen", envoytest.FreeAddress(all),
		"--ledgerd-admin", envoytest.FreeAddress(all), "--tool", envoytest.FreeAddress(all))
	all.Cleanup(func() {
		if err := stop(); err != nil {
			all.Errorf("the demo does not stop well: %v", err)
		}
	})
	d := &demo{url: "http://" + listen}
	envoytest.Until(all, 3*time.Minute, "the demo to be ready", func() bool {
		response, err := http.Get(d.url + "/healthz")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return d
})

func (d *demo) mcp() string { return d.url + "/mcp" }

// executions gives what a tool did for a customer, by its own count.
func (d *demo) executions(t *testing.T, tool, customer string) (done []string) {
	t.Helper()
	response, err := http.Get(d.url + "/executions")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var count struct {
		Executions []struct {
			Tool     string
			Customer any
			RefundID string `json:"refund_id"`
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&count); err != nil {
		t.Fatalf("/executions: %v", err)
	}
	for _, e := range count.Executions {
		if of, _ := e.Customer.(string); e.Tool == tool && strings.EqualFold(of, customer) {
			done = append(done, e.RefundID)
		}
	}
	return done
}

// refundOf gives the id of a refund that the demo's tool made, and fails the test where it made none.
func refundOf(t *testing.T, a answer) string {
	t.Helper()
	var refund struct {
		RefundID string `json:"refund_id"`
	}
	if err := json.Unmarshal([]byte(a.text()), &refund); err != nil || a.Error != "" || a.IsError || !strings.HasPrefix(refund.RefundID, "re_") {
		t.Fatalf("the refund did not succeed: %s %s", a.Error, a.Result)
	}
	return refund.RefundID
}

// eachSDK runs a story with every client, each in every revision that it speaks here, at the demo's server.
func eachSDK(t *testing.T, story func(t *testing.T, d *demo, connect connects)) {
	d := theDemo()
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel() // the demo's tools take seconds
			story(t, d, k.connect)
		})
	}
}

func TestDemoListsItsTools(t *testing.T) {
	eachSDK(t, func(t *testing.T, d *demo, connect connects) {
		a := connect(t, d.mcp()).begin(command{Op: "tools"}).wait(t)
		var list struct{ Tools []struct{ Name string } }
		if err := json.Unmarshal(a.Result, &list); err != nil || a.Error != "" || len(list.Tools) != 4 {
			t.Errorf("the client sees %s %s", a.Error, a.Result)
		}
	})
}

func TestDemoMakesOneRefundOfTwoClientsSpellings(t *testing.T) {
	eachSDK(t, func(t *testing.T, d *demo, connect connects) {
		who := customer(t)
		a, b := connect(t, d.mcp()), connect(t, d.mcp())
		b.begin(command{Op: "tools"}).wait(t) // so that its next JSON-RPC id is another one than a's
		first, second := a.begin(refund(who)), b.begin(refundAgain(who))
		id := refundOf(t, first.wait(t))
		if got := refundOf(t, second.wait(t)); got != id {
			t.Errorf("one client got %s, the other %s", id, got)
		}
		if done := d.executions(t, "refund", who); len(done) != 1 || done[0] != id {
			t.Errorf("the tool made the refunds %v, want %s alone", done, id)
		}
	})
}

// Every SDK at once, as agents of several makes would be.
func TestDemoMakesOneRefundForClientsOfEverySDK(t *testing.T) {
	d, who := theDemo(), customer(t)
	var asked []*pending
	for i, k := range kinds {
		ask := refund(who)
		if i%2 == 1 {
			ask = refundAgain(who)
		}
		asked = append(asked, k.connect(t, d.mcp()).begin(ask))
	}
	id := refundOf(t, asked[0].wait(t))
	for i, p := range asked {
		if i == 0 {
			continue
		}
		if got := refundOf(t, p.wait(t)); got != id {
			t.Errorf("%s got %s, %s got %s", kinds[0].name, id, kinds[i].name, got)
		}
	}
	if done := d.executions(t, "refund", who); len(done) != 1 {
		t.Errorf("the tool made the refunds %v, want one", done)
	}
}

func TestDemoGivesARetryTheResultOfTheCallThatItsClientGaveUp(t *testing.T) {
	eachSDK(t, func(t *testing.T, d *demo, connect connects) {
		who := customer(t)
		c := connect(t, d.mcp())
		impatient := refund(who)
		impatient.Timeout = 1000 // a refund takes 2.5 s
		for len(d.executions(t, "refund", who)) == 0 {
			if a := c.begin(impatient).wait(t); a.Error == "" {
				t.Fatalf("the client did not give up: %s", a.Result)
			}
		}
		id := refundOf(t, c.begin(refund(who)).wait(t))
		if done := d.executions(t, "refund", who); len(done) != 1 || done[0] != id {
			t.Errorf("the tool made the refunds %v, the retry got %s", done, id)
		}
	})
}

func TestDemoTellsTheToolsFailureAndExecutesTheNextCall(t *testing.T) {
	eachSDK(t, func(t *testing.T, d *demo, connect connects) {
		who := customer(t)
		c := connect(t, d.mcp())
		for n := 1; n <= 2; n++ {
			if a := c.begin(call("fail", who)).wait(t); a.Error != "" || !a.IsError || !strings.Contains(a.text(), "the tool failed") || a.Meta.Problem.Code != "" {
				t.Errorf("the client got %s %s, want the tool's own error", a.Error, a.Result)
			}
			if done := d.executions(t, "fail", who); len(done) != n {
				t.Errorf("after %d calls the tool ran %d times", n, len(done))
			}
		}
	})
}

// The demo's tool slow is guarded inline.
func TestDemoTellsProgressWhileAToolRuns(t *testing.T) {
	eachSDK(t, func(t *testing.T, d *demo, connect connects) {
		who := customer(t)
		c := connect(t, d.mcp())
		slow := command{Op: "call", Name: "slow", Args: map[string]any{"customer": who, "seconds": 2}}
		running := c.begin(slow)
		first := running.wait(t)
		envoytest.Until(t, 0, "progress", func() bool { return len(running.progress) > 0 })
		again := c.begin(slow).wait(t)
		if first.Error != "" || first.IsError || first.text() == "" || again.text() != first.text() {
			t.Errorf("the client got %s %s, then %s %s", first.Error, first.Result, again.Error, again.Result)
		}
		if done := d.executions(t, "slow", who); len(done) != 1 {
			t.Errorf("the tool ran %d times, want once", len(done))
		}
	})
}

// In the demo a run is what a client is set to send as x-idem-run.
func TestDemoHoldsANewRunAndTellsTheModel(t *testing.T) {
	d := theDemo()
	base := customer(t)
	clients := []kind{kinds[2], kinds[3], kinds[4], kinds[5], kinds[6], kinds[7], kinds[8]}
	var first []*pending
	for i, k := range clients {
		first = append(first, k.connect(t, d.mcp(), "monday").begin(refund(string(rune('a'+i))+"-"+base)))
	}
	ids := make([]string, len(clients))
	for i, p := range first {
		ids[i] = refundOf(t, p.wait(t))
	}
	const window = 5 * time.Second // after it, a new run is no retry any more
	answered := time.Now()
	envoytest.Until(t, time.Minute, "the window to be over", func() bool { return time.Since(answered) > window })
	for i, k := range clients {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			who := string(rune('a'+i)) + "-" + base
			c := k.connect(t, d.mcp(), "tuesday")
			held := c.begin(refundAgain(who)).wait(t)
			hold := held.Meta.Problem.Hold.ID
			if held.Error != "" || !held.IsError || held.Meta.Problem.Code != "held" || hold == "" {
				t.Fatalf("another run's refund got %s %s, want a tool result that is held", held.Error, held.Result)
			}
			if text := held.text(); !strings.Contains(text, "Do not retry") || !strings.Contains(text, hold) {
				t.Errorf("the model is told %q", text)
			}
			if again := k.connect(t, d.mcp(), "monday").begin(refund(who)).wait(t); refundOf(t, again) != ids[i] {
				t.Errorf("the first run's retry got %s, want %s", again.Result, ids[i])
			}
			response, err := http.Post(d.url+"/api/release", "application/json", strings.NewReader(`{"id":"`+hold+`"}`))
			if err != nil {
				t.Fatal(err)
			}
			if response.Body.Close(); response.StatusCode != http.StatusOK {
				t.Fatalf("the release got %d", response.StatusCode)
			}
			second := refundOf(t, c.begin(refundAgain(who)).wait(t))
			if done := d.executions(t, "refund", who); len(done) != 2 || second == ids[i] {
				t.Errorf("after the release the model got %s; the tool made the refunds %v", second, done)
			}
		})
	}
}

package mcp_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"idem/e2e/envoytest"
)

// driver is a program with an SDK's clients in it, which ends when its input does. All tests share it: what takes long
// is its start.
type driver struct {
	in  io.Writer
	log bytes.Buffer

	mu       sync.Mutex
	last     int // id of a command
	sessions int
	under    map[int]*pending
}

// python has the clients of the Python SDK.
var python = sync.OnceValue(func() *driver {
	return startDriver(all, "", envoytest.Artifact(all, ".tools/mcp/python/bin/python"), envoytest.Artifact(all, "e2e/mcp/clients/client.py"))
})

// node has the clients of the TypeScript SDKs. Node looks for packages where it runs.
var node = sync.OnceValue(func() *driver {
	program := envoytest.Artifact(all, ".tools/mcp/node/node")
	script, err := os.ReadFile(envoytest.Artifact(all, "e2e/mcp/clients/client.mjs"))
	if err != nil {
		all.Fatalf("%v", err)
	}
	return startDriver(all, filepath.Dir(program), program, "--input-type=module", "-e", string(script))
})

func startDriver(t envoytest.TB, dir, program string, args ...string) *driver {
	d := &driver{under: map[int]*pending{}}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stderr = dir, &d.log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatalf("%v", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatalf("%v", err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", program, err)
	}
	d.in = in
	read := make(chan struct{})
	go func() {
		defer close(read)
		d.read(out)
	}()
	t.Cleanup(func() {
		in.Close()
		kill := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		<-read
		cmd.Wait()
		kill.Stop()
		if t.Failed() {
			t.Logf("what %s wrote:\n%s", filepath.Base(program), d.log.Bytes())
		}
	})
	return d
}

// driven connects a client in another program.
func driven(program func() *driver, sdk, revision string) connects {
	return func(t *testing.T, url string, run ...string) client {
		t.Helper()
		d := program()
		d.mu.Lock()
		d.sessions++
		s := &session{d, d.sessions}
		d.mu.Unlock()
		if a := s.begin(command{Op: "connect", SDK: sdk, URL: url, Revision: revision, Run: strings.Join(run, "")}).wait(t); a.Error != "" {
			t.Fatalf("the client does not connect: %s", a.Error)
		}
		t.Cleanup(func() { s.begin(command{Op: "close"}) })
		return s
	}
}

// session is one client in the program.
type session struct {
	*driver
	id int
}

func (s *session) begin(c command) *pending {
	p := newPending()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	c.ID, c.Session = s.last, s.id
	s.under[c.ID] = p
	line, err := json.Marshal(c)
	if err == nil {
		_, err = s.in.Write(append(line, '\n'))
	}
	if err != nil {
		p.end(err.Error(), nil)
	}
	return p
}

// read takes the clients' answers until the program ends.
func (d *driver) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var said struct {
			ID       int
			Progress *float64
			Error    string
			Result   json.RawMessage
		}
		if json.Unmarshal(lines.Bytes(), &said) != nil {
			continue
		}
		d.mu.Lock()
		p := d.under[said.ID]
		d.mu.Unlock()
		switch {
		case p == nil:
		case said.Progress != nil:
			p.progress <- *said.Progress
		default:
			p.end(said.Error, said.Result)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.under {
		p.end("the client's program has ended", nil)
	}
}

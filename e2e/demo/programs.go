package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// programs are the processes that the demo started. Each has a process group of its own, so that Ctrl-C reaches the
// demo alone, which then stops them in order.
type programs struct {
	dir     string // of their logs
	verbose bool

	running []*program
	ended   chan string // the name of one that ended by itself
}

type program struct {
	name string
	cmd  *exec.Cmd
	done chan struct{}
}

func (p *programs) start(name, path string, args ...string) error {
	if p.ended == nil {
		p.ended = make(chan string, 8)
	}
	file, err := os.Create(p.logFile(name))
	if err != nil {
		return err
	}
	var log io.Writer = file
	if p.verbose {
		log = io.MultiWriter(file, os.Stderr)
	}
	cmd := exec.Command(path, args...)
	// The demo's ledgerd is set up by its flags alone, whatever this shell has set for another one.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "LEDGERD_") })
	cmd.Stdout, cmd.Stderr = log, log
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		file.Close()
		return fmt.Errorf("start %s: %w", name, err)
	}
	one := &program{name: name, cmd: cmd, done: make(chan struct{})}
	p.running = append(p.running, one)
	go func() {
		_ = cmd.Wait() // how it ended stands in its log
		file.Close()
		close(one.done)
		p.ended <- name
	}()
	return nil
}

// patience is how long a program may take to get ready, on a machine that is busy with other things, and grace how long
// to stop. Who ends meanwhile is not waited for.
const (
	patience = 2 * time.Minute
	grace    = 5 * time.Second
)

// await waits until a URL answers 200, or a program ends, or it takes too long.
func (p *programs) await(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		if answers(ctx, url) {
			return nil
		}
		select {
		case name := <-p.ended:
			return fmt.Errorf("%s ended while it started:\n%s", name, p.logOf(name))
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return errors.New("stopped before everything was ready")
			}
			return fmt.Errorf("%s does not answer within %v (--verbose shows the logs)", url, patience)
		case <-again.C:
		}
	}
}

func answers(ctx context.Context, url string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// stop ends the programs, the last one first: Envoy before the ledger that it asks. Who does not go is killed.
func (p *programs) stop() {
	for i := len(p.running) - 1; i >= 0; i-- {
		one := p.running[i]
		signalGroup(one.cmd, false)
		select {
		case <-one.done:
			continue
		case <-time.After(grace):
		}
		fmt.Fprintf(os.Stderr, "demo: %s does not stop; it is killed\n", one.name)
		signalGroup(one.cmd, true)
		<-one.done
	}
}

func (p *programs) logFile(name string) string { return filepath.Join(p.dir, name+".log") }

// logOf gives the end of a program's log.
func (p *programs) logOf(name string) string {
	const most = 4096
	text, err := os.ReadFile(p.logFile(name))
	if err != nil {
		return err.Error()
	}
	if len(text) > most {
		text = text[len(text)-most:]
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			text = text[i+1:]
		}
	}
	return string(text)
}

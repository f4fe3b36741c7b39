package envoytest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Loss is what becomes of what Envoy asks ledgerd.
type Loss string

// The losses.
const (
	Question Loss = "the question is lost" // ledgerd never hears it, and Envoy that the connection broke
	Answer   Loss = "the answer is lost"   // ledgerd does it, and Envoy hears that the connection broke
	Silence  Loss = "silence"              // ledgerd never hears it, and Envoy hears nothing
)

// Line is the way from Envoy to a ledgerd: an address in place of ledgerd's that passes everything on, but for what a
// test wants to be lost.
type Line struct {
	Address string

	mu    sync.Mutex
	kinds []string // operations that are lost, with the batch that they are in
	how   Loss
	times int // batches that are still to be lost; below 0: all
	lost  int
}

// StartLine starts a line to a ledgerd. It stops when the test ends.
func StartLine(t TB, to *Ledgerd) *Line {
	t.Helper()
	line := &Line{}
	ended, end := context.WithCancel(context.Background())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		how := line.loses(body)
		switch how {
		case Question:
			breakConnection(w)
			return
		case Silence:
			select {
			case <-r.Context().Done():
			case <-ended.Done():
			}
			return
		}
		answer, err := pass(r, to.Address, body)
		if err != nil {
			breakConnection(w)
			return
		}
		defer answer.Body.Close()
		if how == Answer {
			breakConnection(w)
			return
		}
		w.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(w, answer.Body)
	}))
	t.Cleanup(func() {
		end()
		server.CloseClientConnections()
		server.Close()
	})
	line.Address = server.Listener.Addr().String()
	return line
}

// pass sends a request on to ledgerd.
func pass(r *http.Request, to string, body []byte) (*http.Response, error) {
	on, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+to+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	on.Header = r.Header.Clone()
	return client.Do(on)
}

// Lose makes the line lose the next batches with an operation of one of the kinds: so many, or all (0) until Restore.
func (line *Line) Lose(how Loss, times int, kinds ...string) {
	line.mu.Lock()
	defer line.mu.Unlock()
	line.how, line.times, line.kinds, line.lost = how, times, kinds, 0
	if times == 0 {
		line.times = -1
	}
}

// Restore makes the line whole again, and says how many batches were lost since Lose.
func (line *Line) Restore() (lost int) {
	line.mu.Lock()
	defer line.mu.Unlock()
	line.times, line.kinds = 0, nil
	return line.lost
}

func (line *Line) loses(body []byte) Loss {
	line.mu.Lock()
	defer line.mu.Unlock()
	if line.times == 0 {
		return ""
	}
	for _, kind := range line.kinds {
		if strings.Contains(string(body), `"op":"`+kind+`"`) {
			line.times--
			line.lost++
			return line.how
		}
	}
	return ""
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"idem/ledgerd/wire"
)

// asked is an operation on its way.
type asked struct {
	op     wire.Op
	answer chan wire.Answer
}

// link is a filter's way to ledgerd: at most one batch is under way, and what arrives meanwhile goes with the next.
type link struct {
	url    string
	client http.Client
	queue  chan *asked
	fail   func(error)
}

// mostTogether is how many operations one batch carries, as in the filter.
const mostTogether = 512

func newLink(ctx context.Context, address string, fail func(error)) *link {
	l := &link{url: "http://" + address + "/v1/ops", queue: make(chan *asked, 4096), fail: fail}
	l.client.Transport = &http.Transport{DisableCompression: true}
	go l.run(ctx)
	return l
}

func (l *link) run(ctx context.Context) {
	defer l.client.CloseIdleConnections()
	var batch []*asked
	var body []byte
	for {
		batch, body = batch[:0], body[:0]
		select {
		case q := <-l.queue:
			batch = append(batch, q)
		case <-ctx.Done():
			return
		}
		for full := false; !full && len(batch) < mostTogether; {
			select {
			case q := <-l.queue:
				batch = append(batch, q)
			default:
				full = true
			}
		}
		for _, q := range batch {
			body = wire.AppendOp(body, &q.op)
		}
		if err := l.send(ctx, body, batch); err != nil && ctx.Err() == nil {
			l.fail(err)
			return
		}
	}
}

func (l *link) send(ctx context.Context, body []byte, batch []*asked) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-ndjson")
	response, err := l.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d: %s", response.StatusCode, text)
	}
	n := 0
	for line := range wire.Lines(text) {
		a, err := wire.ReadAnswer(line)
		if err != nil {
			return err
		}
		if n < len(batch) {
			batch[n].answer <- a
		}
		n++
	}
	if n != len(batch) {
		return fmt.Errorf("%d answers to %d operations", n, len(batch))
	}
	return nil
}

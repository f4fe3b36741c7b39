package ordeal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"idem/ledgerd/wire"
)

// link is a filter's way to the data API.
type link struct {
	address atomic.Value // string: it may move
	client  *http.Client
}

func newLink(address string) *link {
	l := &link{client: &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 64, DisableCompression: true, ResponseHeaderTimeout: time.Minute,
	}}}
	l.move(address)
	return l
}

func (l *link) move(address string) { l.address.Store(address) }

// errCutShort says that a reply began and did not end.
var errCutShort = errors.New("the reply was cut short")

// send gives the answers to the first operations of a batch: all of them, or fewer and the reason. Each that came whole
// counts.
func (l *link) send(ctx context.Context, ops []wire.Op) ([]wire.Answer, error) {
	var body []byte
	for i := range ops {
		body = wire.AppendOp(body, &ops[i])
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+l.address.Load().(string)+"/v1/ops", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-ndjson")
	response, err := l.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusOK {
		return nil, &refusedError{response.StatusCode, response.Header.Get("Retry-After"), string(text)}
	}
	var answers []wire.Answer
	for len(answers) < len(ops) {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			return answers, fmt.Errorf("%w after %d of %d answers: %w", errCutShort, len(answers), len(ops), errors.Join(err, io.ErrUnexpectedEOF))
		}
		a, err := wire.ReadAnswer(line)
		if err != nil {
			return answers, fmt.Errorf("answer %d, %q: %w", len(answers), line, err)
		}
		answers, text = append(answers, a), rest
	}
	return answers, nil
}

// refusedError is a reply that refuses a whole batch.
type refusedError struct {
	status     int
	retryAfter string
	body       string
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("status %d, retry-after %q: %s", e.status, e.retryAfter, e.body)
}

package ordeal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"idem/ledgerd/wire"
)

// server is a ledgerd that comes and goes, as its client sees it: whoever gets no answer waits until it is back, and
// asks again.
type server struct {
	link     *link
	answered atomic.Int64 // operations
	cut      atomic.Int64 // replies that began and did not end

	mu    sync.Mutex
	epoch int
	back  chan struct{} // closed when the next epoch begins
}

func newServer(address string) *server {
	return &server{link: newLink(address), back: make(chan struct{})}
}

// restarted says that the server is there again. The connections to its predecessor are of no use any more.
func (s *server) restarted() {
	s.link.client.CloseIdleConnections()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	close(s.back)
	s.back = make(chan struct{})
}

func (s *server) now() (epoch int, back <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch, s.back
}

// ask sends one operation. An error says that there was no answer, and comes once the server is back: what became of the
// operation is not known.
func (s *server) ask(ctx context.Context, op wire.Op) (wire.Answer, error) {
	epoch, back := s.now()
	answers, err := s.link.send(ctx, []wire.Op{op})
	if len(answers) == 1 {
		s.answered.Add(1)
		if a := answers[0]; a.Kind != wire.AnswerError || a.Code != wire.CodeUnavailable {
			return a, nil
		}
		// It is stopping, or its store fails.
		return answers[0], fmt.Errorf("%s: %s", answers[0].Code, answers[0].Detail)
	}
	if errors.Is(err, errCutShort) {
		s.cut.Add(1)
	}
	if now, _ := s.now(); now == epoch {
		select {
		case <-back:
		case <-ctx.Done():
			return wire.Answer{}, fmt.Errorf("no answer, and nothing came back: %w", errors.Join(err, ctx.Err()))
		}
	}
	return wire.Answer{}, err
}

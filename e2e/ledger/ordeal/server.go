package ordeal

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"idem/ledgerd/wire"
)

// server is one ledger behind one or more ledgerds that come and go, as a client sees it: whoever gets no answer asks
// again, somewhere.
type server struct {
	links    []*link
	next     atomic.Int64
	answered atomic.Int64 // operations
	cut      atomic.Int64 // replies that began and did not end
}

func newServer(addresses ...string) *server {
	s := &server{}
	for _, address := range addresses {
		s.links = append(s.links, newLink(address))
	}
	return s
}

// link gives one of the ledgerds after the other.
func (s *server) link() *link { return s.links[int(s.next.Add(1))%len(s.links)] }

// pause is how long a client waits before it asks again, so that it does not take the processors from what it waits for.
const pause = 3 * time.Millisecond

// ask sends one operation. An error says that what became of the operation is not known: there was no answer, or the
// ledger does not know either.
func (s *server) ask(ctx context.Context, op wire.Op) (wire.Answer, error) {
	var a wire.Answer
	answers, err := s.link().send(ctx, []wire.Op{op})
	if len(answers) == 1 {
		s.answered.Add(1)
		if a = answers[0]; a.Kind != wire.AnswerError || a.Code != wire.CodeUnavailable {
			return a, nil
		}
		err = fmt.Errorf("%s: %s", a.Code, a.Detail)
	}
	if errors.Is(err, errCutShort) {
		s.cut.Add(1)
	}
	again := time.NewTimer(pause)
	defer again.Stop()
	select {
	case <-again.C:
	case <-ctx.Done():
		err = errors.Join(err, ctx.Err())
	}
	return a, err
}

package nodes

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/ledgerd/wire"
)

// A node that gets no notifications finds what it waits for by polling. Its waits end by what another node wrote, long
// before they are over themselves, and so do those after its ears are open again.
func TestANodeThatHearsNothingFindsItByPolling(t *testing.T) {
	for _, at := range everywhere {
		t.Run(at.name, func(t *testing.T) {
			s := at.start(t)
			between := newProxy(t, s)
			envoytest.MakeStore(t, s.url)
			one := envoytest.StartLedgerd(t, "", "--store", s.url)
			deaf := envoytest.StartLedgerd(t, "", "--store", s.by(between.address()))
			between.letNobodyListen()
			envoytest.Until(t, 0, "the node to miss its notifications", func() bool { return between.refused() > 0 })

			var slowest time.Duration
			for n := range 4 {
				committed, failed := newCall("committed", n), newCall("failed", n)
				for c, end := range map[call]wire.Op{committed: committed.commit(), failed: failed.fail()} {
					ask(t, one, c.execute(), wire.AnswerExecute)
					over := make(chan error, 1)
					began := waits(t, deaf)
					go func() {
						a, err := send(t.Context(), deaf, c.await(time.Minute))
						if err == nil && a.Kind != wire.AnswerResult && a.Kind != wire.AnswerFailed {
							err = fmt.Errorf("got %s", wire.AppendAnswer(nil, &a))
						}
						over <- err
					}()
					envoytest.Until(t, 0, "the wait", func() bool { return waits(t, deaf) > began })
					at := time.Now()
					ask(t, one, end, wire.AnswerOK)
					if err := <-over; err != nil {
						t.Fatalf("who waits for %s: %v", c.name, err)
					}
					slowest = max(slowest, time.Since(at))
				}
			}
			t.Logf("the slowest of 8 waits ended %v after the other node's write; %d attempts to listen were refused", slowest.Round(time.Millisecond), between.refused())
		})
	}
}

// waits reads how many waits a ledgerd has under way.
func waits(t *testing.T, l *envoytest.Ledgerd) float64 {
	t.Helper()
	return l.Gauge(t, "idem_waits_under_way")
}

func ask(t *testing.T, l *envoytest.Ledgerd, op wire.Op, want wire.AnswerKind) {
	t.Helper()
	if a, err := send(t.Context(), l, op); err != nil || a.Kind != want {
		t.Fatalf("%s %s gets %s, %v; want %s", op.Kind, op.Attempt, wire.AppendAnswer(nil, &a), err, want)
	}
}

func send(ctx context.Context, l *envoytest.Ledgerd, op wire.Op) (wire.Answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+l.Address+"/v1/ops", bytes.NewReader(wire.AppendOp(nil, &op)))
	if err != nil {
		return wire.Answer{}, err
	}
	r.Header.Set("Content-Type", "application/x-ndjson")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return wire.Answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return wire.Answer{}, fmt.Errorf("status %d: %s, %w", response.StatusCode, text, err)
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return wire.ReadAnswer(line)
}

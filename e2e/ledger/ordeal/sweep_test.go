package ordeal

import (
	"context"
	"fmt"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/ledgerd/wire"
)

// The retention of ten thousand calls ends at one moment. While they are swept, calls are answered as at any other time:
// many are asked and answered after the first has gone and before the last has.
func TestCallsAreAnsweredWhileABacklogIsSwept(t *testing.T) {
	const backlog = 10_000
	for _, at := range everywhere {
		t.Run(at.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			l := at.start(t)
			swept := func() (n int64) {
				for _, d := range l.ledgerds {
					n += d.Counter(t, "expired")
				}
				return n
			}
			first := fill(ctx, t, l, backlog, swept)
			envoytest.Until(t, time.Minute, "the sweep", func() bool { return swept() > first })

			work := startLoad(ctx, l.server(), "new", callers, 1)
			meanwhile := int64(0) // answers before a look that found something left
			envoytest.Until(t, 2*time.Minute, "the end of the sweep", func() bool {
				answered := work.server.answered.Load()
				if swept() == first+backlog {
					return true
				}
				meanwhile = answered
				return false
			})
			work.finish()
			again(ctx, t, work.server, work.books, 0)
			t.Logf("%d answers while %d calls were swept", meanwhile, backlog)
			if meanwhile < callers {
				t.Errorf("%d callers got %d answers during the sweep: it held them up", callers, meanwhile)
			}
		})
	}
}

// fill makes n committed calls whose retention ends at one moment, later than the last is made. It gives how many rows
// had gone by then, of tries that took too long.
func fill(ctx context.Context, t *testing.T, l ledgers, n int, swept func() int64) int64 {
	t.Helper()
	for try, term := 0, 8*time.Second; ; try, term = try+1, 3*term {
		before := swept()
		fillUntil(ctx, t, l, n, fmt.Sprint("old-", try, "-"), term)
		if swept() == before {
			return before
		}
		envoytest.Until(t, 2*time.Minute, "the sweep of what took too long to make", func() bool { return swept() == before+int64(n) })
	}
}

func fillUntil(ctx context.Context, t *testing.T, l ledgers, n int, name string, term time.Duration) {
	t.Helper()
	const batch = 500
	to := newLink(l.ledgerds[0].Address)
	send := func(ops []wire.Op, want wire.AnswerKind) (now int64) {
		t.Helper()
		answers, err := to.send(ctx, ops)
		if err != nil {
			t.Fatal(err)
		}
		for i := range answers {
			if now = answers[i].Now; answers[i].Kind != want {
				t.Fatalf("%s of %s: %s", ops[i].Kind, ops[i].Attempt, show(&answers[i]))
			}
		}
		return now
	}
	now := send([]wire.Op{{Kind: wire.OpFetch, Attempt: "nobody", Intent: digest("nobody")}}, wire.AnswerGone)
	end := now + term.Milliseconds()
	for first := 0; first < n; first += batch {
		under := *rule()
		under.RetentionMS = max(end-now, 1)
		var reserves, commits []wire.Op
		for i := first; i < min(first+batch, n); i++ {
			id := name + fmt.Sprint(i)
			reserves = append(reserves, wire.Op{Kind: wire.OpReserve, Attempt: id, Intent: digest(id), Fingerprint: digest(id), Rule: &under, NotAfter: now + 60_000})
			commits = append(commits, wire.Op{Kind: wire.OpCommit, Attempt: id, Intent: digest(id), Result: &wire.Result{Status: 200, Body: []byte(id)}})
		}
		send(reserves, wire.AnswerExecute)
		now = send(commits, wire.AnswerOK)
	}
}

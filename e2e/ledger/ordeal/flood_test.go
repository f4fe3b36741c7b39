package ordeal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/ledgerd/wire"
)

// Many more operations come at once than ledgerd may have under way. Each is granted or refused in words that say when to
// come again; what is granted holds; executions that are under way are not refused their end; and memory stays bounded.
func TestAFloodIsRefusedInWordsAndExecutionsEnd(t *testing.T) {
	const (
		queued   = 500
		links    = 64
		batch    = 500
		batches  = 4 // of each link
		underWay = 100
		mostMiB  = 400
	)
	l := envoytest.StartLedgerd(t, "", "--max-queued-operations", fmt.Sprint(queued))
	s := newServer(l.Address)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	before := make([]*callBook, underWay)
	for i := range before {
		b := newCallBook(fmt.Sprint("before-", i))
		before[i] = b
		op := wire.Op{Kind: wire.OpReserve, Attempt: b.name, Intent: b.intent, Fingerprint: b.call, Run: "run0", Rule: rule()}
		if a, err := s.ask(ctx, op); err != nil || a.Kind != wire.AnswerExecute {
			t.Fatalf("reserve: %s, %v", show(&a), err)
		}
		b.executed, b.joined["run0"] = 1, b.name
	}

	var granted, refused atomic.Int64
	var all sync.WaitGroup
	for n := range links {
		all.Go(func() {
			own := newLink(l.Address)
			for k := range batches {
				ops := make([]wire.Op, batch)
				for i := range ops {
					id := fmt.Sprintf("flood-%d-%d-%d", n, k, i)
					ops[i] = wire.Op{Kind: wire.OpReserve, Attempt: id, Intent: digest(id), Fingerprint: digest(id), Run: "run0", Rule: rule()}
				}
				answers, err := own.send(ctx, ops)
				if err != nil {
					t.Errorf("a batch: %v", err)
				}
				for i := range answers {
					switch a := &answers[i]; {
					case a.Kind == wire.AnswerExecute:
						granted.Add(1)
					case a.Kind == wire.AnswerRefused && a.Code == wire.CodeOverloaded && a.RetryAfterMS > 0:
						refused.Add(1)
					default:
						t.Errorf("a reserve in the flood gets %s", show(a))
					}
				}
			}
		})
	}
	envoytest.Until(t, time.Minute, "refusals", func() bool { return refused.Load() > 0 })
	for _, b := range before {
		result := "result of " + b.name
		op := wire.Op{Kind: wire.OpCommit, Attempt: b.name, Intent: b.intent, Result: &wire.Result{Status: 201, Body: []byte(result)}}
		if a, err := s.ask(ctx, op); err != nil || a.Kind != wire.AnswerOK {
			t.Errorf("a commit in the flood gets %s, %v", show(&a), err)
		}
		b.committed[b.name] = result
	}
	all.Wait()
	again(ctx, t, s, before, 0)
	t.Logf("%d granted, %d refused; at most %d MiB of memory", granted.Load(), refused.Load(), mostMemory(t, l.PID())>>20)
	if got := l.Counter(t, "granted"); got != granted.Load()+underWay {
		t.Errorf("the ledger granted %d reserves, and %d were told so", got, granted.Load()+underWay)
	}
	if most := mostMemory(t, l.PID()); most > mostMiB<<20 {
		t.Errorf("it took %d MiB of memory, want at most %d", most>>20, mostMiB)
	}
}

// Large batches come over many connections at once. Those that find no room are refused whole, before they are read.
func TestAFloodOfLargeBatchesTakesBoundedMemory(t *testing.T) {
	const (
		links   = 48
		size    = 24 << 20 // of one batch
		mostMiB = 900
	)
	l := envoytest.StartLedgerd(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	line := wire.AppendOp(nil, &wire.Op{Kind: wire.OpCommit, Attempt: "nobody", Intent: digest("i"), Result: &wire.Result{Status: 200, Body: make([]byte, 1<<20)}})
	large := bytes.Repeat(line, size/len(line))
	var done, refused atomic.Int64
	var all sync.WaitGroup
	for range links {
		all.Go(func() {
			for ctx.Err() == nil {
				request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+l.Address+"/v1/ops", bytes.NewReader(large))
				if err != nil {
					t.Error(err)
					return
				}
				request.Header.Set("Content-Type", "application/x-ndjson")
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Errorf("a large batch: %v", err)
					return
				}
				response.Body.Close()
				switch {
				case response.StatusCode == http.StatusOK:
					done.Add(1)
					return
				case response.StatusCode == http.StatusTooManyRequests && response.Header.Get("Retry-After") != "":
					refused.Add(1)
				default:
					t.Errorf("a large batch gets status %d, retry-after %q", response.StatusCode, response.Header.Get("Retry-After"))
					return
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d batches of %d MiB done, %d refused for a while; at most %d MiB of memory", done.Load(), size>>20, refused.Load(), mostMemory(t, l.PID())>>20)
	if most := mostMemory(t, l.PID()); most > mostMiB<<20 {
		t.Errorf("it took %d MiB of memory, want at most %d", most>>20, mostMiB)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("only %d of %d batches were done in %v", done.Load(), links, patience)
	}
}

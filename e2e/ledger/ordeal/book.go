package ordeal

import (
	"fmt"
	"sync"

	"idem/ledgerd/wire"
)

// callBook is one call with all that was answered about it.
type callBook struct {
	name         string
	intent, call string // 64 hex digits

	mu        sync.Mutex
	executed  int               // by the client's own count
	failed    int               // of these, those whose definite failure was acknowledged
	ended     []string          // attempts whose failure was acknowledged
	committed map[string]string // attempts whose commit was acknowledged, and their results
	heard     map[string]string // attempts whose result somebody was given, and the result
	joined    map[string]string // runs that were told to wait, and for which attempt
	held      map[string]string // runs that were held, and by which hold
	wrong     []string
}

func newCallBook(name string) *callBook {
	return &callBook{
		name: name, intent: digest("intent", name), call: digest("fingerprint", name),
		committed: map[string]string{}, heard: map[string]string{}, joined: map[string]string{}, held: map[string]string{},
	}
}

func (b *callBook) note(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

// complain takes down what should not be. The caller holds mu.
func (b *callBook) complain(format string, args ...any) {
	b.wrong = append(b.wrong, b.name+": "+fmt.Sprintf(format, args...))
}

// result takes down that somebody was given an attempt's result.
func (b *callBook) result(a *wire.Answer) {
	b.note(func() {
		if a.Result == nil {
			b.complain("%s of %s without a result: %s %s", a.Kind, a.Attempt, a.Missing, a.Detail)
			return
		}
		got := string(a.Result.Body)
		if was, known := b.heard[a.Attempt]; known && was != got {
			b.complain("the result of %s was %q and is now %q", a.Attempt, was, got)
		}
		b.heard[a.Attempt] = got
	})
}

// questions asks the ledger again what it has answered, each with what the answer must be. That an attempt has ended need
// be known only while its reserve may still be under way: later asks for it no more.
func (b *callBook) questions(try int, later bool) (ops []wire.Op, checks []func(*wire.Answer)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ask := func(run, attempt string, check func(*wire.Answer)) {
		ops = append(ops, wire.Op{Kind: wire.OpReserve, Attempt: attempt, Intent: b.intent, Fingerprint: b.call, Run: run, Rule: rule()})
		checks = append(checks, check)
	}
	if open := b.executed - b.failed; open > 1 {
		b.complain("it was executed %d times, and %d of them failed", b.executed, b.failed)
	}
	if len(b.committed) > 1 {
		b.complain("%d attempts were committed", len(b.committed))
	}
	for attempt, got := range b.heard {
		if want, ok := b.committed[attempt]; !ok || want != got {
			b.complain("somebody was given %q of %s, whose commit was acknowledged: %t, with %q", got, attempt, ok, want)
		}
	}
	ended := b.ended
	if later {
		ended = nil
	}
	for _, attempt := range ended {
		ask("whoever", attempt, func(a *wire.Answer) {
			if a.Code != wire.CodeEnded {
				b.complain("the attempt %s has failed, and a reserve with it gets %s", attempt, show(a))
			}
		})
	}
	for attempt, body := range b.committed {
		// Whoever was told to wait for it belongs to it, and whoever has no run.
		runs := []string{""}
		for run, waited := range b.joined {
			if waited == attempt {
				runs = append(runs, run)
			}
		}
		for _, run := range runs {
			ask(run, fmt.Sprintf("again-%d-%s-%s", try, run, attempt), func(a *wire.Answer) {
				if a.Kind != wire.AnswerReplay || a.Attempt != attempt || a.Result == nil || string(a.Result.Body) != body {
					b.complain("%s was committed with %q, and run %q gets %s", attempt, body, run, show(a))
				}
			})
		}
	}
	for run, hold := range b.held {
		ask(run, fmt.Sprintf("held-%d-%s-%s", try, run, b.name), func(a *wire.Answer) {
			if a.Kind != wire.AnswerHeld || a.Hold.ID != hold {
				b.complain("run %s was held by %s, and gets %s", run, hold, show(a))
			}
		})
	}
	return ops, checks
}

func show(a *wire.Answer) string { return string(wire.AppendAnswer(nil, a)) }

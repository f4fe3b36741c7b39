package ledger

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"idem/ledgerd/wire"
)

// started gives what a further node over a store warns of when it starts.
func (b *book) started(change ...func(*Options)) string {
	b.t.Helper()
	var log bytes.Buffer
	openOver(b.t, b.clock, &watched{Store: b.kept.Store}, append([]func(*Options){shared, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}}, change...)...)
	return log.String()
}

func TestANodeThatStoresSomethingElseOfACallSaysSo(t *testing.T) {
	b := open(t, shared)
	if log := b.started(); log != "" {
		t.Errorf("a node like the first warns: %s", log)
	}
	redacts := func(o *Options) { o.Actions = Actions{Keep: KeepRedacted, Pointers: []string{"/card"}} }
	log := b.started(redacts)
	for _, want := range []string{"keep=redacted redact=[/card]", "keep=full redact=[]", "same settings"} {
		if !strings.Contains(log, want) {
			t.Errorf("the warning lacks %q: %s", want, log)
		}
	}
	if log := b.started(redacts); log != "" {
		t.Errorf("a restart with what the others have by now warns: %s", log)
	}
	if log := b.started(redacts, func(o *Options) { o.MaxResultBytes = 1 << 10 }); !strings.Contains(log, "max_result_bytes=1024") {
		t.Errorf("another limit of results: %q", log)
	}
}

// Of two nodes, or before and after a restart, one may store larger results than the other: it gives what is there.
func TestALargerResultThanThisNodeStoresIsGivenWhole(t *testing.T) {
	one := open(t, shared)
	other := openOver(t, one.clock, &watched{Store: one.kept.Store}, shared, func(o *Options) { o.InlineBytes, o.MaxResultBytes = 100, 1000 })
	body := strings.Repeat("x", 5000)
	committed(one, body)
	if a := other.must(wire.AnswerReplay, reserve("a2", "i", "f", "r")); !a.Fetch {
		t.Fatalf("the replay is to be fetched, got %s", show(a))
	}
	a := other.must(wire.AnswerResult, fetch("a1", "i"))
	if a.Fetch || a.Result == nil || string(a.Result.Body) != body {
		t.Errorf("the fetch got %s", show(a))
	}
}

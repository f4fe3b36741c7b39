package ledger

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/wire"
)

func committed(b *book, body string, change ...func(*wire.Op)) {
	b.t.Helper()
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r", change...))
	b.must(wire.AnswerOK, commit("a1", "i", body))
}

func TestALargeResultIsFetched(t *testing.T) {
	b := open(t)
	body := strings.Repeat("x", 64<<10+1)
	committed(b, body)
	for _, op := range []wire.Op{reserve("a2", "i", "f", "r"), await("a1", "i", 0)} {
		if a := b.do(op); !a.Fetch || a.Result != nil || a.Attempt != "a1" {
			t.Errorf("%s: got %s", op.Kind, show(a))
		}
	}
	b.same("fetched", b.must(wire.AnswerResult, fetch("a1", "i")).Result, reply(201, body))
	b.forget()
	b.same("fetched from the store", b.must(wire.AnswerResult, fetch("a1", "i")).Result, reply(201, body))
	b.must(wire.AnswerGone, fetch("a2", "i"))
	b.must(wire.AnswerGone, fetch("a1", "another"))
}

func TestTheFailureThatWasKeptIsFetchedToo(t *testing.T) {
	b := open(t)
	body := strings.Repeat("x", 64<<10+1)
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
	b.must(wire.AnswerOK, fail("a1", "i", wire.ClassDefinite, reply(500, body)))
	if a := b.must(wire.AnswerFailed, await("a1", "i", 0)); !a.Fetch {
		t.Errorf("got %s", show(a))
	}
	b.same("fetched", b.must(wire.AnswerResult, fetch("a1", "i")).Result, reply(500, body))
}

func TestATooLargeResultIsCommittedWithoutItsBytes(t *testing.T) {
	small := func(op *wire.Op) { op.Rule.MaxResultBytes = 10 }
	large := func(op *wire.Op) { op.Rule.MaxResultBytes = 4 << 20 }
	for _, c := range []struct {
		name    string
		size    int
		rule    func(*wire.Op)
		missing bool
	}{
		{"over the rule's limit", 11, small, true},
		{"at the rule's limit", 10, small, false},
		{"over the default limit", 1<<20 + 1, func(*wire.Op) {}, true},
		{"within a larger limit", 1<<20 + 1, large, false},
		{"over the ledger's limit", 2<<20 + 1, large, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, func(o *Options) { o.MaxResultBytes = 2 << 20 })
			committed(b, strings.Repeat("x", c.size), c.rule)
			b.must(wire.AnswerOK, commit("a1", "i", strings.Repeat("x", c.size)))
			b.must(wire.AnswerFenced, commit("a1", "i", strings.Repeat("y", c.size)))
			a := b.must(wire.AnswerReplay, reserve("a2", "i", "f", "r"))
			if got := a.Missing == wire.MissingTooLarge; got != c.missing {
				t.Errorf("missing: %q", a.Missing)
			}
			_, err := b.kept.Result(t.Context(), storedName(hash("i"), "a1"))
			if stored := err == nil; stored == c.missing {
				t.Errorf("stored: %v, %v", stored, err)
			}
		})
	}
}

func TestTheFilterMayLeaveOutAResultThatIsTooLarge(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
	op := commit("a1", "i", "")
	op.Result, op.Missing = &wire.Result{Status: 200}, wire.MissingTooLarge
	b.must(wire.AnswerOK, op)
	if a := b.must(wire.AnswerReplay, reserve("a2", "i", "f", "r")); a.Missing != wire.MissingTooLarge {
		t.Errorf("got %s", show(a))
	}
}

func TestAResultThatIsNotTheOneTheRecordNamesIsGivenToNobody(t *testing.T) {
	b := open(t)
	committed(b, "mine")
	b.must(wire.AnswerExecute, reserve("z1", "z", "z", "r"))
	for name, other := range map[string][]byte{
		"another reply":   encodeResult(hash("i"), reply(201, "other")),
		"another intent":  encodeResult(hash("z"), reply(201, "mine")),
		"no reply at all": []byte("garbage"),
		"nothing":         {},
	} {
		t.Run(name, func(t *testing.T) {
			rec, err := b.kept.Load(t.Context(), hash("z"))
			if err != nil {
				t.Fatal(err)
			}
			w := store.Write{Key: hash("z"), Expect: rec.Version, Data: rec.Data, Put: []store.Result{{Attempt: storedName(hash("i"), "a1"), Data: other}}}
			if _, err := b.kept.Store.Swap(context.Background(), w); err != nil {
				t.Fatal(err)
			}
			b.forget()
			if a := b.must(wire.AnswerReplay, reserve("a2", "i", "f", "r")); a.Missing != wire.MissingErased || a.Result != nil {
				t.Errorf("got %s", show(a))
			}
		})
	}
}

func TestTwoCallsWithOneAttemptIdNeverSwapTheirResults(t *testing.T) {
	b := open(t)
	committed(b, "i's")
	b.must(wire.AnswerExecute, reserve("a1", "j", "g", "r"))
	b.must(wire.AnswerOK, commit("a1", "j", "j's"))
	for _, forget := range []bool{false, true} {
		if forget {
			b.forget()
		}
		for intent, want := range map[string]string{"i": "i's", "j": "j's"} {
			a := b.must(wire.AnswerReplay, reserve("a2", intent, map[string]string{"i": "f", "j": "g"}[intent], "r"))
			if a.Result == nil || string(a.Result.Body) != want {
				t.Errorf("%s got %s", intent, show(a))
			}
		}
	}
}

// What an earlier ledgerd stored stands under the attempt alone: it is replayed, and goes with its record.
func TestResultsThatAnEarlierLedgerdStoredAreReplayedAndRemoved(t *testing.T) {
	b := open(t)
	committed(b, "done")
	data, err := b.kept.Result(t.Context(), storedName(hash("i"), "a1"))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := b.kept.Load(t.Context(), hash("i"))
	if err != nil {
		t.Fatal(err)
	}
	w := store.Write{Key: hash("i"), Expect: rec.Version, Data: rec.Data, Put: []store.Result{{Attempt: "a1", Data: data}}, Drop: []string{storedName(hash("i"), "a1")},
		Entries: []store.Entry{{Index: store.Due, At: b.clock.now()}}}
	if _, err := b.kept.Store.Swap(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	b.forget()
	b.same("replayed", b.must(wire.AnswerReplay, reserve("a2", "i", "f", "r")).Result, reply(201, "done"))
	b.pass(25 * time.Hour)
	b.sweep(t.Context())
	if _, err := b.stored(t.Context(), hash("i"), "a1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after retention: %v, want ErrNotFound", err)
	}
}

func TestStoredResultsAreReadBackByteForByte(t *testing.T) {
	for _, r := range []*wire.Result{
		{Status: 204}, {Status: 201, Headers: [][2]string{{"a", ""}, {"b", "\xff\x00"}}, Body: []byte{0, 1, 0xff}},
	} {
		b := encodeResult("intent", r)
		got, err := decodeResult(b)
		if err != nil || got.intent != "intent" || !reflect.DeepEqual(&got.Result, r) {
			t.Errorf("got %+v, %v, want %+v", got, err, r)
		}
		for cut := range len(b) - len(r.Body) {
			if got, err := decodeResult(b[:cut]); err == nil {
				t.Errorf("cut at %d it reads as %+v", cut, got)
			}
		}
	}
}

func FuzzDecodeResult(f *testing.F) {
	f.Add(encodeResult("intent", reply(200, "x")))
	f.Add([]byte("1\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeResult(b)
		if err != nil {
			return
		}
		again, err := decodeResult(encodeResult(r.intent, &r.Result))
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("%q: %+v, then %+v, %v", b, r, again, err)
		}
	})
}

func TestAResultInMemoryIsThatOfItsBytes(t *testing.T) {
	// A failure and the late commit of one attempt stand under one name in the store.
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
	b.must(wire.AnswerOK, fail("a1", "i", wire.ClassDefinite, reply(500, "no")))
	b.must(wire.AnswerFailed, await("a1", "i", 0))
	b.must(wire.AnswerOK, commit("a1", "i", "yes"))
	a := b.must(wire.AnswerResult, await("a1", "i", 0))
	if !bytes.Equal(a.Result.Body, []byte("yes")) {
		t.Errorf("got %s", show(a))
	}
	b.pass(3 * time.Minute)
	b.forget()
	b.same("after the failure's time", b.must(wire.AnswerReplay, reserve("a2", "i", "f", "r")).Result, reply(201, "yes"))
}

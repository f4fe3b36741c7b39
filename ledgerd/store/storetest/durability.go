package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"idem/ledgerd/store"
)

var durability = map[string]func(*testing.T, *place){
	"EverythingIsThereAfterReopening": func(t *testing.T, p *place) {
		va := p.create("a", "a1", store.Entry{Index: store.Holds, ID: "h", At: at(1)}, store.Entry{Index: store.Due, At: at(2)})
		vb := p.swap(store.Write{Key: Key("b"), Data: []byte("b1"), Put: []store.Result{{Attempt: "att", Data: []byte("result")}}})
		vc := p.create("c", "c1")
		p.swap(store.Write{Key: Key("c"), Expect: vc})
		p.set("grace", "x")
		p.reopen()
		if a, b := p.load("a"), p.load("b"); a.Version != va || b.Version != vb {
			t.Errorf("got versions %d, %d, want %d, %d", a.Version, b.Version, va, vb)
		}
		p.wantContent("a", "a1")
		p.wantContent("b", "b1")
		p.wantResult("att", "result")
		p.wantSetting("grace", "x")
		p.wantEntries(store.Holds, store.Entry{ID: "h", Key: Key("a"), At: at(1)})
		p.wantEntries(store.Due, store.Entry{Key: Key("a"), At: at(2)})
		p.wantNewest(10, "b", "a")
		p.swap(store.Write{Key: Key("a"), Expect: va, Data: []byte("a2")})
		p.wantEntries(store.Holds)
		p.wantEntries(store.Due)
	},
	"VersionsGoOnAfterReopening": func(t *testing.T, p *place) {
		given := map[uint64]bool{}
		for range 4 {
			v := p.create("a", "x")
			if given[v] {
				t.Fatalf("version %d was given before", v)
			}
			given[v] = true
			p.swap(store.Write{Key: Key("a"), Expect: v})
			p.reopen()
			if _, err := p.Swap(context.Background(), store.Write{Key: Key("a"), Expect: v, Data: []byte("late")}); !errors.Is(err, store.ErrConflict) {
				t.Fatalf("a write at a removed version: got %v, want ErrConflict", err)
			}
		}
	},
	"NowDoesNotStepBackOverARestart": func(t *testing.T, p *place) {
		decided := at(500).Add(time.Nanosecond)
		p.swap(store.Write{Key: Key("a"), Data: []byte("x"), Now: decided})
		p.swap(store.Write{Key: Key("b"), Data: []byte("x"), Now: at(3)})
		p.clock.Set(at(10)) // the machine's clock was put back while ledgerd was down
		p.reopen()
		if now := p.now(); now.Before(decided) {
			t.Errorf("got %v, which is before %v", now, decided)
		}
		p.clock.Set(at(600))
		if now := p.now(); !now.Equal(at(600)) {
			t.Errorf("got %v, want %v", now, at(600))
		}
	},
	"AResetIsDurable": func(t *testing.T, p *place) {
		v := p.create("a", "x", store.Entry{Index: store.Holds, ID: "h", At: at(1)})
		if err := p.Reset(context.Background()); err != nil {
			t.Fatalf("Reset: %v", err)
		}
		p.reopen()
		p.wantNewest(10)
		p.wantEntries(store.Holds)
		if again := p.create("a", "x"); again == v {
			t.Errorf("version %d was given again", v)
		}
	},
	"WhatWasWrittenAtOnceIsAllThere": func(t *testing.T, p *place) {
		const writers, each = 16, 25
		together(writers, func(i int) {
			for n := range each {
				if _, err := p.Swap(context.Background(), store.Write{Key: Key(fmt.Sprint(i, "-", n)), Data: fmt.Append(nil, i, n)}); err != nil {
					t.Errorf("Swap: %v", err)
				}
			}
		})
		p.reopen()
		for i := range writers {
			for n := range each {
				p.wantContent(fmt.Sprint(i, "-", n), fmt.Sprint(i, n))
			}
		}
	},
	"WhatWasAcknowledgedDuringCloseIsThere": func(t *testing.T, p *place) {
		acknowledged := p.closeUnderLoad()
		p.reopen()
		for _, name := range acknowledged {
			p.wantContent(name, name)
		}
	},
}

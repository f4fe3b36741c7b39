package storetest

import (
	"context"
	"errors"
	"testing"

	"idem/ledgerd/store"
)

var versions = map[string]func(*testing.T, *place){
	"NothingIsThereBeforeTheFirstWrite": func(t *testing.T, p *place) {
		if r, err := p.Load(context.Background(), Key("a")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Load: got %v, %v, want ErrNotFound", r, err)
		}
	},
	"LoadGivesWhatSwapWroteAndItsVersion": func(t *testing.T, p *place) {
		v1 := p.create("a", "one")
		if r := p.load("a"); v1 < 1 || r.Version != v1 || string(r.Data) != "one" {
			t.Fatalf("after creating: got %+v, want version %d (at least 1), content one", r, v1)
		}
		v2 := p.swap(store.Write{Key: Key("a"), Expect: v1, Data: []byte("two")})
		if r := p.load("a"); v2 <= v1 || r.Version != v2 || string(r.Data) != "two" {
			t.Fatalf("after replacing: got %+v, want version %d (more than %d), content two", r, v2, v1)
		}
	},
	"ARecordIsCreatedOnce": func(t *testing.T, p *place) {
		p.create("a", "one")
		_, err := p.Swap(context.Background(), store.Write{Key: Key("a"), Data: []byte("again")})
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("second creation: got %v, want ErrConflict", err)
		}
		p.wantContent("a", "one")
	},
	"AStaleVersionWritesNothing": func(t *testing.T, p *place) {
		v1 := p.create("a", "one")
		v2 := p.swap(store.Write{Key: Key("a"), Expect: v1, Data: []byte("two")})
		for _, stale := range []uint64{v1, v2 + 1, 0} {
			_, err := p.Swap(context.Background(), store.Write{
				Key: Key("a"), Expect: stale, Data: []byte("stale"),
				Entries: []store.Entry{{Index: store.Holds, ID: "h", At: at(1)}, {Index: store.Due, At: at(1)}},
				Put:     []store.Result{{Attempt: "att", Data: []byte("x")}},
			})
			if !errors.Is(err, store.ErrConflict) {
				t.Errorf("Swap at version %d, the record has %d: got %v, want ErrConflict", stale, v2, err)
			}
		}
		p.wantContent("a", "two")
		p.wantEntries(store.Holds)
		p.wantEntries(store.Due)
		if _, err := p.Result(context.Background(), "att"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the result of a conflicting write: got %v, want ErrNotFound", err)
		}
	},
	"AVersionOfNothingConflicts": func(t *testing.T, p *place) {
		_, err := p.Swap(context.Background(), store.Write{Key: Key("a"), Expect: 1, Data: []byte("one")})
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("replacing what is not there: got %v, want ErrConflict", err)
		}
		_, err = p.Swap(context.Background(), store.Write{Key: Key("a"), Expect: 1})
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("removing what is not there: got %v, want ErrConflict", err)
		}
	},
	"ARemovedRecordIsGoneAndGivesVersionZero": func(t *testing.T, p *place) {
		v := p.create("a", "one")
		if got := p.swap(store.Write{Key: Key("a"), Expect: v}); got != 0 {
			t.Errorf("removal: got version %d, want 0", got)
		}
		if _, err := p.Load(context.Background(), Key("a")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Load after removal: got %v, want ErrNotFound", err)
		}
	},
	"AVersionIsNeverGivenAgainAfterARemoval": func(t *testing.T, p *place) {
		given := map[uint64]bool{}
		for range 5 {
			v := p.create("a", "one")
			w := p.swap(store.Write{Key: Key("a"), Expect: v, Data: []byte("two")})
			if given[v] || given[w] {
				t.Fatalf("versions %d, %d: one of them was given before the removal", v, w)
			}
			given[v], given[w] = true, true
			p.swap(store.Write{Key: Key("a"), Expect: w})
			if _, err := p.Swap(context.Background(), store.Write{Key: Key("a"), Expect: w, Data: []byte("late")}); !errors.Is(err, store.ErrConflict) {
				t.Fatalf("a write at the removed version: got %v, want ErrConflict", err)
			}
		}
	},
	"RecordsDoNotDisturbEachOther": func(t *testing.T, p *place) {
		va, vb := p.create("a", "a1"), p.create("b", "b1")
		p.swap(store.Write{Key: Key("a"), Expect: va, Data: []byte("a2")})
		p.swap(store.Write{Key: Key("b"), Expect: vb})
		p.wantContent("a", "a2")
		p.create("b", "b2")
		p.wantContent("b", "b2")
	},
}

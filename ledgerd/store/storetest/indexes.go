package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"idem/ledgerd/store"
)

var indexes = map[string]func(*testing.T, *place){
	"LookupFindsTheRecordOfAnID": func(t *testing.T, p *place) {
		p.create("a", "x",
			store.Entry{Index: store.Holds, ID: "hold-1", At: at(5)},
			store.Entry{Index: store.Holds, ID: "hold-2", At: at(6)},
			store.Entry{Index: store.Doubts, ID: "att-1", At: at(7)},
			store.Entry{Index: store.Due, At: at(8)})
		for _, want := range []store.Entry{
			{Index: store.Holds, ID: "hold-1", Key: Key("a"), At: at(5)},
			{Index: store.Holds, ID: "hold-2", Key: Key("a"), At: at(6)},
			{Index: store.Doubts, ID: "att-1", Key: Key("a"), At: at(7)},
		} {
			if got, err := p.Lookup(context.Background(), want.Index, want.ID); err != nil || !same(got, want) {
				t.Errorf("Lookup of %s in %s: got %v, %v, want %v", want.ID, want.Index, got, err, want)
			}
		}
		for _, none := range []store.Entry{
			{Index: store.Holds, ID: "att-1"}, {Index: store.Doubts, ID: "hold-1"}, {Index: store.Due, ID: ""}, {Index: store.Due, ID: Key("a")},
		} {
			if got, err := p.Lookup(context.Background(), none.Index, none.ID); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("Lookup of %q in %s: got %v, %v, want ErrNotFound", none.ID, none.Index, got, err)
			}
		}
	},
	"ASwapReplacesAllEntriesOfItsRecord": func(t *testing.T, p *place) {
		v := p.create("a", "x",
			store.Entry{Index: store.Holds, ID: "gone", At: at(1)},
			store.Entry{Index: store.Holds, ID: "stays", At: at(2)},
			store.Entry{Index: store.Doubts, ID: "att", At: at(3)},
			store.Entry{Index: store.Due, At: at(4)})
		p.create("b", "x", store.Entry{Index: store.Holds, ID: "other", At: at(9)}, store.Entry{Index: store.Due, At: at(9)})

		v = p.swap(store.Write{Key: Key("a"), Expect: v, Data: []byte("y"), Entries: []store.Entry{
			{Index: store.Holds, ID: "stays", At: at(2)}, {Index: store.Holds, ID: "new", At: at(1)}, {Index: store.Due, At: at(10)},
		}})
		p.wantEntries(store.Holds, store.Entry{ID: "new", Key: Key("a"), At: at(1)},
			store.Entry{ID: "stays", Key: Key("a"), At: at(2)}, store.Entry{ID: "other", Key: Key("b"), At: at(9)})
		p.wantEntries(store.Doubts)
		p.wantEntries(store.Due, store.Entry{Key: Key("b"), At: at(9)}, store.Entry{Key: Key("a"), At: at(10)})

		p.swap(store.Write{Key: Key("a"), Expect: v, Data: []byte("z")})
		p.wantEntries(store.Holds, store.Entry{ID: "other", Key: Key("b"), At: at(9)})
		p.wantEntries(store.Due, store.Entry{Key: Key("b"), At: at(9)})
	},
	"ARemovalTakesAllEntriesWithIt": func(t *testing.T, p *place) {
		v := p.create("a", "x", store.Entry{Index: store.Holds, ID: "h", At: at(1)},
			store.Entry{Index: store.Doubts, ID: "d", At: at(1)}, store.Entry{Index: store.Due, At: at(1)})
		p.swap(store.Write{Key: Key("a"), Expect: v})
		for _, index := range []store.Index{store.Holds, store.Doubts, store.Due} {
			p.wantEntries(index)
		}
		p.create("a", "x")
		for _, index := range []store.Index{store.Holds, store.Doubts, store.Due} {
			p.wantEntries(index)
		}
	},
	"AnIDBelongsToTheRecordThatWroteItLast": func(t *testing.T, p *place) {
		va := p.create("a", "x", store.Entry{Index: store.Holds, ID: "h", At: at(1)})
		p.create("b", "x", store.Entry{Index: store.Holds, ID: "h", At: at(2)})
		p.wantEntries(store.Holds, store.Entry{ID: "h", Key: Key("b"), At: at(2)})
		p.swap(store.Write{Key: Key("a"), Expect: va, Data: []byte("y")})
		p.wantEntries(store.Holds, store.Entry{ID: "h", Key: Key("b"), At: at(2)})
	},
	"EntriesOfWritesInOneGroupFollowTheLastOne": func(t *testing.T, p *place) {
		// Many writers of one record at once: whichever wins last, its entries and no others are there.
		p.create("a", "0")
		together(16, func(i int) {
			for range 5 {
				r, err := p.Load(context.Background(), Key("a"))
				if err != nil {
					t.Errorf("Load: %v", err)
				}
				_, err = p.Swap(context.Background(), store.Write{Key: Key("a"), Expect: r.Version, Data: fmt.Append(nil, i),
					Entries: []store.Entry{{Index: store.Holds, ID: fmt.Sprint("h", i), At: at(i)}, {Index: store.Due, At: at(i)}}})
				if err != nil && !errors.Is(err, store.ErrConflict) {
					t.Errorf("Swap: %v", err)
				}
			}
		})
		var i int
		if _, err := fmt.Sscan(string(p.load("a").Data), &i); err != nil {
			t.Fatal(err)
		}
		p.wantEntries(store.Holds, store.Entry{ID: fmt.Sprint("h", i), Key: Key("a"), At: at(i)})
		p.wantEntries(store.Due, store.Entry{Key: Key("a"), At: at(i)})
	},
	"ScanOrdersByTimeThenKeyThenID": func(t *testing.T, p *place) {
		p.create("a", "x", store.Entry{Index: store.Doubts, ID: "2", At: at(7)}, store.Entry{Index: store.Doubts, ID: "1", At: at(7)})
		p.create("b", "x", store.Entry{Index: store.Doubts, ID: "0", At: at(7)}, store.Entry{Index: store.Doubts, ID: "3", At: at(6)})
		want := []store.Entry{
			{ID: "3", Key: Key("b"), At: at(6)}, {ID: "1", Key: Key("a"), At: at(7)},
			{ID: "2", Key: Key("a"), At: at(7)}, {ID: "0", Key: Key("b"), At: at(7)},
		}
		if Key("a") > Key("b") {
			want = []store.Entry{want[0], want[3], want[1], want[2]}
		}
		p.wantEntries(store.Doubts, want...)
		// Entry by entry with a cursor it is the same.
		var walked []store.Entry
		for after := (*store.Entry)(nil); ; {
			page := p.scan(store.Doubts, at(100), after, 1)
			if len(page) == 0 {
				break
			}
			walked = append(walked, page...)
			after = &page[0]
		}
		if !slices.EqualFunc(walked, want, same) {
			t.Errorf("walking with a cursor:\n got %v\nwant %v", walked, want)
		}
	},
	"AnUnknownIndexIsEmpty": func(t *testing.T, p *place) {
		p.create("a", "x", store.Entry{Index: store.Holds, ID: "h", At: at(1)})
		if list := p.scan("nonsense", at(100), nil, 10); len(list) != 0 {
			t.Errorf("got %v, want nothing", list)
		}
	},
}

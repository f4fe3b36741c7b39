package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"idem/ledgerd/store"
)

var due = map[string]func(*testing.T, *place){
	"OnlyWhatIsDueIsFound": func(t *testing.T, p *place) {
		for i := range 5 {
			p.create(fmt.Sprint("r", i), "x", store.Entry{Index: store.Due, At: at(10 * i)})
		}
		p.create("never", "x")
		for until, want := range map[int]int{-1: 0, 0: 1, 9: 1, 10: 2, 39: 4, 40: 5, 1000: 5} {
			if got := p.scan(store.Due, at(until), nil, 100); len(got) != want {
				t.Errorf("until %d s: got %d entries, want %d: %v", until, len(got), want, got)
			}
		}
		if got := p.scan(store.Due, at(10).Add(-time.Microsecond), nil, 100); len(got) != 1 {
			t.Errorf("a microsecond before the second one: got %d entries, want 1", len(got))
		}
	},
	"EarlierIsDueFirstWhateverTheOrderOfWriting": func(t *testing.T, p *place) {
		for _, i := range []int{3, 1, 4, 0, 2} {
			p.create(fmt.Sprint("r", i), "x", store.Entry{Index: store.Due, At: at(i)})
		}
		for i, e := range p.scan(store.Due, at(100), nil, 100) {
			if want := (store.Entry{Index: store.Due, Key: Key(fmt.Sprint("r", i)), At: at(i)}); !same(e, want) {
				t.Errorf("entry %d: got %v, want %v", i, e, want)
			}
		}
	},
	"ALimitGivesTheOldestAndACursorTheRest": func(t *testing.T, p *place) {
		const n = 25
		for i := range n {
			p.create(fmt.Sprint("r", i), "x", store.Entry{Index: store.Due, At: at(i / 5)}) // five share each moment
		}
		all := p.scan(store.Due, at(100), nil, 1000)
		if len(all) != n {
			t.Fatalf("got %d entries, want %d", len(all), n)
		}
		for _, limit := range []int{1, 4, 7, n} {
			var walked []store.Entry
			for after := (*store.Entry)(nil); ; after = &walked[len(walked)-1] {
				page := p.scan(store.Due, at(100), after, limit)
				if len(page) > limit {
					t.Fatalf("limit %d: got %d entries", limit, len(page))
				}
				if len(page) == 0 {
					break
				}
				walked = append(walked, page...)
			}
			if !slices.EqualFunc(walked, all, same) {
				t.Errorf("limit %d: walking gives\n%v\nat once it is\n%v", limit, walked, all)
			}
		}
		if list := p.scan(store.Due, at(100), nil, 0); len(list) != 0 {
			t.Errorf("limit 0: got %v", list)
		}
	},
	"ACursorStaysGoodWhenItsEntryIsGone": func(t *testing.T, p *place) {
		versions := map[string]uint64{}
		for i := range 4 {
			versions[Key(fmt.Sprint("r", i))] = p.create(fmt.Sprint("r", i), "x", store.Entry{Index: store.Due, At: at(i)})
		}
		page := p.scan(store.Due, at(100), nil, 2)
		for _, e := range page { // a sweeper acts on what it found before it asks for more
			p.swap(store.Write{Key: e.Key, Expect: versions[e.Key]})
		}
		rest := p.scan(store.Due, at(100), &page[1], 2)
		want := []store.Entry{{Index: store.Due, Key: Key("r2"), At: at(2)}, {Index: store.Due, Key: Key("r3"), At: at(3)}}
		if !slices.EqualFunc(rest, want, same) {
			t.Errorf("got %v, want %v", rest, want)
		}
	},
	"ARecordIsDueOnceAtItsNewestMoment": func(t *testing.T, p *place) {
		v := p.create("a", "x", store.Entry{Index: store.Due, At: at(5)})
		v = p.swap(store.Write{Key: Key("a"), Expect: v, Data: []byte("y"), Entries: []store.Entry{{Index: store.Due, At: at(3)}}})
		p.wantEntries(store.Due, store.Entry{Key: Key("a"), At: at(3)})
		v = p.swap(store.Write{Key: Key("a"), Expect: v, Data: []byte("z"), Entries: []store.Entry{{Index: store.Due, At: at(3)}}})
		p.wantEntries(store.Due, store.Entry{Key: Key("a"), At: at(3)})
		v = p.swap(store.Write{Key: Key("a"), Expect: v, Data: []byte("z")})
		p.wantEntries(store.Due)
		p.swap(store.Write{Key: Key("a"), Expect: v, Data: []byte("z"), Entries: []store.Entry{{Index: store.Due, At: at(9)}}})
		p.wantEntries(store.Due, store.Entry{Key: Key("a"), At: at(9)})
	},
	"MomentsAreKeptToTheMicrosecond": func(t *testing.T, p *place) {
		fine := at(1).Add(123456*time.Microsecond + 789*time.Nanosecond)
		p.create("a", "x", store.Entry{Index: store.Due, At: fine}, store.Entry{Index: store.Holds, ID: "h", At: fine.In(time.FixedZone("", 3600))})
		kept := at(1).Add(123456 * time.Microsecond)
		p.wantEntries(store.Due, store.Entry{Key: Key("a"), At: kept})
		p.wantEntries(store.Holds, store.Entry{ID: "h", Key: Key("a"), At: kept})
		if got := p.scan(store.Due, fine, nil, 1); len(got) != 1 {
			t.Errorf("until the very moment that was given: got %d entries, want 1", len(got))
		}
	},
}

package storetest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"idem/ledgerd/store"
	"idem/ledgerd/store/memory"
)

// A store that lost or invented something is found out by who looks at a record's life.
func TestLossIsFoundOut(t *testing.T) {
	const key = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	write := func(p *place, expect uint64, stage int, put ...store.Result) uint64 {
		return p.swap(store.Write{Key: key, Expect: expect, Data: []byte(strconv.Itoa(stage)), Put: put})
	}
	result := store.Result{Attempt: attemptOf(key), Data: resultOf(key)}
	for name, c := range map[string]struct {
		life Life
		make func(p *place, l *Life)
		want string // empty: nothing is lost
	}{
		"as acknowledged":        {Life{stage: committed, next: removed}, func(p *place, l *Life) { l.version = write(p, 0, committed, result) }, ""},
		"one further":            {Life{stage: created, next: committed}, func(p *place, l *Life) { l.version = write(p, 0, created); write(p, l.version, committed, result) }, ""},
		"never begun":            {Life{next: created}, func(*place, *Life) {}, ""},
		"removed without a word": {Life{stage: committed, version: 7, next: removed}, func(*place, *Life) {}, ""},
		"all gone":               {Life{stage: committed, version: 7, next: committed}, func(*place, *Life) {}, "stage 0, acknowledged was 2"},
		"created and gone":       {Life{stage: created, version: 7, next: committed}, func(*place, *Life) {}, "stage 0, acknowledged was 1"},
		"back to before":         {Life{stage: committed, next: removed}, func(p *place, l *Life) { l.version = write(p, 0, created) }, "stage 1, acknowledged was 2"},
		"there after removal":    {Life{stage: removed, next: removed}, func(p *place, _ *Life) { write(p, 0, committed, result) }, "stage 2, acknowledged was 3"},
		"another version":        {Life{stage: committed, next: removed}, func(p *place, l *Life) { l.version = 1 + write(p, 0, committed, result) }, "acknowledged was"},
		"without its result":     {Life{stage: committed, next: removed}, func(p *place, l *Life) { l.version = write(p, 0, committed) }, "its result is \"\""},
		"with a result too soon": {Life{stage: created, next: committed}, func(p *place, l *Life) { l.version = write(p, 0, created, result) }, "its result is \"result of"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &place{t: t, Store: memory.New(memory.Options{})}
			c.life.key = key
			c.make(p, &c.life)
			if err := c.life.holds(p, 0); (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestIndexThatDoesNotAgreeIsFoundOut(t *testing.T) {
	hold, due := store.Entry{Index: store.Holds, ID: "h", At: at(1)}, store.Entry{Index: store.Due, At: at(2)}
	for name, c := range map[string]struct {
		stage   int
		entries []store.Entry
		agrees  bool
	}{
		"open, due and held":   {created, []store.Entry{hold, due}, true},
		"committed and due":    {committed, []store.Entry{due}, true},
		"not due":              {committed, nil, false},
		"open without a hold":  {created, []store.Entry{due}, false},
		"committed and a hold": {committed, []store.Entry{hold, due}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := &place{t: t, Store: memory.New(memory.Options{})}
			p.create("a", fmt.Sprint(c.stage), c.entries...)
			if err := indexesAgree(p); (err == nil) != c.agrees {
				t.Errorf("got %v, want that it agrees: %t", err, c.agrees)
			}
		})
	}
}

package storetest

import (
	"context"
	"errors"
	"testing"

	"idem/ledgerd/store"
)

var results = map[string]func(*testing.T, *place){
	"AResultIsThereOnceItsRecordNamesIt": func(t *testing.T, p *place) {
		v := p.create("a", "reserved")
		if _, err := p.Result(context.Background(), "att"); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("before the commit: got %v, want ErrNotFound", err)
		}
		p.swap(store.Write{Key: Key("a"), Expect: v, Data: []byte("committed"), Put: []store.Result{
			{Attempt: "att", Data: []byte("201 created")}, {Attempt: "other", Data: []byte("500")}, {Attempt: "nothing said"},
		}})
		p.wantResult("att", "201 created")
		p.wantResult("other", "500")
		p.wantResult("nothing said", "")
	},
	"WhoeverReadsARecordFindsItsResult": func(t *testing.T, p *place) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				r, err := p.Load(context.Background(), Key("a"))
				if errors.Is(err, store.ErrNotFound) {
					continue
				}
				if err != nil {
					t.Errorf("Load: %v", err)
				} else if _, err := p.Result(context.Background(), string(r.Data)); err != nil {
					t.Errorf("the record names %s, but: %v", r.Data, err)
				}
				return
			}
		}()
		p.swap(store.Write{Key: Key("a"), Data: []byte("att"), Put: []store.Result{{Attempt: "att", Data: []byte("x")}}})
		<-done
	},
	"ADroppedResultIsGoneAndOthersStay": func(t *testing.T, p *place) {
		v := p.swap(store.Write{Key: Key("a"), Data: []byte("x"), Put: []store.Result{{Attempt: "1", Data: []byte("one")}, {Attempt: "2", Data: []byte("two")}}})
		p.swap(store.Write{Key: Key("a"), Expect: v, Data: []byte("y"), Drop: []string{"1", "unknown"}})
		if _, err := p.Result(context.Background(), "1"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the dropped result: got %v, want ErrNotFound", err)
		}
		p.wantResult("2", "two")
	},
	"ARemovedRecordKeepsTheResultsThatItDoesNotDrop": func(t *testing.T, p *place) {
		v := p.swap(store.Write{Key: Key("a"), Data: []byte("x"), Put: []store.Result{{Attempt: "1", Data: []byte("one")}, {Attempt: "2", Data: []byte("two")}}})
		p.swap(store.Write{Key: Key("a"), Expect: v, Drop: []string{"2"}})
		p.wantResult("1", "one")
		if _, err := p.Result(context.Background(), "2"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the dropped result: got %v, want ErrNotFound", err)
		}
	},
	"PuttingAgainReplaces": func(t *testing.T, p *place) {
		v := p.swap(store.Write{Key: Key("a"), Data: []byte("x"), Put: []store.Result{{Attempt: "1", Data: []byte("failure")}}})
		v = p.swap(store.Write{Key: Key("a"), Expect: v, Data: []byte("y"), Put: []store.Result{{Attempt: "1", Data: []byte("late success")}}})
		p.wantResult("1", "late success")
		p.swap(store.Write{Key: Key("a"), Expect: v, Data: []byte("z"), Drop: []string{"1"}, Put: []store.Result{{Attempt: "1", Data: []byte("third")}}})
		p.wantResult("1", "third")
	},
}

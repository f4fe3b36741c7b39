package storetest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"idem/ledgerd/store"
)

var data = map[string]func(*testing.T, *place){
	"AnyBytesComeBackAsTheyWere": func(t *testing.T, p *place) {
		every := make([]byte, 256)
		for i := range every {
			every[i] = byte(i)
		}
		for name, content := range map[string][]byte{
			"empty": {}, "a zero": {0}, "every byte": every, "invalid UTF-8": {0xff, 0xfe}, "JSON": []byte(`{"a":"ü"}`),
			"3 MiB": bytes.Repeat(every, 3<<12),
		} {
			p.swap(store.Write{Key: Key(name), Data: content, Put: []store.Result{{Attempt: Key(name), Data: content}}})
			if r := p.load(name); r.Data == nil || !bytes.Equal(r.Data, content) {
				t.Errorf("%s: the record has %d bytes (nil: %t), not the %d that were written", name, len(r.Data), r.Data == nil, len(content))
			}
			if got, err := p.Result(context.Background(), Key(name)); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s: the result has %d bytes, %v, not the %d that were written", name, len(got), err, len(content))
			}
		}
	},
	"AnEmptyRecordIsARecord": func(t *testing.T, p *place) {
		v := p.create("a", "")
		if _, err := p.Swap(context.Background(), store.Write{Key: Key("a"), Data: []byte("x")}); !errors.Is(err, store.ErrConflict) {
			t.Errorf("creating it again: got %v, want ErrConflict", err)
		}
		p.swap(store.Write{Key: Key("a"), Expect: v, Data: []byte("x")})
	},
	"IdentifiersAreComparedExactly": func(t *testing.T, p *place) {
		attempts := []string{"0aff", "0AFF", "0aff0", "0aff00", "\n\xff", "ünï", " 0aff", "0", "00", strings.Repeat("ab", 32)}
		for _, a := range attempts {
			p.swap(store.Write{Key: Key("of " + a), Data: []byte{}, Put: []store.Result{{Attempt: a, Data: []byte("result of " + a)}}})
		}
		for _, a := range attempts {
			p.wantResult(a, "result of "+a)
		}
	},
}

var invalid = map[string]func(*testing.T, *place){
	"AWriteThatContradictsItselfIsRefused": func(t *testing.T, p *place) {
		hold := store.Entry{Index: store.Holds, ID: "h", At: at(1)}
		for name, w := range map[string]store.Write{
			"no key":                    {Data: []byte("x")},
			"removal of nothing":        {Key: Key("a")},
			"removal with entries":      {Key: Key("a"), Expect: 1, Entries: []store.Entry{hold}},
			"an unknown index":          {Key: Key("a"), Data: []byte("x"), Entries: []store.Entry{{Index: "nonsense", ID: "h"}}},
			"a hold without id":         {Key: Key("a"), Data: []byte("x"), Entries: []store.Entry{{Index: store.Holds, At: at(1)}}},
			"a due entry with id":       {Key: Key("a"), Data: []byte("x"), Entries: []store.Entry{{Index: store.Due, ID: "h"}}},
			"two due entries":           {Key: Key("a"), Data: []byte("x"), Entries: []store.Entry{{Index: store.Due}, {Index: store.Due}}},
			"one result twice":          {Key: Key("a"), Data: []byte("x"), Put: []store.Result{{Attempt: "a"}, {Attempt: "a"}}},
			"one id twice in one index": {Key: Key("a"), Data: []byte("x"), Entries: []store.Entry{hold, hold}},
		} {
			if _, err := p.Swap(context.Background(), w); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%s: got %v, want ErrInvalid", name, err)
			}
		}
		if list, err := p.Newest(context.Background(), 10); err != nil || len(list) != 0 {
			t.Errorf("after refused writes there are records: %v, %v", list, err)
		}
	},
	"OneIDMayStandInTwoIndexes": func(t *testing.T, p *place) {
		p.create("a", "x", store.Entry{Index: store.Holds, ID: "same", At: at(1)}, store.Entry{Index: store.Doubts, ID: "same", At: at(2)})
		p.wantEntries(store.Holds, store.Entry{ID: "same", Key: Key("a"), At: at(1)})
		p.wantEntries(store.Doubts, store.Entry{ID: "same", Key: Key("a"), At: at(2)})
	},
}

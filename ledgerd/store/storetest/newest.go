package storetest

import (
	"context"
	"fmt"
	"testing"

	"idem/ledgerd/store"
)

var newest = map[string]func(*testing.T, *place){
	"TheOneCreatedLastComesFirst": func(t *testing.T, p *place) {
		versions := map[int]uint64{}
		for i := range 6 {
			versions[i] = p.create(fmt.Sprint("r", i), fmt.Sprint("content ", i))
		}
		// Neither a change nor the removal of others moves a record.
		versions[1] = p.swap(store.Write{Key: Key("r1"), Expect: versions[1], Data: []byte("changed")})
		p.swap(store.Write{Key: Key("r4"), Expect: versions[4]})
		p.wantNewest(10, "r5", "r3", "r2", "r1", "r0")
		p.wantNewest(2, "r5", "r3")
		p.wantNewest(0)
		if list, err := p.Newest(context.Background(), 4); err != nil || string(list[3].Data) != "changed" || list[3].Version != versions[1] {
			t.Errorf("the changed record: got %v, %v", list, err)
		}
		// Created anew, it is new.
		p.create("r4", "again")
		p.wantNewest(2, "r4", "r5")
	},
}

func (p *place) wantNewest(limit int, names ...string) {
	p.t.Helper()
	list, err := p.Newest(context.Background(), limit)
	if err != nil || len(list) != len(names) {
		p.t.Errorf("Newest(%d): got %d records, %v, want %d", limit, len(list), err, len(names))
		return
	}
	for i, name := range names {
		if list[i].Key != Key(name) {
			p.t.Errorf("Newest(%d): record %d has key %.8s, want that of %s", limit, i, list[i].Key, name)
		}
	}
}

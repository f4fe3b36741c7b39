package storetest

import (
	"context"
	"errors"
	"testing"

	"idem/ledgerd/store"
)

var settings = map[string]func(*testing.T, *place){
	"ASettingIsThereOnceItWasSet": func(t *testing.T, p *place) {
		if _, err := p.Setting(context.Background(), "grace"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("before: got %v, want ErrNotFound", err)
		}
		for _, value := range []string{"until then", "", "ünï\x00\n", "last"} {
			p.set("grace", value)
			p.wantSetting("grace", value)
		}
		p.set("other", "x")
		p.wantSetting("grace", "last")
	},
}

var resets = map[string]func(*testing.T, *place){
	"NothingIsLeftButSettingsAndTheClock": func(t *testing.T, p *place) {
		v := p.swap(store.Write{Key: Key("a"), Data: []byte("x"), Now: at(900), Put: []store.Result{{Attempt: "att", Data: []byte("r")}},
			Entries: []store.Entry{{Index: store.Holds, ID: "h", At: at(1)}, {Index: store.Doubts, ID: "d", At: at(1)}, {Index: store.Due, At: at(1)}}})
		p.set("grace", "x")
		if err := p.Reset(context.Background()); err != nil {
			t.Fatalf("Reset: %v", err)
		}
		if _, err := p.Load(context.Background(), Key("a")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Load: got %v, want ErrNotFound", err)
		}
		if _, err := p.Result(context.Background(), "att"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Result: got %v, want ErrNotFound", err)
		}
		if _, err := p.Lookup(context.Background(), store.Holds, "h"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Lookup: got %v, want ErrNotFound", err)
		}
		for _, index := range []store.Index{store.Holds, store.Doubts, store.Due} {
			p.wantEntries(index)
		}
		p.wantNewest(10)
		p.wantSetting("grace", "x")
		if now := p.now(); now.Before(at(900)) {
			t.Errorf("the clock went back to %v", now)
		}
		if _, err := p.Swap(context.Background(), store.Write{Key: Key("a"), Expect: v, Data: []byte("late")}); !errors.Is(err, store.ErrConflict) {
			t.Errorf("a write at a version from before: got %v, want ErrConflict", err)
		}
		if again := p.create("a", "new"); again == v {
			t.Errorf("version %d was given again", v)
		}
		p.wantContent("a", "new")
	},
}

func (p *place) set(name, value string) {
	p.t.Helper()
	if err := p.SetSetting(context.Background(), name, value); err != nil {
		p.t.Fatalf("SetSetting(%s): %v", name, err)
	}
}

func (p *place) wantSetting(name, value string) {
	p.t.Helper()
	if got, err := p.Setting(context.Background(), name); err != nil || got != value {
		p.t.Errorf("setting %s: got %q, %v, want %q", name, got, err, value)
	}
}

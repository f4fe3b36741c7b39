package redis

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/redis/redistest"
	"idem/ledgerd/store/storetest"
)

// idle keeps a store from looking by itself while a test lasts, so that a request is the first to meet the change.
var idle = Options{CheckEvery: time.Hour, Clock: time.Now}

// Whoever empties the server, or leads the address to another one, leaves the nodes that run with a ledger that knows
// nothing of what was executed. The first thing that any of them asks is refused, and so is all else, until it is
// started again; and what is there now is not touched.
func TestAnotherStoreIsNotTakenForTheOneThatWasOpened(t *testing.T) {
	server := redistest.Start(t)
	for first, request := range storetest.Requests {
		for _, anew := range []bool{false, true} {
			t.Run(first+" made anew "+strconv.FormatBool(anew), func(t *testing.T) {
				var log storetest.Log
				o := idle
				o.Log = log.Logger()
				s := mustOpen(t, server.URL(), o)
				defer s.Close()
				_, err := s.Swap(t.Context(), store.Write{Key: hexKey("a"), Data: []byte("x")})
				must(t, err)
				server.Do(t, "FLUSHALL")
				if anew {
					other := mustOpen(t, server.URL(), Options{})
					_, err := other.Swap(t.Context(), store.Write{Key: hexKey("other"), Data: []byte("x")})
					must(t, err, other.Close())
				}
				if err := request(t.Context(), s); !errors.Is(err, store.ErrUnfit) || !strings.Contains(err.Error(), s.ID()) || !strings.Contains(err.Error(), "lost the store's keys") {
					t.Errorf("the first that was asked: got %v, want ErrUnfit and which store is gone", err)
				}
				storetest.WantUnfit(t, s)
				log.WantHas(t, "level=ERROR", "refuses everything", s.ID())
				if !anew {
					if keys := server.Do(t, "DBSIZE"); keys != ":0" {
						t.Errorf("the emptied server has %s keys, want none", keys)
					}
					return
				}
				again, err := Open(t.Context(), server.URL(), Options{Log: silent})
				if err != nil {
					t.Fatalf("once it is started again: %v", err)
				}
				defer again.Close()
				list, err := again.Newest(t.Context(), 10)
				if err != nil || len(list) != 1 || list[0].Key != hexKey("other") {
					t.Errorf("what is there now was changed: %v, %v", list, err)
				}
			})
		}
	}
}

func TestIdleNodeNoticesThatTheServerWasEmptied(t *testing.T) {
	server := redistest.Start(t)
	s := mustOpen(t, server.URL(), Options{CheckEvery: time.Millisecond})
	defer s.Close()
	server.Do(t, "FLUSHALL")
	eventually(t, func() error {
		if _, err := s.Now(t.Context()); !errors.Is(err, store.ErrUnfit) {
			return errors.New("it still tells the time")
		}
		return nil
	})
}

// A store that is not there may be one that was lost: nobody makes a new one unasked.
func TestStoreThatIsNotThereIsMadeOnDemandOnly(t *testing.T) {
	server := redistest.Start(t)
	for name, f := range map[string]func() error{
		"Open":    func() error { _, err := Open(t.Context(), server.URL(), Options{}); return err },
		"Examine": func() error { _, _, err := Examine(t.Context(), server.URL()); return err },
	} {
		if err := f(); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "`ledgerd migrate --store") || !strings.Contains(err.Error(), server.Address) {
			t.Errorf("%s: got %v, want ErrNone, the server and the command", name, err)
		}
	}
	if keys := server.Do(t, "DBSIZE"); keys != ":0" {
		t.Errorf("the server has %s keys, want none", keys)
	}
	var log storetest.Log
	made := mustOpen(t, server.URL(), Options{Log: log.Logger()})
	defer made.Close()
	again, err := Open(t.Context(), server.URL(), Options{Log: silent})
	must(t, err)
	defer again.Close()
	if !made.Made() || again.Made() || made.ID() == "" || again.ID() != made.ID() {
		t.Errorf("made %t, %t; ids %q, %q", made.Made(), again.Made(), made.ID(), again.ID())
	}
	log.WantHas(t, "level=WARN", "made a new, empty store", made.ID())
}

// A making that was broken off left no store; whoever is asked to make one finishes it.
func TestStoreThatWasHalfMadeIsFinishedOnDemandOnly(t *testing.T) {
	server := redistest.Start(t)
	server.Do(t, "HSET", parts("idem")[0].meta, "id", "half")
	if _, err := Open(t.Context(), server.URL(), Options{Log: silent}); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "broken off") {
		t.Errorf("got %v, want ErrNone: it is half made", err)
	}
	s := mustOpen(t, server.URL(), Options{})
	defer s.Close()
	if s.ID() != "half" {
		t.Errorf("the id is %q, want the one that was given", s.ID())
	}
}

package storetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"idem/ledgerd/store"
)

// The life of a record in the crash tests: it is created, gets a result, and is removed with it. Its content says how
// far it is.
const (
	created = 1 + iota
	committed
	removed
)

// Life is what is known of one record: the last stage that was acknowledged, and the one after it, which may have been
// asked for without an answer.
type Life struct {
	key              string
	stage            int // 0: nothing was acknowledged
	version          uint64
	next             int // stage where nothing more is asked for
	least, greatest  uint64
	acknowledgements int
}

// acknowledge notes that a stage is durable, at that version.
func (l *Life) acknowledge(stage int, version uint64, next int) {
	l.stage, l.version, l.next = stage, version, next
	l.acknowledgements++
	if version != 0 {
		l.greatest = max(l.greatest, version)
		if l.least == 0 {
			l.least = version
		}
	}
}

// lives is how many records are written at once.
const lives = 32

// live takes one record through its life, and to its removal if remove; tell hears of each acknowledged write.
func live(s store.Store, key string, remove bool, tell func(stage int, version uint64, next int) error) error {
	var version uint64
	last := committed
	if remove {
		last = removed
	}
	for stage := created; stage <= last; stage++ {
		w := store.Write{Key: key, Expect: version, Now: time.Now()}
		if stage != removed {
			w.Data = []byte(strconv.Itoa(stage))
			w.Entries = []store.Entry{{Index: store.Due, At: time.UnixMicro(int64(1e15 + 1e6*stage))}}
		}
		switch stage {
		case created:
			w.Entries = append(w.Entries, store.Entry{Index: store.Holds, ID: key, At: time.UnixMicro(1e15)})
		case committed:
			w.Put = []store.Result{{Attempt: attemptOf(key), Data: resultOf(key)}}
		case removed:
			w.Drop = []string{attemptOf(key)}
		}
		var err error
		if version, err = s.Swap(context.Background(), w); err != nil {
			return fmt.Errorf("record %.8s at stage %d: %w", key, stage, err)
		}
		if err := tell(stage, version, min(stage+1, last)); err != nil {
			return err
		}
	}
	return nil
}

// LiveUntil takes records through their life until so many writes were acknowledged, then calls kill, which makes the
// store fail with store.ErrUnavailable, and gives what is known of each record.
func LiveUntil(t *testing.T, s store.Store, name string, writes int, kill func()) (all []*Life) {
	t.Helper()
	var mu sync.Mutex
	enough := make(chan struct{})
	var writers sync.WaitGroup
	for g := range lives {
		writers.Go(func() {
			for n := 0; ; n++ {
				l := &Life{key: Key(fmt.Sprint(name, "/", g, "/", n)), next: created}
				mu.Lock()
				all = append(all, l)
				mu.Unlock()
				err := live(s, l.key, n%3 == 0, func(stage int, version uint64, next int) error {
					mu.Lock()
					defer mu.Unlock()
					l.acknowledge(stage, version, next)
					if writes--; writes == 0 {
						close(enough)
					}
					return nil
				})
				if err != nil {
					if !errors.Is(err, store.ErrUnavailable) {
						t.Errorf("a write that was cut off: got %v, want ErrUnavailable", err)
					}
					return // whether this one happened is not known
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		writers.Wait()
		close(ended)
	}()
	select {
	case <-enough:
		kill()
	case <-ended:
		t.Fatal("the store failed before it was killed")
	}
	<-ended
	return all
}

// holds looks whether what was acknowledged is there. The next stage may be there too: its answer was lost. A store
// may say so many times that it is unavailable first.
func (l *Life) holds(s store.Store, patience int) error {
	ctx := context.Background()
	stage := 0
	r, err := s.Load(ctx, l.key)
	for ; errors.Is(err, store.ErrUnavailable) && patience > 0; patience-- {
		r, err = s.Load(ctx, l.key)
	}
	switch {
	case err == nil:
		if stage, err = strconv.Atoi(string(r.Data)); err != nil {
			return fmt.Errorf("record %.8s has the content %q, which was never written", l.key, r.Data)
		}
	case !errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("record %.8s: %w", l.key, err)
	case l.next == removed:
		stage = removed
	}
	switch {
	case stage != l.stage && stage != l.next:
		return fmt.Errorf("record %.8s is at stage %d, acknowledged was %d, asked for %d", l.key, stage, l.stage, l.next)
	case stage == l.stage && r.Version != l.version:
		return fmt.Errorf("record %.8s has version %d, acknowledged was %d", l.key, r.Version, l.version)
	case stage != l.stage && stage != removed && r.Version <= l.version:
		return fmt.Errorf("record %.8s went on from version %d to %d", l.key, l.version, r.Version)
	}
	data, err := s.Result(ctx, attemptOf(l.key))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("result of %.8s: %w", l.key, err)
	}
	var want []byte
	if stage == committed {
		want = resultOf(l.key)
	}
	if string(data) != string(want) {
		return fmt.Errorf("record %.8s is at stage %d and its result is %q, want %q", l.key, stage, data, want)
	}
	return nil
}

// indexesAgree looks whether exactly the records that should be due are due, and every hold leads to its record.
func indexesAgree(s store.Store) error {
	ctx := context.Background()
	records, err := s.Newest(ctx, 1<<20)
	if err != nil {
		return err
	}
	due, err := s.Scan(ctx, store.Due, time.UnixMicro(1<<60), nil, 1<<20)
	if err != nil {
		return err
	}
	holds, err := s.Scan(ctx, store.Holds, time.UnixMicro(1<<60), nil, 1<<20)
	if err != nil {
		return err
	}
	stages, open := map[string]string{}, 0
	for _, r := range records {
		stages[r.Key] = string(r.Data)
		if string(r.Data) == strconv.Itoa(created) {
			open++
		}
	}
	if len(due) != len(records) || len(holds) != open {
		return fmt.Errorf("there are %d records, %d of them due, and %d open ones with %d holds", len(records), len(due), open, len(holds))
	}
	for _, h := range holds {
		if stages[h.Key] != strconv.Itoa(created) {
			return fmt.Errorf("hold %.8s leads to a record at stage %q", h.ID, stages[h.Key])
		}
		if e, err := s.Lookup(ctx, store.Holds, h.ID); err != nil || e.Key != h.Key {
			return fmt.Errorf("looking up hold %.8s: got %v, %w", h.ID, e, err)
		}
	}
	return nil
}

// attemptOf is the attempt whose result belongs to a record here.
func attemptOf(key string) string { return key[:32] }

func resultOf(key string) []byte { return []byte("result of " + key) }

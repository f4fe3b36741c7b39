package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/postgres/pgtest"
	"idem/ledgerd/store/storetest"
)

// patience bounds how long a test waits for what must come soon. It ends a failing test; it never paces one.
const patience = time.Minute

func watch(t *testing.T, s *Store) <-chan string {
	t.Helper()
	told := make(chan string, 10_000)
	if err := s.Watch(t.Context(), func(key string) { told <- key }); err != nil {
		t.Fatalf("Watch: %v", err)
	}
	return told
}

func wantTold(t *testing.T, told <-chan string, name string) {
	t.Helper()
	select {
	case got := <-told:
		if got != hexKey(name) {
			t.Errorf("told of %.8s, want %.8s (%s)", got, hexKey(name), name)
		}
	case <-time.After(patience):
		t.Fatalf("nobody was told of %s", name)
	}
}

func TestOtherNodesAreToldAndOwnWritesAreToldOnce(t *testing.T) {
	one, two := twoNodes(t, Options{})
	here, there := watch(t, one), watch(t, two)
	for i := range 20 {
		name := fmt.Sprint(i)
		mustSwap(t, one, name, 0)
		wantTold(t, here, name)
		wantTold(t, there, name)
	}
	mustSwap(t, two, "last", 0)
	wantTold(t, here, "last") // and nothing of its own a second time
	wantTold(t, there, "last")
}

func TestEveryKeyOfABurstIsTold(t *testing.T) {
	one, two := twoNodes(t, Options{})
	there := watch(t, two)
	const n = 2000
	var all []<-chan error
	want := map[string]bool{}
	for i := range n {
		all = append(all, swapAsync(one, fmt.Sprint(i), 0))
		want[hexKey(fmt.Sprint(i))] = true
	}
	storetest.WantNoErrors(t, all...)
	for late := time.After(patience); len(want) > 0; {
		select {
		case key := <-there:
			delete(want, key)
		case <-late:
			t.Fatalf("%d of %d keys were not told", len(want), n)
		}
	}
}

// The connection that listens is lost: what is written meanwhile may be missed but is there, and afterwards everything
// is told again.
func TestListenerComesBackAfterItsConnectionIsLost(t *testing.T) {
	server := pgtest.Shared(t)
	one, two := twoNodes(t, Options{})
	there := watch(t, two)
	mustSwap(t, one, "before", 0)
	wantTold(t, there, "before")

	listening := "SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN " + two.channel() + "'"
	admin := server.Connect(t)
	var former int
	if err := admin.QueryRow(t.Context(), listening).Scan(&former); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Exec(t.Context(), "SELECT pg_terminate_backend($1, 60000)", former); err != nil {
		t.Fatal(err)
	}
	version := mustSwap(t, one, "meanwhile", 0)
	if r, err := two.Load(t.Context(), hexKey("meanwhile")); err != nil || r.Version != version { // as whoever polls does
		t.Errorf("a change that was not told: got %+v, %v, want version %d", r, err, version)
	}
	for pid := former; pid == former; {
		rows, err := admin.Query(t.Context(), listening)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			if err := rows.Scan(&pid); err != nil {
				t.Fatal(err)
			}
		}
		rows.Close()
	}
	for i := range 1000 { // the statement was seen before it had an effect, perhaps
		name := fmt.Sprint("after", i)
		mustSwap(t, one, name, 0)
		select {
		case <-there:
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Error("nothing was told after the connection was made again")
}

func TestPayloadsCarryEveryKeyThatFits(t *testing.T) {
	keys := []string{hexKey("a"), "not hex", "", "\xff\x00", strings.Repeat("k", 3000)}
	for i := range 500 {
		keys = append(keys, hexKey(fmt.Sprint(i)))
	}
	var got []string
	texts := payloads("node", append(keys, strings.Repeat("too long", 1000)))
	for _, text := range texts {
		if len(text) >= 8000 {
			t.Errorf("a notification of %d bytes, which the server refuses", len(text))
		}
		node, some := keysIn(text)
		if node != "node" {
			t.Errorf("the node is %q", node)
		}
		got = append(got, some...)
	}
	if !slices.Equal(got, keys) {
		t.Errorf("%d keys went in, %d came out", len(keys), len(got))
	}
	for _, foreign := range []string{"", "x", "node !!!", "node AA", "node /////w", texts[0][:101]} {
		if _, some := keysIn(foreign); !slices.Equal(some, keys[:len(some)]) {
			t.Errorf("%q has keys that nobody sent: %q", foreign, some)
		}
	}
}

func TestWatchSaysWhenItCannotListen(t *testing.T) {
	server := pgtest.Start(t)
	s := mustOpen(t, server.URL(pgtest.NewSchema()), Options{})
	defer s.Close()
	server.Stop(t)
	if err := s.Watch(t.Context(), func(string) {}); err == nil {
		t.Error("got no error while the server is away")
	}
	server.Restart(t)
	told := watch(t, s)
	for {
		if _, err := s.Swap(context.Background(), store.Write{Key: hexKey("a"), Data: []byte("x")}); err == nil {
			break
		}
	}
	wantTold(t, told, "a")
}

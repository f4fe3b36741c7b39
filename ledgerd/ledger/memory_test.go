package ledger

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"idem/ledgerd/store/sqlite"
	"idem/ledgerd/wire"
)

var operations = flag.Int("operations", 24_000, "how many operations TestTheMemoryStaysWithinItsLimits does")

// heap is what is still in use once all garbage is gone.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what the first one only freed from pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The caches are full long before the end, so what the ledger takes then is their limits and no more, however many small
// calls go by: go test -run Memory -operations 1000000.
func TestTheMemoryStaysWithinItsLimits(t *testing.T) {
	const limit = 3 << 20 // of each of three
	kept, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{RecentBytes: limit, PageBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	l, err := New(Options{Store: kept, SoleOwner: true, CachedRecordBytes: limit, CachedResultBytes: limit})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close(t.Context())

	const batch = 256
	before, half := heap(), int64(0)
	for done := 0; done < *operations; done += 2 * batch {
		reserves, commits := make([]wire.Op, batch), make([]wire.Op, batch)
		for i := range batch {
			id := hash(fmt.Sprint(done + i))
			reserves[i], commits[i] = reserve(id[:32], id, id, "r"), commit(id[:32], id, `{"refund_id":7}`)
		}
		for _, a := range append(l.Do(t.Context(), reserves), l.Do(t.Context(), commits)...) {
			if a.Kind != wire.AnswerExecute && a.Kind != wire.AnswerOK {
				t.Fatal(show(a))
			}
		}
		if half == 0 && done >= *operations/2 {
			half = heap()
		}
	}
	end := heap()
	t.Logf("%d operations: %.1f MiB at half of them, %.1f MiB at the end", *operations, float64(half-before)/(1<<20), float64(end-before)/(1<<20))
	if end-half > 1<<20 {
		t.Errorf("the second half of the operations made the heap grow by %d bytes", end-half)
	}
	if used, most := end-before, int64(3*limit*5/4+1<<20); used > most {
		t.Errorf("%d bytes are used, want at most %d: a quarter more than the limits, and a MiB for the ledger itself", used, most)
	}
	if used, least := end-before, int64(3*limit/2); used < least {
		t.Errorf("%d bytes are used, want at least %d: what the caches keep is charged with more than it takes", used, least)
	}
}

func TestWhatIsKeptIsChargedWithWhatItTakes(t *testing.T) {
	small := reply(201, "")
	b := encodeResult(hash("i"), small)
	r, err := decodeResult(b)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.weight(len(b)); got < int64(len(b))+200 {
		t.Errorf("a small result is charged with %d bytes, of which its bytes are %d", got, len(b))
	}
	large := encodeResult(hash("i"), reply(201, strings.Repeat("x", 1<<20)))
	if r, err = decodeResult(large); err != nil {
		t.Fatal(err)
	}
	if got := r.weight(len(large)); got > int64(len(large))+1024 {
		t.Errorf("a large result is charged with %d bytes more than it has", got-int64(len(large)))
	}
}

package redis

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/store"
)

func TestSlotsAreThoseOfTheClusterSpecification(t *testing.T) {
	// The specification's own example, and what a server says by CLUSTER KEYSLOT.
	for tag, want := range map[string]int{"123456789": 12739, "foo": 12182, "": 0} {
		if got := slot(tag); got != want {
			t.Errorf("%q: got %d, want %d", tag, got, want)
		}
	}
}

func TestShardsAreSpreadEvenlyOverTheSlots(t *testing.T) {
	for _, masters := range []int{2, 3, 5, 8} {
		count := make([]int, masters)
		for _, tag := range tags {
			count[slot(tag)*masters/slots]++
		}
		if slices.Max(count)-slices.Min(count) > 1 {
			t.Errorf("%d masters have %v shards", masters, count)
		}
	}
}

func TestKeysOfAShardShareItsTag(t *testing.T) {
	seen := map[string]bool{}
	for i, p := range parts("idem") {
		for _, key := range p.script {
			if !strings.HasPrefix(key, "idem:{"+tags[i]+"}:") || seen[key] {
				t.Errorf("key %q of the shard with the tag %q", key, tags[i])
			}
			seen[key] = true
		}
	}
}

func TestKeysArePackedAndSpreadOverAllShards(t *testing.T) {
	count := [shards]int{}
	for i := range 16_000 {
		key := hexKey(fmt.Sprint(i))
		p, ok := pack(key)
		if !ok || len(p) != packedSize || p.unpack() != key {
			t.Fatalf("%s comes back as %s", key, p.unpack())
		}
		count[p.shard()]++
	}
	if slices.Min(count[:]) < 16_000/shards*7/10 {
		t.Errorf("uneven: %v", count)
	}
	for _, wrong := range []string{"", "00", strings.Repeat("A0", 32), strings.Repeat("0", 63), strings.Repeat("g0", 32), strings.Repeat("0", 66)} {
		if _, ok := pack(wrong); ok {
			t.Errorf("%q was packed, which is not 64 hex digits in lower case", wrong)
		}
	}
}

func TestMomentsSortAsTheyPass(t *testing.T) {
	moments := []int64{math.MinInt64, -1 << 40, -1, 0, 1, 1772366400e6, 253402214400e6, math.MaxInt64 - 1, never}
	for i, us := range moments {
		if i > 0 && order(us) <= order(moments[i-1]) {
			t.Errorf("%d does not sort after %d", us, moments[i-1])
		}
		if got := moment(order(us)); got.UnixMicro() != us {
			t.Errorf("%d comes back as %d", us, got.UnixMicro())
		}
	}
}

func TestRecordsAreReadAsTheyWereWritten(t *testing.T) {
	at := time.UnixMicro(1772366400123456).UTC()
	for name, w := range map[string]store.Write{
		"bare": {Data: []byte{}},
		"full": {Data: []byte("content"), Now: at, Entries: []store.Entry{
			{Index: store.Due, At: at}, {Index: store.Holds, ID: "h", At: at}, {Index: store.Doubts, ID: strings.Repeat("d", 300), At: at},
		}},
	} {
		b := append([]byte{0, 0, 0, 0, 0, 0, 1, 2}, appendTail(nil, &w)...)
		c, err := parseContent(string(b))
		if err != nil || c.version != 258 || !bytes.Equal(c.data, w.Data) || c.now.UnixMicro() != max(w.Now.UnixMicro(), 0) {
			t.Errorf("%s: got %+v, %v", name, c, err)
		}
		for n := range len(b) - len(w.Data) { // cut off anywhere it is an error, never a panic
			if _, err := parseContent(string(b[:n])); err == nil {
				t.Errorf("%s: its first %d bytes were read as a record", name, n)
			}
		}
	}
}

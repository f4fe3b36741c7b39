package linearizable

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What may take effect without having been answered is written as a text, "7×1 12×3": the calls' ids, and how often each
// of them may take effect. Equal texts are the same.

// readOpen gives what a text says.
func readOpen(text string) map[int]int {
	open := map[int]int{}
	for word := range strings.FieldsSeq(text) {
		var id, n int
		if _, err := fmt.Sscanf(word, "%d×%d", &id, &n); err != nil {
			panic(fmt.Sprintf("%q is no call that may take effect: %v", word, err)) // opened wrote it
		}
		open[id] = n
	}
	return open
}

// opened gives a text in which a call may take effect so often.
func opened(text string, id, times int) string {
	open := readOpen(text)
	open[id] = times
	if times == 0 {
		delete(open, id)
	}
	var words []string
	for _, id := range slices.Sorted(maps.Keys(open)) {
		words = append(words, fmt.Sprintf("%d×%d", id, open[id]))
	}
	return strings.Join(words, " ")
}

// within says whether all that may take effect by one text may do so by another.
func within(text, other string) bool {
	if text == other || text == "" {
		return true
	}
	more := readOpen(other)
	for id, n := range readOpen(text) {
		if more[id] < n {
			return false
		}
	}
	return true
}

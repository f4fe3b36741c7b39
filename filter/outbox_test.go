package main

import (
	"slices"
	"testing"
)

func TestOneCallbackAnswersABoundedNumberOfStreamsInOrder(t *testing.T) {
	wakes := 0
	o := outbox{wake: func() { wakes++ }}
	var sent, want []int
	o.begin()
	for i := range 3 * maxPerCallback / 2 * 2 {
		want = append(want, i)
		o.put(func() { sent = append(sent, i) })
	}
	for callbacks := 1; ; callbacks++ {
		if len(sent) > callbacks*maxPerCallback {
			t.Fatalf("%d sent in %d callbacks", len(sent), callbacks)
		}
		if len(o.waiting) == 0 {
			break
		}
		if wakes == 0 {
			t.Fatal("something waits and nothing wakes the root context for it")
		}
		wakes = 0
		o.begin()
	}
	if !slices.Equal(sent, want) {
		t.Errorf("sent %v", sent)
	}
}

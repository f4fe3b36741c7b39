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
	for i := range 3 * maxPerCallback {
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

func TestSendThatPanicsCostsNoOtherItsOwn(t *testing.T) {
	faults, sent := 0, 0
	o := outbox{wake: func() {}, fault: func(any) { faults++ }}
	for i := range 3 * maxPerCallback {
		o.put(func() {
			if i%maxPerCallback == 0 {
				panic("a fault")
			}
			sent++
		})
	}
	for len(o.waiting) > 0 {
		o.begin()
	}
	if faults != 3 || sent != 3*maxPerCallback-3 {
		t.Errorf("%d faults, %d sent", faults, sent)
	}
}

package soak

import (
	"fmt"
	"sync"
)

// book is what everybody was told, by order, and what people decided.
type book struct {
	tool *tool

	mu            sync.Mutex
	pages         map[orderKey]*page
	byFingerprint map[string]*page
	outcomes      map[string]int
	wrong         []string
	wrongs        int
}

// page is one order's.
type page struct {
	order       *order
	fingerprint string
	byRun       map[string]int // the deed that each run was given
	executed    map[int]int    // how often each deed was told as executed
	lenders     []*order       // orders whose results it may be given: a person said that it is a duplicate of them
	unread      bool           // a person resolved a doubt as done and had no result to give

	// What people allowed or decided.
	released int // holds released as a new intent
	undone   int // doubts about which a person saw that nothing had been done
	denied   int
}

func newBook(t *tool) *book {
	return &book{tool: t, pages: map[orderKey]*page{}, byFingerprint: map[string]*page{}, outcomes: map[string]int{}}
}

// page gives an order's page. The caller holds mu.
func (b *book) page(o *order) *page {
	p := b.pages[o.key()]
	if p == nil {
		p = &page{order: o, byRun: map[string]int{}, executed: map[int]int{}}
		b.pages[o.key()] = p
	}
	return p
}

// mostWrong bounds what is said of one run: what is broken once is broken often.
const mostWrong = 40

// complain takes down what should not be. The caller holds mu.
func (b *book) complain(format string, args ...any) {
	if b.wrongs++; len(b.wrong) < mostWrong {
		b.wrong = append(b.wrong, fmt.Sprintf(format, args...))
	}
}

// knows takes down an order's fingerprint. The caller holds mu.
func (b *book) knows(p *page, fingerprint string) {
	if fingerprint == "" {
		return
	}
	if p.fingerprint == "" {
		p.fingerprint = fingerprint
	}
	if p.fingerprint != fingerprint {
		b.complain("%v has two fingerprints: %s and %s", p.order.key(), p.fingerprint, fingerprint)
	}
	if other := b.byFingerprint[fingerprint]; other != nil && other != p {
		b.complain("%v and %v have one fingerprint: %s", p.order.key(), other.order.key(), fingerprint)
	}
	b.byFingerprint[fingerprint] = p
}

// known gives the page of a fingerprint that some caller has been told; nil: none was.
func (b *book) known(fingerprint string) *page {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.byFingerprint[fingerprint]
}

// note changes the book.
func (b *book) note(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

// audit holds every order's deeds, by the tool's own count, to what was allowed.
func (b *book) audit() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, p := range b.pages {
		did := b.tool.look(key)
		if most := 1 + p.released; len(did.deeds) > most {
			b.complain("%v (%s) was done %d times: want %d at most, with %d releases", key, p.order.kind.name, len(did.deeds), most, p.released)
		}
		if most := 1 + did.failed + p.released + p.undone; did.asked > most {
			b.complain("%v (%s): the tool was asked %d times, want %d at most: %d failures, %d releases, %d doubts about nothing done",
				key, p.order.kind.name, did.asked, most, did.failed, p.released, p.undone)
		}
	}
}

// totals sums up a run, for people.
func (b *book) totals() (orders, asked, deeds, failed, released, undone, denied int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, p := range b.pages {
		did := b.tool.look(key)
		asked, deeds, failed = asked+did.asked, deeds+len(did.deeds), failed+did.failed
		released, undone, denied = released+p.released, undone+p.undone, denied+p.denied
	}
	return len(b.pages), asked, deeds, failed, released, undone, denied
}

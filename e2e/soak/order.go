package soak

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"strings"
)

// order is one thing that callers want done once: what the product calls one fingerprint. Its id stands in every call and
// in every result.
type order struct {
	id       string
	who      string // whose it is: the caller's credentials
	kind     *kind
	customer string
	cents    int
}

// key names an order for the tool: an id may be had by two callers, and these are two orders.
func (o *order) key() orderKey { return orderKey{o.id, o.who} }

type orderKey struct{ id, who string }

func (k orderKey) String() string { return k.who + "'s " + k.id }

// random gives the order's own randomness, the same in every run of a seed.
func (k orderKey) random(seed, salt uint64) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, k.id, "/", k.who)
	return rand.New(rand.NewPCG(seed^salt, h.Sum64()))
}

// anOrder finds an order's id in whatever it was written into.
var anOrder = regexp.MustCompile(`o-[0-9a-f]+-[0-9]+`)

// owner reads from the credentials whose call it is.
func owner(authorization string) string { return strings.TrimPrefix(authorization, "Bearer ") }

// newOrder makes the nth order of a run.
func newOrder(run, n uint64, r *rand.Rand) *order {
	who := [...]string{"ada", "bob", "eve"}[r.IntN(3)]
	return &order{
		id: fmt.Sprintf("o-%x-%d", run, n), who: who, kind: someKind(r),
		customer: fmt.Sprintf("c%d@example.com", n), cents: 100 + r.IntN(100_000),
	}
}

// sibling is another order for the same customer and amount: a near-duplicate.
func (o *order) sibling(run, n uint64) *order {
	s := *o
	s.id = fmt.Sprintf("o-%x-%d", run, n)
	return &s
}

// twin is the very same call by somebody else: another order, for nobody may be given another's result.
func (o *order) twin() *order {
	t := *o
	t.who = "mallory"
	return &t
}

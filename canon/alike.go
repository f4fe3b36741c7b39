package canon

import (
	"cmp"
	"slices"

	"idem/canon/money"
)

// alike is a text that could be told from another of the same reading only by how it is written.
type alike struct {
	sum uint64 // of its one form
	at  int32
}

// keepApart takes back the reading of texts that mean the same and are written differently, in one call: replacing
// "$12.00" by "$12" is not replacing "$12" by "$12.00". The texts of money fields are amounts whatever is beside them,
// and the customer's address is the customer's, so that the intent stays what it is.
func (r *reading) keepApart() {
	if len(r.rule.identity) > 0 { // what is not listed has no say
		for _, at := range r.listed {
			if at >= 0 {
				r.addAlike(at)
			}
		}
	} else {
		if r.beside >= 0 {
			r.addAlike(r.beside)
		}
		if r.args >= 0 {
			r.addAlike(r.args)
		}
	}
	if len(r.alike) < 2 {
		return
	}
	r.sortAlike()
	who := int32(-1)
	if r.args >= 0 {
		who = r.customerOf()
	}
	for rest := r.alike; len(rest) > 1; {
		n, differ := 1, false
		for ; n < len(rest) && rest[n].sum == rest[0].sum; n++ {
			differ = differ || r.values[rest[n].at].text != r.values[rest[0].at].text
		}
		for _, one := range rest[:n] {
			if differ && one.at != who {
				r.takeBack(one.at)
			}
		}
		rest = rest[n:]
	}
}

// sortAlike brings texts of one sum together. Where they are many it sorts by the bytes of the sums, the lowest first,
// which takes the same time whatever they are.
func (r *reading) sortAlike() {
	const few = 256
	if len(r.alike) < few {
		slices.SortFunc(r.alike, func(a, b alike) int { return cmp.Compare(a.sum, b.sum) })
		return
	}
	from, to := r.alike, make([]alike, len(r.alike))
	for shift := 0; shift < 64; shift += 8 {
		var starts [256]int
		for i := range from {
			starts[byte(from[i].sum>>shift)]++
		}
		at := 0
		for digit, n := range starts {
			starts[digit], at = at, at+n
		}
		for i := range from {
			digit := byte(from[i].sum >> shift)
			to[starts[digit]] = from[i]
			starts[digit]++
		}
		from, to = to, from
	}
}

// addAlike collects the texts in a value that counts.
func (r *reading) addAlike(from int32) {
	for i := from; i < r.values[from].next; {
		v := &r.values[i]
		if i != from && v.gone != counts {
			i = v.next
			continue
		}
		i++
		switch {
		case v.kind != '"':
		case v.address > 0:
			r.alike = doubled(r.alike, alike{sum(r.addresses[v.address-1]), i - 1})
		case v.elastic:
			amount := r.amounts.at(v.money - 1)
			r.side = append(amount.Minor.AppendText(r.side[:0]), amount.Currency...)
			r.alike = doubled(r.alike, alike{sum(aliasing(r.side)), i - 1})
		}
	}
}

// takeBack leaves a text as it is written, and with it the currency that it may need.
func (r *reading) takeBack(at int32) {
	v := &r.values[at]
	v.reason = money.Alike
	v.address = 0
	if v.money == 0 {
		return
	}
	v.money, v.elastic = 0, false
	for at = v.parent; at >= 0 && r.values[at].kind == '['; {
		at = r.values[at].parent
	}
	if at >= 0 && r.values[at].took > 0 {
		r.values[r.values[at].took].gone, r.values[at].took = counts, 0
	}
}

// sum gives the FNV-1a sum, 64 bits, of a text.
func sum(text string) uint64 { return addFNV(fnvOffset, text) }

// fnvOffset is the sum of nothing.
const fnvOffset uint64 = 14695981039346656037

// addFNV goes on with an FNV-1a sum.
func addFNV(sum uint64, text string) uint64 {
	const prime = 1099511628211
	for i := range len(text) {
		sum = (sum ^ uint64(text[i])) * prime
	}
	return sum
}

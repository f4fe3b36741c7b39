package canon

// Change is one thing that the canonical form did to the call, and why.
type Change struct {
	Pointer string // into the body
	Rule    string // the rule's short name: volatile, money, email, number, currency, key_order, identity, …
	From    string // as written, abbreviated
	To      string // as it counts; empty: dropped
	Why     string // one sentence
}

func (r *reading) explain(action *Action) {}

package ledger

import (
	"cmp"
	"slices"

	"idem/ledgerd/intent"
	"idem/ledgerd/wire"
)

// mostHops is how many marks an arrival follows: one for each change of the configuration while the first row lives.
const mostHops = 32

// decided is a job with the record that decided it.
type decided struct {
	key string
	job *job
}

// arriveAt lets an arrival happen in a record and waits for the verdict.
func (l *Ledger) arriveAt(key string, a intent.Arrive, limit int64) *job {
	done := make(chan *job, 1)
	l.submit(key, &job{cmd: a, limit: limit, done: func(j *job) { done <- j }})
	return <-done
}

// follow decides an arrival that former configurations would have called otherwise. Each of those records decides if a
// row counts there; where none does, it keeps a mark, so that a worker that still has the former configuration comes
// here too. Only then the arrival's own record decides. A mark that is there already leads to a configuration that this
// one does not know of: what it recorded counts as well.
func (l *Ledger) follow(a intent.Arrive, limit int64, own intent.Identity, former []wire.Identity) decided {
	most := len(former) + mostHops
	for i := 0; i < len(former); i++ {
		id, there := former[i], a
		there.Fingerprint, there.MovesTo = id.Fingerprint, &own
		j := l.arriveAt(id.Intent, there, limit)
		if j.err != nil || j.verdict.Kind != intent.Moved {
			return decided{id.Intent, j}
		}
		if to := j.verdict.To; to != own && !slices.Contains(former, wire.Identity(to)) {
			former = append(former, wire.Identity(to))
		}
		if len(former) > most {
			j.err = errContended
			return decided{id.Intent, j}
		}
	}
	j := l.arriveAt(own.Intent, a, limit)
	if j.err != nil || j.verdict.Kind != intent.Moved {
		return decided{own.Intent, j}
	}
	return l.followMark(a, limit, own, j)
}

// followMark goes on in the record that a mark names. Marks that lead in a circle (a configuration that was taken
// back) are decided in the record of the circle with the least key, whoever enters the circle where.
func (l *Ledger) followMark(a intent.Arrive, limit int64, from intent.Identity, j *job) decided {
	path := []intent.Identity{from}
	for range mostHops {
		to := j.verdict.To
		if i := slices.Index(path, to); i >= 0 {
			to = slices.MinFunc(path[i:], func(a, b intent.Identity) int {
				if a.Intent != b.Intent {
					return cmp.Compare(a.Intent, b.Intent)
				}
				return cmp.Compare(a.Fingerprint, b.Fingerprint)
			})
			a.Fingerprint, a.Stay = to.Fingerprint, true
			return decided{to.Intent, l.arriveAt(to.Intent, a, limit)}
		}
		path = append(path, to)
		a.Fingerprint = to.Fingerprint
		if j = l.arriveAt(to.Intent, a, limit); j.err != nil || j.verdict.Kind != intent.Moved {
			return decided{to.Intent, j}
		}
	}
	j.err = errContended
	return decided{from.Intent, j}
}

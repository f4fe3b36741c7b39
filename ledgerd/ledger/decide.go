package ledger

import (
	"errors"
	"slices"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
)

const (
	mostConflicts = 64 // lost races against other nodes before a job is given up
	mostUnknown   = 3  // writes of unknown effect before it is
)

// decide takes jobs of one record through load, step and compare-and-swap, and gives each its verdict or error. A
// verdict that changed the record is durable when decide returns; one that did not is true of what the store has, or
// of what this node may answer from memory.
//
// Where a write's effect is not known, the record is read again. If it is the one written, the verdicts stand;
// otherwise everything is decided anew, which is harmless: the same attempt gets the same grant, the same commit is ok
// again, the same run finds its row. Only a human's answer can find its own effect as a conflict, so then it is said
// to be uncertain. As long as such a write may still happen, because the record has the version that it expects, nothing
// is said that it would make untrue.
func (l *Ledger) decide(key string, jobs []*job) {
	fresh := slices.ContainsFunc(jobs, func(j *job) bool { return j.fresh })
	var written []unheard // writes whose effect is not known
	begun := time.Now()
	for conflicts, unknown := 0, 0; ; {
		e, remembered, err := l.load(key, fresh && !l.o.SoleOwner || unknown > 0 || conflicts > 0)
		if err != nil {
			l.giveUp(key, jobs, err)
			return
		}
		if i := slices.IndexFunc(written, func(u unheard) bool { return u.token == e.token }); i >= 0 {
			written[i].restore(jobs)
			l.settle(key, jobs, e)
			return
		}
		at, err := l.moment()
		if err != nil {
			l.giveUp(key, jobs, err)
			return
		}
		next, w := l.step(e, jobs, at)
		switch mayHappenYet := slices.ContainsFunc(written, func(u unheard) bool { return u.expect == e.version }); {
		case w != nil: // write it
		case mayHappenYet:
			l.giveUp(key, jobs, errPending)
			return
		case !remembered || l.o.SoleOwner:
			l.settle(key, jobs, e)
			return
		case slices.ContainsFunc(jobs, func(j *job) bool { return !l.trueFromMemory(e, j) }):
			fresh = true
			continue
		default:
			l.finish(jobs, e)
			return
		}
		epoch := l.records.now()
		next.version, err = l.swap(w)
		switch {
		case err == nil:
			l.wrote(epoch, next, w)
			l.settle(key, jobs, next)
			return
		case errors.Is(err, store.ErrConflict):
			if conflicts++; conflicts > mostConflicts || time.Since(begun) > l.o.OperationTimeout {
				l.giveUp(key, jobs, errContended)
				return
			}
			l.counts.add(countConflicts, 1)
		case errors.Is(err, store.ErrOverloaded) && len(written) > 0:
			l.giveUp(key, jobs, errPending)
			return
		case errors.Is(err, store.ErrOverloaded), errors.Is(err, store.ErrInvalid):
			l.giveUp(key, jobs, err)
			return
		default:
			l.counts.add(countUnknownWrites, 1)
			written = append(written, unheardOf(next, w.Expect, jobs))
			// One that took long is not followed by another that would end after its callers' time.
			if unknown++; unknown > mostUnknown || time.Since(begun) > l.o.OperationTimeout/2 {
				l.giveUp(key, jobs, err)
				return
			}
		}
	}
}

// unheard is a write whose effect is not known, with the verdicts that are true if it happened.
type unheard struct {
	token    string // empty: it removed the record
	expect   uint64 // it may still happen while the record has this version
	verdicts []intent.Verdict
	at       time.Time
}

// unheardOf remembers what jobs were decided by a write, and that each may have had its effect.
func unheardOf(next *entry, expect uint64, jobs []*job) unheard {
	u := unheard{token: next.token, expect: expect, verdicts: make([]intent.Verdict, len(jobs))}
	for i, j := range jobs {
		u.verdicts[i], u.at, j.uncertain = j.verdict, j.at, true
	}
	return u
}

// restore gives jobs the verdicts of a write that turned out to have happened.
func (u unheard) restore(jobs []*job) {
	for i, j := range jobs {
		j.verdict, j.at, j.uncertain = u.verdicts[i], u.at, false
	}
}

// step takes every job's command, in order, and gives the record that comes of it with its write; no write where
// nothing changed.
func (l *Ledger) step(e *entry, jobs []*job, at intent.Moment) (*entry, *store.Write) {
	next := &entry{key: e.key, content: e.content}
	var put []store.Result
	changed := false
	for _, j := range jobs {
		var v intent.Verdict
		next.Record, v = intent.Step(next.Record, l.command(&next.content, j), at)
		if v.Keep != "" {
			put = append(put, store.Result{Attempt: v.Keep, Data: j.bytes})
		}
		if v.Kind == intent.Granted && v.Changed && j.limit != defaultMaxResult {
			next.Limits = next.limited(v.Attempt, j.limit)
		}
		changed = changed || v.Changed
		j.verdict, j.at = v, at.Now
	}
	due := next.Record.Due(at.Resumed)
	if !changed && !slices.ContainsFunc(jobs, func(j *job) bool { return j.swept }) {
		return e, nil
	}
	if e.version == 0 && next.Record.Empty() {
		return e, nil
	}
	w := &store.Write{Key: e.key, Expect: e.version, Now: at.Now}
	names := next.Record.Results()
	for _, p := range put {
		if slices.Contains(names, p.Attempt) {
			p.Attempt = storedName(e.key, p.Attempt)
			w.Put = append(w.Put, p)
		}
	}
	w.Drop = dropped(e.key, slices.DeleteFunc(e.Record.Results(), func(name string) bool { return slices.Contains(names, name) }))
	if next.Record.Empty() {
		return next, w
	}
	next.token, next.Limits = l.token(), next.pruned()
	w.Data, w.Entries = encodeRecord(next.token, &next.content), entries(&next.Record, due)
	return next, w
}

// settle gives out verdicts that are true of what the store has, and tells those who wait for the record.
func (l *Ledger) settle(key string, jobs []*job, e *entry) {
	l.finish(jobs, e)
	l.waiters.tell(key, &e.Record, jobs)
}

func (l *Ledger) finish(jobs []*job, e *entry) {
	for _, j := range jobs {
		j.seen = e
	}
}

func (l *Ledger) giveUp(key string, jobs []*job, err error) {
	l.records.drop(key)
	if missed, due := l.undecided.Due(time.Now()); due {
		l.o.Log.Warn("operations could not be decided", "intent", key, "operations", len(jobs), "error", err, "more_records_since_last", missed)
	}
	for _, j := range jobs {
		j.err = unavailable(err)
	}
}

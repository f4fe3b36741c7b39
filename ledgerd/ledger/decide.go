package ledger

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
	"idem/ledgerd/wire"
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
		if w == nil && slices.ContainsFunc(written, func(u unheard) bool { return u.expect == e.version }) {
			l.giveUp(key, jobs, errPending)
			return
		}
		if w == nil {
			if remembered && !l.o.SoleOwner && !slices.ContainsFunc(jobs, func(j *job) bool { return !l.trueFromMemory(e, j) }) {
				l.finish(jobs, e)
				return
			}
			if remembered && !l.o.SoleOwner {
				fresh = true
				continue
			}
			l.settle(key, jobs, e)
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
			if conflicts++; conflicts > mostConflicts {
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
			if unknown++; unknown > mostUnknown {
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
			w.Put = append(w.Put, p)
		}
	}
	for _, name := range e.Record.Results() {
		if !slices.Contains(names, name) {
			w.Drop = append(w.Drop, name)
		}
	}
	if next.Record.Empty() {
		return next, w
	}
	next.token, next.Limits = l.token(), next.pruned()
	w.Data, w.Entries = encodeRecord(next.token, &next.content), entries(&next.Record, due)
	return next, w
}

var defaultMaxResult = wire.DefaultRule().MaxResultBytes

// command gives a job's command as it is for this record: a result that is larger than its attempt's rule allows is
// committed without its bytes.
func (l *Ledger) command(c *content, j *job) intent.Command {
	fits := func(attempt string, r *intent.Result) {
		limit, ok := c.Limits[attempt]
		if !ok {
			limit = defaultMaxResult
		}
		if r.Size > min(limit, l.o.MaxResultBytes) {
			r.Missing = wire.MissingTooLarge
		}
	}
	switch cmd := j.cmd.(type) {
	case intent.Commit:
		fits(cmd.Attempt, &cmd.Result)
		return cmd
	case intent.Fail:
		if cmd.Failure != nil {
			failure := *cmd.Failure
			fits(cmd.Attempt, &failure)
			cmd.Failure = &failure
		}
		return cmd
	case intent.Resolve:
		if cmd.Result != nil {
			result := *cmd.Result
			fits(cmd.Attempt, &result)
			cmd.Result = &result
		}
		return cmd
	}
	return j.cmd
}

// load gives a record, from memory if it may.
func (l *Ledger) load(key string, fresh bool) (e *entry, remembered bool, err error) {
	if !fresh {
		if e, ok := l.records.get(key); ok {
			return e, true, nil
		}
	}
	epoch := l.records.now()
	rec, err := l.store.Load(l.call(), key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		l.records.drop(key)
		return &entry{key: key}, false, nil
	case err != nil:
		l.outage.failed()
		return nil, false, unavailable(err)
	}
	if e, err = decodeRecord(key, rec.Version, rec.Data); err != nil {
		l.o.Log.Error("a record cannot be read; its intent is refused until it can", "intent", key, "error", err)
		return nil, false, unavailable(err)
	}
	l.records.put(epoch, key, e, e.weight())
	return e, false, nil
}

// swap writes, and notes whether the store can.
func (l *Ledger) swap(w *store.Write) (uint64, error) {
	version, err := l.store.Swap(l.call(), *w)
	switch {
	case err == nil:
		l.outage.wrote(w.Now)
	case !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrOverloaded):
		l.outage.failed()
	}
	return version, err
}

// wrote remembers what was written.
func (l *Ledger) wrote(epoch int64, e *entry, w *store.Write) {
	if w.Data == nil {
		l.records.drop(e.key)
		return
	}
	l.records.put(epoch, e.key, e, e.weight())
	for _, p := range w.Put {
		if r, err := decodeResult(p.Data); err == nil {
			l.results.put(l.results.now(), resultName(p.Attempt, digestOf(&e.Record, p.Attempt)), r, r.weight(cap(p.Data)))
		}
	}
}

// digestOf gives what a record remembers of stored bytes.
func digestOf(rec *intent.Record, name string) string {
	for i := range rec.Rows {
		if r := rec.Rows[i].Result; r != nil && r.Attempt == name {
			return r.Digest
		}
		if r := rec.Rows[i].Failure; r != nil && r.Attempt == name {
			return r.Digest
		}
	}
	return ""
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
	l.o.Log.Warn("operations could not be decided", "intent", key, "operations", len(jobs), "error", err)
	for _, j := range jobs {
		j.err = unavailable(err)
	}
}

// moment is the moment of a decision that is made now.
func (l *Ledger) moment() (intent.Moment, error) {
	now, err := l.Now(l.call())
	if err != nil {
		l.outage.failed()
		return intent.Moment{}, err
	}
	resumed, err := l.resumed(now)
	return intent.Moment{Now: now, Resumed: resumed}, err
}

// unavailable makes every error of the store one that callers can tell apart: overloaded, or unavailable.
func unavailable(err error) error {
	if errors.Is(err, store.ErrOverloaded) || errors.Is(err, store.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
}

// shelf is where index entries stand that are only there to be looked up: a scan up to now does not meet them.
var shelf = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// doubted says whether a row's attempt is or was in doubt.
func doubted(r *intent.Row) bool {
	return r.Attempt != "" && slices.ContainsFunc(r.History, func(e intent.Event) bool { return e.State == intent.InDoubt })
}

// entries gives the index entries of a record. Holds has a hold whatever became of it, and Doubts a row that has ever
// been in doubt, so that a second answer finds them and is told that they are not open; only the open ones have their
// own time, the others stand on the shelf.
func entries(rec *intent.Record, due time.Time) []store.Entry {
	var list []store.Entry
	if !due.IsZero() {
		list = append(list, store.Entry{Index: store.Due, At: due})
	}
	for i := range rec.Rows {
		r := &rec.Rows[i]
		if q := r.Question; q != nil {
			at := shelf
			if r.State == intent.HeldRow {
				at = q.Opened
			}
			list = append(list, store.Entry{Index: store.Holds, ID: q.ID, At: at})
		}
		switch {
		case r.State == intent.InDoubt:
			list = append(list, store.Entry{Index: store.Doubts, ID: r.Attempt, At: r.Since})
		case doubted(r):
			list = append(list, store.Entry{Index: store.Doubts, ID: r.Attempt, At: shelf})
		}
	}
	return list
}

package intent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Every write carries its whole record, so a record's bytes are bounded, whatever callers and people send. What the
// machine needs (ids, moments, descriptions of results) is bounded by the number of rows: an attempt that was granted
// always finds room to end, and a person to answer. What is kept for those who come later is bounded together:
//
//	runs       a long one stands as its digest (RecordedRun). Each row records sureRuns; further ones count against
//	           MaxRunBytes, and past it are answered but not recorded
//	actions    count against MaxActionBytes; past it only their size is kept
//	names      of tools and rules, who answered and why: cut short
//
// Before anything is left out, released rows give up what they have of it, oldest first: they count as not there. Only
// their late commit would miss it.
const (
	MaxRun         = 128       // bytes of a run as it is recorded; a longer one is recorded by its digest
	MaxRunBytes    = 256 << 10 // runs of all rows together, perRun for each beside its text; then see above
	MaxActionBytes = 512 << 10 // actions of all rows together; then see above
	MaxName        = 256       // bytes of a tool's or a rule's name, and of who answered; longer ones are cut
	MaxReason      = 1024      // bytes of why; longer ones are cut
	MaxBytes       = 2 << 20   // a record's stored form: no sum of the limits reaches it

	sureRuns = 2  // runs that a row records whatever the others have: the first, and the one that executes an approval
	perRun   = 24 // bytes that a run costs in memory beside its text
)

// RecordedRun is a run as records have it: as it is, or where it is longer than MaxRun, by its SHA-256.
func RecordedRun(run string) string {
	if len(run) <= MaxRun {
		return run
	}
	sum := sha256.Sum256([]byte(run))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// cut keeps at most so many bytes of a text.
func cut(s string, most int) string {
	const sign = "…"
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-len(sign)], "") + sign
}

// furtherRuns is what a row's runs count against MaxRunBytes.
func (r *Row) furtherRuns() int { return costOfRuns(r.Runs) }

func costOfRuns(runs []string) (n int) {
	for _, run := range runs[min(sureRuns, len(runs)):] {
		n += len(run) + perRun
	}
	return n
}

func (r *Row) forgetRuns() { r.Runs = slices.Clone(r.Runs[:min(sureRuns, len(r.Runs))]) }

func (r *Row) actionBytes() int { return len(r.Action) }
func (r *Row) forgetAction()    { r.Action = nil }

// fits says whether so many more bytes fit under a limit of the whole record, once released rows have given up theirs.
func (s *step) fits(more, most int, has func(*Row) int, forget func(*Row)) bool {
	used := 0
	for i := range s.rec.Rows {
		used += has(&s.rec.Rows[i])
	}
	for i := 0; i < len(s.rec.Rows) && used+more > most; i++ {
		if r := &s.rec.Rows[i]; r.State == Released && has(r) > 0 {
			used -= has(r)
			forget(s.row(i))
		}
	}
	return used+more <= most
}

func (s *step) runsFit(more int) bool {
	return more == 0 || s.fits(more, MaxRunBytes, (*Row).furtherRuns, (*Row).forgetRuns)
}

// join records that a run belongs to a row. A row full of runs, or one in a record full of them, answers further ones
// but does not record them.
func (s *step) join(i int, run string) {
	runs := s.rec.Rows[i].Runs
	if slices.Contains(runs, run) || len(runs) >= MaxRuns {
		return
	}
	if with := append(slices.Clip(runs), run); s.runsFit(costOfRuns(with) - costOfRuns(runs)) {
		s.row(i).Runs = with
	}
}

// executes records the run that a row executes for. Where there is no room it takes the place of the run before it: the
// caller that executes must find its row again.
func (s *step) executes(i int, run string) {
	s.join(i, run)
	if runs := s.rec.Rows[i].Runs; !slices.Contains(runs, run) {
		s.row(i).Runs = replacing(runs, run)
	}
}

// replacing puts a run in the place of the last one.
func replacing(runs []string, run string) []string {
	return append(slices.Clone(runs[:len(runs)-1]), run)
}

// copied gives a row's runs for a second row of the same call, as far as there is room for both.
func (s *step) copied(runs []string) []string {
	if s.runsFit(costOfRuns(runs)) {
		return runs
	}
	return slices.Clone(runs[:sureRuns])
}

// action is what is kept of a call for people, where it can stand in a record.
func (s *step) action(written []byte) json.RawMessage {
	switch {
	case !json.Valid(written):
		return nil
	case s.fits(len(written), MaxActionBytes, (*Row).actionBytes, (*Row).forgetAction):
		return slices.Clone(written)
	}
	return fmt.Appendf(nil, `{"(omitted)":"%d bytes; the calls of one intent are stored up to %d bytes together"}`, len(written), MaxActionBytes)
}

package ledger

import (
	"maps"

	"idem/ledgerd/intent"
	"idem/ledgerd/wire"
)

// defaultMaxResult is the max_result_bytes of a rule that does not say otherwise. Only others stand in a record.
var defaultMaxResult = wire.DefaultRule().MaxResultBytes

// command gives a job's command as it is for this record: a result that is larger than its attempt's rule allows is
// committed without its bytes.
func (l *Ledger) command(c *content, j *job) intent.Command {
	fitted := func(attempt string, r *intent.Result) *intent.Result {
		if r == nil {
			return nil
		}
		limit, ok := c.Limits[attempt]
		if !ok {
			limit = defaultMaxResult
		}
		out := *r
		if out.Size > min(limit, l.o.MaxResultBytes) {
			out.Missing = wire.MissingTooLarge
		}
		return &out
	}
	switch cmd := j.cmd.(type) {
	case intent.Commit:
		cmd.Result = *fitted(cmd.Attempt, &cmd.Result)
		return cmd
	case intent.Fail:
		cmd.Failure = fitted(cmd.Attempt, cmd.Failure)
		return cmd
	case intent.Resolve:
		cmd.Result = fitted(cmd.Attempt, cmd.Result)
		return cmd
	}
	return j.cmd
}

// limited gives the limits with one more.
func (c *content) limited(attempt string, limit int64) map[string]int64 {
	out := maps.Clone(c.Limits)
	if out == nil {
		out = map[string]int64{}
	}
	out[attempt] = limit
	return out
}

// pruned gives the limits of those attempts that may still bring a result.
func (c *content) pruned() map[string]int64 {
	if len(c.Limits) == 0 {
		return nil
	}
	out := map[string]int64{}
	for i := range c.Record.Rows {
		if r := &c.Record.Rows[i]; r.Attempt != "" && r.State != intent.Committed {
			if limit, ok := c.Limits[r.Attempt]; ok {
				out[r.Attempt] = limit
			}
		}
	}
	return out
}

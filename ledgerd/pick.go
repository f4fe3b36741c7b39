package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// oneID takes the one id of a hold or an attempt, and says where ids come from when there is none.
func oneID(what, list string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return fmt.Errorf("give the id of one %s: %s; `%s` shows the ids", what, c.UseLine(), list)
	}
}

// leastPrefix is how much of an id must be given: less is a slip rather than a choice.
const leastPrefix = 4

// pick gives the id that a person means by a beginning of it, or of its call's fingerprint, among those that are open.
// What is no beginning of any is taken for a whole id: it may have been answered.
func (cl *client) pick(ctx context.Context, path, member, idName, given string) (string, error) {
	if len(given) < leastPrefix {
		return given, nil
	}
	const most = 1000
	var reply map[string][]map[string]json.RawMessage
	if _, err := cl.ask(ctx, fmt.Sprintf("%s?limit=%d", path, most), nil, &reply); err != nil {
		return "", err
	}
	var found []string
	for _, open := range reply[member] {
		var id, fingerprint string
		_, _ = json.Unmarshal(open[idName], &id), json.Unmarshal(open["fingerprint"], &fingerprint) // both are texts
		switch {
		case id == given:
			return id, nil
		case strings.HasPrefix(id, given) || strings.HasPrefix(fingerprint, given):
			found = append(found, id)
		}
	}
	switch {
	case len(found) == 0 || len(reply[member]) == most: // of so many there may be more that are not listed
		return given, nil
	case len(found) > 1:
		return "", usageError{fmt.Errorf("%q begins %d ids or fingerprints: give more of it, or one of %s", given, len(found), strings.Join(found, ", "))}
	}
	return found[0], nil
}

func (cl *client) hold(ctx context.Context, given string) (string, error) {
	return cl.pick(ctx, "/api/holds", "holds", "id", given)
}

func (cl *client) doubt(ctx context.Context, given string) (string, error) {
	return cl.pick(ctx, "/api/in-doubt", "in_doubt", "attempt", given)
}

// short gives the beginning of a fingerprint, enough to tell it from others.
func short(fingerprint string) string { return fingerprint[:min(12, len(fingerprint))] }

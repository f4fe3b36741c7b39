package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"idem/ledgerd/store"
)

// What nodes of one store need not agree about, because nothing that is decided depends on it: how often they sweep and
// poll, what they keep in memory, how much they let be under way. What they must agree about is no setting: the terms of
// outages and of memories (outage.go, recall.go) are constants, and a call's own terms come with the call and stand in
// its row. What remains is what is stored of a call, which then depends on the node that happens to take it: where that
// matters, to privacy above all, somebody has made a mistake, and is told.

// settingKept says what the node that started last, or differed last, stores of a call.
const settingKept = "ledger.kept"

// kept says what this node stores of a call.
func (o *Options) kept() string {
	a := &o.Actions
	pointers := slices.Sorted(slices.Values(a.Pointers))
	return fmt.Sprintf("keep=%s redact=[%s] max_action_bytes=%d max_result_bytes=%d",
		cmp.Or(a.Keep, KeepFull), strings.Join(pointers, " "), a.MaxBytes, o.MaxResultBytes)
}

// agree warns where the node that started before this one stores something else of a call.
func (l *Ledger) agree() error {
	ctx, cancel := context.WithTimeout(l.ctx, l.o.StoreTimeout)
	defer cancel()
	here := l.o.kept()
	before, err := l.store.Setting(ctx, settingKept)
	switch {
	case err == nil && before == here:
		return nil
	case err == nil:
		l.o.Log.Warn("this ledgerd stores something else of a call than the one that started before it over the same store: "+
			"unless they are all given the same settings, what is stored depends on who takes the call", "here", here, "before", before)
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	return l.store.SetSetting(ctx, settingKept, here)
}

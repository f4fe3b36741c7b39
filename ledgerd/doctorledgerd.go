package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"idem/ledgerd/ledger"
)

// examineClock looks at this machine's clock. The ledger's decisions are by it, so a wrong clock ends leases and
// retention at the wrong time.
func examineClock(dir string) []finding {
	now := time.Now()
	earliest := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	if now.Before(earliest) {
		return []finding{{fail, "clock", fmt.Sprintf("it says %s: set it (NTP)", now.UTC().Format(time.RFC3339))}}
	}
	const tolerated = 2 * time.Second
	f, err := os.CreateTemp(dir, "doctor-*")
	if err != nil {
		return []finding{{well, "clock", now.UTC().Format(time.RFC3339)}}
	}
	defer discard(f)
	info, err := f.Stat()
	if err == nil && info.ModTime().Sub(now).Abs() > tolerated {
		return []finding{{warn, "clock", fmt.Sprintf("this machine says %s, the file system of %s %s: is the directory on another machine?", now.UTC().Format(time.RFC3339), dir, info.ModTime().UTC().Format(time.RFC3339))}}
	}
	return []finding{{well, "clock", now.UTC().Format(time.RFC3339)}}
}

// examineLedgerd asks a running ledgerd on both of its addresses.
func (o *doctorOptions) examineLedgerd(ctx context.Context) []finding {
	var found []finding
	before := time.Now()
	var state ledger.StateView
	if _, err := o.admin.ask(ctx, "/api/state?limit=1", nil, &state); err != nil {
		found = append(found, finding{fail, "admin API", err.Error()})
	} else {
		found = append(found, finding{well, "admin API", o.admin.server}, clockAgainst(state.Now, before, time.Now()))
		if n := len(state.InDoubt); n > 0 {
			found = append(found, finding{warn, "in doubt", fmt.Sprintf("calls in doubt wait for an answer: %d or more; see `ledgerd in-doubt list`", n)})
		}
	}
	if _, err := o.admin.do(ctx, "/readyz", nil); err != nil {
		found = append(found, finding{fail, "ready", err.Error()})
	} else {
		found = append(found, finding{well, "ready", "the store answers and writes"})
	}
	return append(found, o.examineData(ctx))
}

// clockAgainst compares the ledger's clock with this machine's, which was read before and after it.
func clockAgainst(ledgers, before, after time.Time) finding {
	switch {
	case ledgers.IsZero():
		return finding{warn, "ledger's clock", "the ledger does not say its time"}
	case ledgers.After(after.Add(clockTolerated)):
		return finding{warn, "ledger's clock", fmt.Sprintf("%v ahead of this machine's: it never steps back, so where the store's own clock is behind it too it stands still until that has caught up, and meanwhile no lease, hold or retention ends", ledgers.Sub(after).Round(time.Second))}
	case ledgers.Before(before.Add(-clockTolerated)):
		return finding{warn, "ledger's clock", fmt.Sprintf("%v behind this machine's", before.Sub(ledgers).Round(time.Second))}
	}
	return finding{well, "ledger's clock", "agrees with this machine's"}
}

// examineData sends the data API a batch without operations, as the filter would.
func (o *doctorOptions) examineData(ctx context.Context) finding {
	ctx, cancel := context.WithTimeout(ctx, o.admin.timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(o.data, "/")+"/v1/ops", http.NoBody)
	if err != nil {
		return finding{fail, "data API", fmt.Sprintf("--data-server %q: %v", o.data, err)}
	}
	r.Header.Set("Content-Type", "application/x-ndjson")
	if token := firstToken(o.dataToken); token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return finding{fail, "data API", unreachable(o.data, err, "--data-server says where its data API is").Error()}
	}
	response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		return finding{well, "data API", o.data}
	case http.StatusUnauthorized:
		return finding{fail, "data API", o.data + " does not take this token: the filter's (ledger.token_env) must be ledgerd's --token"}
	default:
		return finding{fail, "data API", fmt.Sprintf("%s answered %s: is it ledgerd's data API?", o.data, response.Status)}
	}
}

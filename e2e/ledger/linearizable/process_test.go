package linearizable

import (
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/ledgerd/store/postgres/pgtest"
	"idem/ledgerd/store/redis/redistest"
)

// Two ledgerd processes over one server are asked over their APIs, and killed while they are asked.
func TestHistoriesOfProcessesAreLinearizable(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) string{
		"postgres": func(t *testing.T) string { return pgtest.Start(t).URL(pgtest.NewSchema()) },
		"redis":    func(t *testing.T) string { return redistest.Start(t).URL() },
	} {
		t.Run(name, func(t *testing.T) {
			store := start(t)
			envoytest.MakeStore(t, store)
			o := Options{Faults: true, Seed: uint64(envoytest.Setting(t, "IDEM_HISTORY_SEED", time.Now().UnixNano()))}
			for range 2 {
				l := envoytest.StartLedgerd(t, "", "--store", store)
				o.Processes = append(o.Processes, Process{Data: l.Address, Admin: l.Admin, Crash: func() {
					l.Kill9(t)
					l.Start(t)
				}})
			}
			t.Logf("IDEM_HISTORY_SEED=%d", o.Seed)
			checkFor(t, NewMaker(t, nil, o), time.Duration(envoytest.Setting(t, "IDEM_HISTORY_SECONDS", 2))*time.Second)
		})
	}
}

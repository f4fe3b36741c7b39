package ordeal

import (
	"testing"

	"idem/e2e/envoytest"
	"idem/ledgerd/store/postgres/pgtest"
	"idem/ledgerd/store/redis/redistest"
)

// ledgers are one ledger: its ledgerds, and the server that they keep it on, where there is one.
type ledgers struct {
	ledgerds []*envoytest.Ledgerd
	store    interface { // nil: it is part of ledgerd
		kill()
		restart()
	}
}

func (l ledgers) server() *server {
	var addresses []string
	for _, d := range l.ledgerds {
		addresses = append(addresses, d.Address)
	}
	return newServer(addresses...)
}

// ready waits until every ledgerd can be used.
func (l ledgers) ready(t *testing.T) {
	t.Helper()
	for _, d := range l.ledgerds {
		envoytest.Until(t, 0, "ledgerd to be ready", d.Ready)
	}
}

// two starts two ledgerds over one new store.
func two(t *testing.T, url string) []*envoytest.Ledgerd {
	t.Helper()
	envoytest.MakeStore(t, url)
	return []*envoytest.Ledgerd{envoytest.StartLedgerd(t, "", "--store", url), envoytest.StartLedgerd(t, "", "--store", url)}
}

// everywhere is how a ledger is started over each kind of store that outlives a process.
var everywhere = []struct {
	name   string
	cycles int64 // of a test that is not told: as many as take a few seconds
	start  func(t *testing.T) ledgers
}{
	{"sqlite", 10, func(t *testing.T) ledgers {
		return ledgers{ledgerds: []*envoytest.Ledgerd{envoytest.StartLedgerd(t, "")}}
	}},
	{"postgres", 4, func(t *testing.T) ledgers {
		s := pgtest.Start(t)
		return ledgers{two(t, s.URL(pgtest.NewSchema())), postgresServer{t, s}}
	}},
	{"redis", 4, func(t *testing.T) ledgers {
		s := redistest.Start(t)
		return ledgers{two(t, s.URL()), valkeyServer{t, s}}
	}},
}

type postgresServer struct {
	t *testing.T
	s *pgtest.Server
}

func (p postgresServer) kill()    { p.s.Kill9(p.t) }
func (p postgresServer) restart() { p.s.Restart(p.t) }

type valkeyServer struct {
	t *testing.T
	s *redistest.Server
}

func (v valkeyServer) kill()    { v.s.Kill(v.t) }
func (v valkeyServer) restart() { v.s.Restart(v.t) }

package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"idem/ledgerd/ledger"
	"idem/ledgerd/seldom"
	"idem/ledgerd/wire"
)

// Operator answers batches of operations, in order; *ledger.Ledger does. An operation that is wrong or fails has an
// answer of its own. It blocks for an await until the wait is over or ctx ends. Now is the store's clock.
type Operator interface {
	Do(ctx context.Context, ops []wire.Op) []wire.Answer
	Now(ctx context.Context) (time.Time, error)
}

// Desk is where people ask and answer; *ledger.Ledger is it. An answer to something that is no longer open is a
// *ledger.ConflictError, an id that is not known wraps ledger.ErrNotFound.
type Desk interface {
	Holds(ctx context.Context, limit int) ([]ledger.HoldView, error)
	Hold(ctx context.Context, id string) (ledger.HoldView, error)
	AnswerHold(ctx context.Context, id string, a ledger.HoldAnswer) (ledger.HoldView, error)
	Doubts(ctx context.Context, limit int) ([]ledger.DoubtView, error)
	Doubt(ctx context.Context, attempt string) (ledger.DoubtView, error)
	Resolve(ctx context.Context, attempt string, r ledger.Resolution) (ledger.DoubtView, error)
	State(ctx context.Context, limit int) (ledger.StateView, error)
	Row(ctx context.Context, attempt, intent string) (ledger.RowView, error)
	Reset(ctx context.Context) error
	Subscribe(ctx context.Context) <-chan ledger.Event
}

// Ledger is what the two faces stand in front of. Ready says nil while the store answers and writes.
type Ledger interface {
	Operator
	Desk
	Ready(ctx context.Context) error
}

// Limits bound what one client can make ledgerd hold in memory; how many operations may be under way is the ledger's
// to say. Zero means the default, which each names.
type Limits struct {
	BatchBytes  int64 // body of POST /v1/ops: 32 MiB
	BatchOps    int   // operations of one batch: 4,096
	AdminBytes  int64 // body of an admin request: 2 MiB
	Subscribers int64 // open event streams: 64

	// UnderWayBytes is how many bytes the batches that are under way may have together: 128 MiB, or BatchBytes where that
	// is more. A further one waits a moment and is refused. Memory for a batch is about three times its bytes.
	UnderWayBytes int64
}

func (l Limits) withDefaults() Limits {
	l.BatchBytes = cmp.Or(l.BatchBytes, 32<<20)
	l.BatchOps = cmp.Or(l.BatchOps, 4096)
	l.AdminBytes = cmp.Or(l.AdminBytes, 2<<20)
	l.Subscribers = cmp.Or(l.Subscribers, 64)
	l.UnderWayBytes = cmp.Or(l.UnderWayBytes, max(128<<20, l.BatchBytes))
	return l
}

// Writing is how a store's writing is doing, since it was opened. Writes that wait are written together: one group is one
// transaction or one call of a script, made durable once for all of them.
type Writing struct {
	Groups, Writes, Conflicts, Failures uint64
	Waiting                             int // now
}

// Config is what the faces are made of.
type Config struct {
	Ledger     Ledger
	Explainer  Explainer
	Pages      http.Handler // the console, at / of the admin face; nil: none
	Data       Tokens       // of the data API; empty: open to everyone who reaches its listener. Admit gives others later
	Operators  Tokens       // of the admin API: everything
	Viewers    Tokens       // of the admin API: reading only. Both empty: everyone who reaches the listener is an operator
	AllowReset bool         // POST /api/reset removes every record
	AllowHosts []string     // Hosts of the admin face beside the loopback names; "*": any
	Limits     Limits
	Heartbeat  time.Duration  // between signs of life on an event stream: 15 s
	Writing    func() Writing // how the store is doing, for /metrics; nil: it does not say
	Log        *slog.Logger   // nil: none
}

// API is the two faces of one ledgerd.
type API struct {
	Config
	log      *slog.Logger
	metrics  *metrics
	registry *prometheus.Registry
	hosts    hostList
	room     *room
	ready    readiness
	strange  seldom.Warning // tokens that the data API does not know
	failed   seldom.Warning // requests that failed inside
	notWell  seldom.Warning // looks at readiness that failed

	queued, waiting, streams atomic.Int64
	draining                 atomic.Bool
	doors                    atomic.Pointer[Doors]
}

// New makes the faces. Its error names every setting that is wrong.
func New(c Config) (*API, error) {
	wrong := c.Validate()
	if c.Ledger == nil {
		wrong = errors.Join(errors.New("a ledger is needed"), wrong)
	}
	if wrong != nil {
		return nil, fmt.Errorf("api: %w", wrong)
	}
	hosts, err := newHostList(c.AllowHosts)
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	c.Limits = c.Limits.withDefaults()
	c.Heartbeat = cmp.Or(c.Heartbeat, 15*time.Second)
	a := &API{Config: c, log: c.Log, hosts: hosts, room: newRoom(c.Limits)}
	if a.log == nil {
		a.log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	a.Admit(Doors{Data: c.Data, Operators: c.Operators, Viewers: c.Viewers})
	a.ready.check = c.Ledger.Ready
	a.metrics, a.registry = newMetrics(a)
	return a, nil
}

// Validate reports every mistake in the settings; the ledger may come later.
func (c Config) Validate() error {
	_, err := newHostList(c.AllowHosts)
	wrong := []error{err}
	if l := c.Limits; min(l.BatchBytes, int64(l.BatchOps), l.AdminBytes, l.Subscribers, l.UnderWayBytes) < 0 || c.Heartbeat < 0 {
		wrong = append(wrong, errors.New("limits and the heartbeat must not be negative"))
	}
	if l := c.Limits.withDefaults(); l.UnderWayBytes < l.BatchBytes {
		wrong = append(wrong, fmt.Errorf("batches may have %d bytes together and %d each: want no less together", l.UnderWayBytes, l.BatchBytes))
	}
	return errors.Join(wrong...)
}

// Drain makes /readyz fail from now on, so that a load balancer sends no more; requests are still served.
func (a *API) Drain() { a.draining.Store(true) }

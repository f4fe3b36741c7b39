package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"idem/canon"
	"idem/ledgerd/api"
	"idem/ledgerd/console"
	"idem/ledgerd/ledger"
)

// serveOptions are the settings of `ledgerd serve`.
type serveOptions struct {
	listen, adminListen             string
	store                           storeChoice
	tokens                          tokenSettings
	allowReset                      bool
	allowHosts                      []string
	rules, fingerprintKey           string
	keep                            string
	redact                          []string
	tls                             tlsFiles
	logLevel, logFormat             string
	drainDelay, drainTimeout        time.Duration
	maxBatchBytes, maxResultBytes   int64
	maxQueuedBytes                  int64
	maxBatchOps, maxQueued, maxWait int
}

func newServe(s surroundings) *cobra.Command {
	o := &serveOptions{}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the ledger: the data API for the filter, the admin API and the console for people",
		Long: `Run the ledger: the data API for the filter, the admin API and the console for people.

Without a token a listener must be on a loopback address. A token's value, or its file, may have several lines, each a
token or a name and a token: so tokens are replaced without a gap, and the audit says who answered. A token has 16
characters or more.

SIGTERM (or SIGINT) stops: /readyz fails, --drain-delay passes, and what is under way is finished, for --drain-timeout at
most; a second one ends at once. SIGHUP reads the token files anew, all or none of them: where one cannot be taken the
tokens stay as they were, and the log says why. Other settings are read at start only.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.store.checkFlags(c); err != nil {
				return err
			}
			o.tokens.noteFiles(c.Flags())
			return serve(c.Context(), o, s)
		},
	}
	f := c.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:7411", "`address` of the data API")
	f.StringVar(&o.adminListen, "admin-listen", "127.0.0.1:7413", "`address` of the admin API and the console")
	storeFlags(c, &o.store)
	o.tokens.flags(f)
	f.BoolVar(&o.allowReset, "allow-reset", false, "let POST /api/reset forget everything; for demos and tests")
	f.StringSliceVar(&o.allowHosts, "allow-host", nil, "a `name` that the console is reached by, beside loopback names; may be repeated; * for any")
	f.StringVar(&o.rules, "rules", "", "the filter's plugin configuration, a `file`: the explain page then reads calls by its rules")
	secretFlag(f, &o.fingerprintKey, "fingerprint-key", "the filter's fingerprint key, for an explain page without --rules")
	f.StringVar(&o.keep, "keep", "full", "what is stored of a call for people: full, redacted or none")
	f.StringSliceVar(&o.redact, "redact", nil, "with --keep redacted: a `pointer` (RFC 6901, from the args) whose value is not stored; may be repeated; none: no value is")
	o.tls.flags(f)
	f.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	f.StringVar(&o.logFormat, "log-format", "text", "text or json")
	f.DurationVar(&o.drainDelay, "drain-delay", 0, "how long requests are still taken after SIGTERM, while /readyz fails already")
	f.DurationVar(&o.drainTimeout, "drain-timeout", 20*time.Second, "how long requests under way may take after that")
	f.Int64Var(&o.maxBatchBytes, "max-batch-bytes", 32<<20, "largest body of POST /v1/ops")
	f.IntVar(&o.maxBatchOps, "max-batch-operations", 4096, "most operations of one POST /v1/ops")
	f.Int64Var(&o.maxResultBytes, "max-result-bytes", 16<<20, "largest result that is stored, whatever a rule allows")
	f.Int64Var(&o.maxQueuedBytes, "max-queued-bytes", 128<<20, "most bytes of batches under way together; further ones are refused")
	f.IntVar(&o.maxQueued, "max-queued-operations", 10_000, "most operations under way; further reserves and waits are refused, and at twice as many what ends an execution too, which the filter then sends again")
	f.IntVar(&o.maxWait, "max-waiters-per-row", 10_000, "most callers that wait for one execution; further ones are refused")
	return c
}

// serve runs until ctx ends, then finishes what is under way.
func serve(ctx context.Context, o *serveOptions, s surroundings) (err error) {
	hup, unheard := hangups()
	defer unheard()
	log, err := newLog(s.err, o.logLevel, o.logFormat)
	if err != nil {
		return usageError{err}
	}
	faces, err := o.faces(s)
	if err != nil {
		return usageError{err}
	}
	secured, err := o.tls.load()
	if err != nil {
		return usageError{err}
	}
	at, adminAt, err := o.addresses(faces, secured)
	if err != nil {
		return usageError{err}
	}
	// Every setting has been looked at; from here on things are made.
	data, err := listen("listen", at)
	if err != nil {
		return err
	}
	defer func() { _ = data.Close() }() // its server closes it too
	admin, err := listen("admin-listen", adminAt)
	if err != nil {
		return err
	}
	defer func() { _ = admin.Close() }() // its server closes it too

	where := o.store.where()
	o.store.resets = o.allowReset
	kept, err := o.store.open(ctx, log, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing("store", kept.Close())) }()
	book, err := ledger.New(ledger.Options{
		Store: kept, SoleOwner: !o.store.shared(), Log: log,
		Actions:        ledger.Actions{Keep: ledger.Keep(o.keep), Pointers: o.redact},
		MaxResultBytes: o.maxResultBytes, QueuedOps: o.maxQueued, WaitersPerRow: o.maxWait,
	})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.drainTimeout)
		defer cancel()
		err = errors.Join(err, closing("ledger", book.Close(ctx)))
	}()
	faces.Ledger, faces.Log, faces.Writing = book, log, writing(kept)
	served, err := api.New(faces)
	if err != nil {
		return usageError{err}
	}

	// Requests live on after the signal; what waits without end is ended when the drain begins.
	requests, endWaits := context.WithCancelCause(context.WithoutCancel(ctx))
	defer endWaits(nil)
	dataServer := api.Server(requests, served.Data(), log)
	adminServer := api.Server(requests, served.Admin(), log)
	failed := make(chan error, 2)
	go func() { failed <- dataServer.Serve(secured.wrap(data, true)) }()
	go func() { failed <- adminServer.Serve(secured.wrap(admin, false)) }()
	log.Info("ledgerd serves", append([]any{"version", version, "data", data.Addr().String(), "admin", admin.Addr().String(),
		"console", secured.scheme() + "://" + admin.Addr().String() + "/"}, where...)...)
	if made, _ := newlyMade(kept); made && !o.store.shared() {
		log.Warn("made a new, empty store: it knows of nothing that was executed before", "data_dir", o.store.dataDir)
	}
	warnOfOpenDoors(log, o, faces)
	warnOfClock(ctx, log, book)
	go o.tokens.hangup(ctx, hup, served.Admit, log)

	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	log.Info("ledgerd drains: /readyz fails, requests under way are finished")
	served.Drain()
	broken := wait(failed, o.drainDelay)
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.drainTimeout)
	defer cancel()
	endWaits(ledger.ErrStopping)
	err = errors.Join(broken, shutdown(deadline, dataServer), shutdown(deadline, adminServer))
	log.Info("ledgerd has stopped")
	return err
}

// faces reads the settings of the two APIs.
func (o *serveOptions) faces(s surroundings) (api.Config, error) {
	c := api.Config{
		AllowReset: o.allowReset, AllowHosts: o.allowHosts, Pages: console.Handler(),
		Limits: api.Limits{BatchBytes: o.maxBatchBytes, BatchOps: o.maxBatchOps, UnderWayBytes: o.maxQueuedBytes},
	}
	var wrong []error
	doors, err := o.tokens.parse()
	wrong = append(wrong, err)
	c.Data, c.Operators, c.Viewers = doors.Data, doors.Operators, doors.Viewers
	reader, err := newExplainer(o.rules, canon.Key{Secret: []byte(o.fingerprintKey)}, canon.Settings{}, s)
	wrong = append(wrong, err)
	c.Explainer = reader
	return c, errors.Join(append(wrong, c.Validate(), o.store.validate(), o.validate())...)
}

// validate reports every other setting that is wrong, by its flag.
func (o *serveOptions) validate() error {
	var wrong []error
	if o.drainDelay < 0 || o.drainTimeout <= 0 {
		wrong = append(wrong, fmt.Errorf("--drain-delay is %v and --drain-timeout %v: want no negative delay and a positive timeout", o.drainDelay, o.drainTimeout))
	}
	if o.maxQueuedBytes < o.maxBatchBytes {
		wrong = append(wrong, fmt.Errorf("--max-queued-bytes is %d and --max-batch-bytes %d: want no less for all batches than for one", o.maxQueuedBytes, o.maxBatchBytes))
	}
	switch ledger.Keep(o.keep) {
	case ledger.KeepFull, ledger.KeepNone:
		if len(o.redact) > 0 {
			wrong = append(wrong, fmt.Errorf("--redact goes with --keep redacted, not with --keep %s", o.keep))
		}
	case ledger.KeepRedacted:
		for _, p := range o.redact {
			if p == "" || !jsontext.Pointer(p).IsValid() {
				wrong = append(wrong, fmt.Errorf("--redact %q: want an RFC 6901 pointer, from the args, such as /card/number", p))
			}
		}
	default:
		wrong = append(wrong, fmt.Errorf("--keep %q: want full, redacted or none", o.keep))
	}
	for flag, n := range map[string]int64{
		"max-batch-bytes": o.maxBatchBytes, "max-queued-bytes": o.maxQueuedBytes, "max-batch-operations": int64(o.maxBatchOps), "max-result-bytes": o.maxResultBytes,
		"max-queued-operations": int64(o.maxQueued), "max-waiters-per-row": int64(o.maxWait),
	} {
		if n <= 0 {
			wrong = append(wrong, fmt.Errorf("--%s is %d: want a positive number", flag, n))
		}
	}
	return errors.Join(wrong...)
}

// addresses reads the two listeners' addresses. One that is not loopback needs something that says who may come in.
func (o *serveOptions) addresses(faces api.Config, secured security) (data, admin *net.TCPAddr, err error) {
	data, dataErr := address("listen", o.listen, !faces.Data.Empty() || secured.clients != nil,
		"a --token, or TLS with --client-ca,")
	admin, adminErr := address("admin-listen", o.adminListen, !faces.Operators.Empty() || !faces.Viewers.Empty(), "an --operator-token")
	return data, admin, errors.Join(dataErr, adminErr)
}

func address(setting, text string, guarded bool, needs string) (*net.TCPAddr, error) {
	at, err := net.ResolveTCPAddr("tcp", text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--%s %s: %w (want an address and a port, such as 127.0.0.1:7411)", setting, text, err)
	case !guarded && !at.IP.IsLoopback():
		return nil, fmt.Errorf("--%s %s is not a loopback address: it needs %s so that not everyone who reaches it may use it", setting, text, needs)
	}
	return at, nil
}

func listen(setting string, at *net.TCPAddr) (net.Listener, error) {
	l, err := net.ListenTCP("tcp", at)
	if err != nil {
		return nil, fmt.Errorf("--%s %s: %w (choose another address by --%s)", setting, at, err, setting)
	}
	return l, nil
}

func warnOfOpenDoors(log *slog.Logger, o *serveOptions, faces api.Config) {
	if o.allowReset {
		log.Warn("--allow-reset: whoever may answer holds may make the ledger forget everything")
	}
	if faces.Operators.Empty() && faces.Viewers.Empty() {
		log.Warn("the admin API has no token: everyone on this machine may answer holds; --operator-token-file and --viewer-token-file give it some")
	}
	if o.store.kind == "memory" {
		log.Warn("--store memory: what was executed is forgotten when ledgerd stops; for tests only")
	}
}

// clockTolerated is how far two clocks may be apart before it is worth a word.
const clockTolerated = 2 * time.Second

// warnOfClock says that the ledger's clock is ahead of this machine's.
func warnOfClock(ctx context.Context, log *slog.Logger, book *ledger.Ledger) {
	now, err := book.Now(ctx)
	if err != nil {
		return // it will be told by whoever needs it
	}
	if here := time.Now(); now.Sub(here) > clockTolerated {
		log.Warn("the ledger's clock is ahead of this machine's; it never steps back, so where the store's own clock is behind it too it stands still until that has caught up: meanwhile no lease, hold or retention ends (idem_clock_ahead_seconds)",
			"ahead", now.Sub(here).Round(time.Millisecond), "ledger", now, "machine", here.UTC())
	}
}

// wait lets a time pass, or less where a server fails meanwhile.
func wait(failed <-chan error, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-time.After(d):
		return nil
	}
}

// shutdown finishes a server's requests, and breaks off those that take longer than ctx allows.
func shutdown(ctx context.Context, s *http.Server) error {
	err := s.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("requests were still under way when the drain ended: %w", err), s.Close())
	}
	return err
}

func closing(what string, err error) error {
	if err != nil {
		return fmt.Errorf("close the %s: %w", what, err)
	}
	return nil
}

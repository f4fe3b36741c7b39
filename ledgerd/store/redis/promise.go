package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// promise is what an acknowledged write may be relied on for, and how that is made sure.
//
// That a write is synced is made sure by appendfsync always: the server syncs before it sends any answer. WAITAOF
// confirms that the file is on, once for each round trip. It would not do alone: with appendfsync everysec it may say
// yes before the sync (Redis 7.4 before its fix of 2025, Valkey up to 9.1 at least).
type promise struct {
	synced   bool // each round trip with writes is confirmed by WAITAOF
	replicas int  // and by WAIT, from so many replicas
	dirty    bool // a reader may see what is not confirmed yet
	words    string

	// watched: each round trip with writes asks for the settings that it rests on, as they were when the server did it.
	watched bool
	place   *place
}

// promised gives what can be promised on servers that were judged good.
func promised(servers []facts, p *place) promise {
	each := func(is func(facts) bool) bool {
		return !slices.ContainsFunc(servers, func(f facts) bool { return !is(f) })
	}
	made := promise{place: p, watched: each(func(f facts) bool { return f.config }), words: "each write is synced before it is acknowledged (appendfsync always)"}
	if !each(facts.syncs) {
		made.words = fmt.Sprintf("accept_loss: a power cut may lose writes that were acknowledged (appendfsync %s)", known(servers[0].fsync))
	}
	if p.acceptLoss {
		made.words += "; accept_loss: a failover to a replica may lose the newest writes that were acknowledged"
		return made
	}
	made.synced = each(func(f facts) bool { return f.waitaof })
	made.replicas = p.minReplicas
	// Who reads a write back whose confirmation failed must not take it for confirmed.
	made.dirty = made.synced || p.minReplicas > 0
	if p.minReplicas > 0 {
		made.words += fmt.Sprintf("; replicas that have it by then: %d, and a failover to one of them loses nothing", p.minReplicas)
	} else {
		made.words += "; there is no replica to fail over to"
	}
	return made
}

func known(setting string) string {
	if setting == "" {
		return "unknown"
	}
	return setting
}

// confirm adds to a round trip what confirms its writes. What it gives says afterwards whether they are.
func (p promise) confirm(ctx context.Context, pipe redis.Pipeliner, patience time.Duration) func() error {
	var synced *redis.IntSliceCmd
	var replicated *redis.IntCmd
	var settings *redis.MapStringStringCmd
	if p.watched {
		settings = redis.NewMapStringStringCmd(ctx, "config", "get", "maxmemory-policy", "appendonly", "appendfsync", "no-appendfsync-on-rewrite")
		_ = pipe.Process(ctx, settings)
	}
	if p.synced {
		synced = redis.NewIntSliceCmd(ctx, "waitaof", 1, 0, patience.Milliseconds())
		_ = pipe.Process(ctx, synced) // only queues it
	}
	if p.replicas > 0 {
		replicated = redis.NewIntCmd(ctx, "wait", p.replicas, patience.Milliseconds())
		_ = pipe.Process(ctx, replicated)
	}
	return func() error {
		if settings != nil {
			set, err := settings.Result()
			if err != nil {
				return fmt.Errorf("looking at the server's settings: %w", err)
			}
			f := facts{address: p.place.addresses[0], policy: set["maxmemory-policy"], aof: set["appendonly"] == "yes", fsync: set["appendfsync"], skipsFsync: set["no-appendfsync-on-rewrite"] == "yes"}
			if err := f.judgeSettings(p.place); err != nil {
				return err
			}
		}
		if synced != nil {
			switch n, err := synced.Result(); {
			case err != nil:
				return fmt.Errorf("waiting for the server to sync: %w", err)
			case len(n) == 0 || n[0] < 1:
				return fmt.Errorf("the server did not sync within %v", patience)
			}
		}
		if replicated != nil {
			switch n, err := replicated.Result(); {
			case err != nil:
				return fmt.Errorf("waiting for replicas: %w", err)
			case n < int64(p.replicas):
				return fmt.Errorf("%d of %d replicas have the writes after %v", n, p.replicas, patience)
			}
		}
		return nil
	}
}

// warnings says what of it an operator should not leave so.
func (p promise) warnings(servers []facts) (list []string) {
	if !p.watched {
		list = append(list, "CONFIG GET is closed to ledgerd: a change of maxmemory-policy is noticed within ten seconds only, and one of appendfsync never")
	}
	for _, f := range servers {
		if !p.place.acceptLoss && !f.waitaof {
			list = append(list, f.address+" has no WAITAOF: that each write is synced rests on appendfsync always alone")
		}
	}
	return list
}

// syncs says that a server syncs before it answers.
func (f facts) syncs() bool { return f.fsync == "always" && !f.skipsFsync }

// judge says what is wrong with a server, all of it at once.
func (f facts) judge(p *place) error {
	var wrong []error
	if f.major < 7 {
		wrong = append(wrong, f.unsafe("it is version %s, want 7 or newer, or Valkey", known(f.version)))
	}
	if f.role != "master" {
		wrong = append(wrong, f.unsafe("it is a replica (role %s), which forgets what its master does not know: want the master's address", known(f.role)))
	}
	return errors.Join(append(wrong, f.judgeSettings(p))...)
}

func (f facts) unsafe(format string, args ...any) error {
	return fmt.Errorf("%w: redis %s: %s", ErrUnsafe, f.address, fmt.Sprintf(format, args...))
}

// judgeSettings says what is wrong with a server's settings.
func (f facts) judgeSettings(p *place) error {
	var wrong []error
	unsafe := func(format string, args ...any) { wrong = append(wrong, f.unsafe(format, args...)) }
	if f.policy != "noeviction" {
		unsafe("maxmemory-policy is %s, want noeviction: a row that is evicted is a call that runs twice", known(f.policy))
	}
	if !f.aof {
		unsafe("appendonly is no, want yes, and appendfsync always: without it a restart forgets what was executed")
	}
	if p.acceptLoss || !f.aof {
		return errors.Join(wrong...)
	}
	if f.fsync != "always" {
		why := ""
		if f.fsync == "" {
			why = " (CONFIG GET tells it: the user needs +config|get, where the service has it)"
		}
		unsafe("appendfsync is %s%s, want always: a power cut loses writes that were acknowledged (accept_loss=true takes that as it is)", known(f.fsync), why)
	}
	if f.skipsFsync {
		unsafe("no-appendfsync-on-rewrite is yes, want no: nothing is synced while the file is rewritten (accept_loss=true takes that as it is)")
	}
	return errors.Join(wrong...)
}

// judgeFailover says what is wrong with the replicas of a server. Those that come while ledgerd runs are no reason to
// stop: whoever adds one does not lose anything yet.
func (f facts) judgeFailover(p *place) error {
	if p.acceptLoss || f.replicas <= p.minReplicas {
		return nil
	}
	return fmt.Errorf("%w: redis %s: it has %d connected replicas, and a failover to one that is behind loses acknowledged writes: "+
		"want min_replicas=%d, which waits for all of them, or accept_loss=true, which takes that as it is",
		ErrUnsafe, f.address, f.replicas, f.replicas)
}

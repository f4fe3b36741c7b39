package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// promise is what an acknowledged write may be relied on for, and how that is made sure.
type promise struct {
	synced   bool // each group of writes is confirmed by WAITAOF
	replicas int  // and by WAIT, from so many replicas
	dirty    bool // a reader may see what is not confirmed yet
	slow     bool // the server syncs once a second, and each write waits for it
	words    string
}

// promised gives what can be promised on servers that judge found good.
func promised(servers []facts, p *place) promise {
	each := func(is func(facts) bool) bool { return !slices.ContainsFunc(servers, func(f facts) bool { return !is(f) }) }
	always := each(func(f facts) bool { return f.fsync == "always" })
	waitaof := each(func(f facts) bool { return f.waitaof })
	failover := !each(func(f facts) bool { return f.replicas == 0 })
	if p.acceptLoss {
		words := "accept_loss: a write is acknowledged before it is synced; a power cut may lose the newest ones (appendfsync %s)"
		if always {
			words = "each write is synced before it is acknowledged (appendfsync always)"
		}
		if failover {
			words += "; accept_loss: a failover may lose the newest ones that were acknowledged"
		}
		if strings.Contains(words, "%s") {
			words = fmt.Sprintf(words, known(servers[0].fsync))
		}
		return promise{words: words}
	}
	made := promise{synced: waitaof, replicas: p.minReplicas, dirty: !always || p.minReplicas > 0}
	switch {
	case always && waitaof:
		made.words = "each write is synced before it is acknowledged (appendfsync always, confirmed by WAITAOF)"
	case always:
		made.words = "each write is synced before it is acknowledged (appendfsync always; the server has no WAITAOF to confirm it)"
	default:
		made.slow = true
		made.words = fmt.Sprintf("each write is synced before it is acknowledged (WAITAOF), which takes up to a second with appendfsync %s; "+
			"want appendfsync always", known(servers[0].fsync))
	}
	if p.minReplicas > 0 {
		made.words += fmt.Sprintf("; %d replicas have it too (WAIT), so a failover to one of them loses nothing", p.minReplicas)
	} else {
		made.words += "; no replica is connected, so there is nothing to fail over to"
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
	if p.synced {
		synced = redis.NewIntSliceCmd(ctx, "waitaof", 1, 0, patience.Milliseconds())
		_ = pipe.Process(ctx, synced) // only queues it
	}
	if p.replicas > 0 {
		replicated = redis.NewIntCmd(ctx, "wait", p.replicas, patience.Milliseconds())
		_ = pipe.Process(ctx, replicated)
	}
	return func() error {
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

// judge says what is wrong with a server, all of it at once.
func (f facts) judge(p *place) error {
	var wrong []error
	unsafe := func(format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("%w: redis %s: %s", ErrUnsafe, f.address, fmt.Sprintf(format, args...)))
	}
	switch {
	case f.major < 7:
		unsafe("it is version %s, want 7 or newer, or Valkey", f.version)
	case f.role != "master":
		unsafe("it is a %s, which follows another server: want the master's address", f.role)
	}
	if f.policy != "noeviction" {
		unsafe("maxmemory-policy is %s, want noeviction: an evicted row is a call that runs twice", known(f.policy))
	}
	if !f.aof {
		unsafe("appendonly is no, want yes (and appendfsync always): without it a restart forgets what was executed")
	}
	if f.cluster && p.db != 0 {
		unsafe("it is a cluster, which has only database 0: the URL wants database %d", p.db)
	}
	if p.acceptLoss {
		return errors.Join(wrong...)
	}
	switch {
	case f.fsync == "no":
		unsafe("appendfsync is no, want always: the server never syncs by itself (accept_loss=true takes it as it is)")
	case f.fsync != "always" && !f.waitaof:
		unsafe("appendfsync is %s and version %s has no WAITAOF, want appendfsync always: a power cut may lose about two seconds of "+
			"acknowledged writes (accept_loss=true takes it as it is)", known(f.fsync), f.version)
	}
	if f.skipsFsync {
		unsafe("no-appendfsync-on-rewrite is yes, want no: nothing is synced while the file is rewritten (accept_loss=true takes it as it is)")
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
		"want min_replicas=%d, which waits for all of them, or accept_loss=true, which takes it as it is", ErrUnsafe, f.address, f.replicas, f.replicas)
}

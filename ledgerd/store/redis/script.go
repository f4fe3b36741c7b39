package redis

import (
	"context"
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"strconv"

	"github.com/redis/go-redis/v9"
)

//go:embed swap.lua
var swapSource string

//go:embed guard.lua
var guardSource string

//go:embed set.lua
var setSource string

//go:embed disown.lua
var disownSource string

//go:embed reset.lua
var resetSource string

// script is a script and the name that the server knows it by.
type script struct{ text, sha string }

// The first line makes the server look before it starts a script whether it may write (memory, replicas, disk), instead
// of breaking it off in the middle. A script that only removes may run when memory is short: it is what makes room.
var (
	swapScript   = newScript("#!lua\n" + guardSource + swapSource)
	removeScript = newScript("#!lua flags=allow-oom\n" + guardSource + swapSource)
	disownScript = newScript("#!lua flags=allow-oom\n" + disownSource)
	resetScript  = newScript("#!lua flags=allow-oom\n" + guardSource + resetSource)
	setScript    = newScript("#!lua\n" + guardSource + setSource)
)

func newScript(text string) script {
	sum := sha1.Sum([]byte(text)) // what the protocol names scripts by
	return script{text, hex.EncodeToString(sum[:])}
}

// loadScripts gives a server all scripts.
func loadScripts(ctx context.Context, c *redis.Client) error {
	_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, s := range []script{swapScript, removeScript, disownScript, resetScript, setScript} {
			p.ScriptLoad(ctx, s.text)
		}
		return nil
	})
	return err
}

// guarded makes the words of a call of a script that begins with guard.lua, for a shard.
func (s *Store) guarded(sc script, shard int, keys []string, arguments int) []any {
	return append(sc.start(keys, 2+arguments), s.id, strconv.FormatUint(s.durable[shard].Load(), 10))
}

// start makes the words of a call, with room for so many arguments that the caller appends.
func (s script) start(keys []string, arguments int) []any {
	args := make([]any, 0, 3+len(keys)+arguments)
	args = append(args, "evalsha", s.sha, len(keys))
	for _, k := range keys {
		args = append(args, k)
	}
	return args
}

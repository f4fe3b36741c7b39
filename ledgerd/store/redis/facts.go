package redis

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// facts is what a server says of itself that matters here.
type facts struct {
	address    string
	product    string // for people: redis 7.4.2, valkey 9.1.0
	version    string // of Redis, or the one that Valkey is compatible with
	major      int
	role       string // master or slave
	policy     string // maxmemory-policy
	aof        bool
	fsync      string // appendfsync; empty: it does not say
	skipsFsync bool   // no-appendfsync-on-rewrite
	config     bool   // CONFIG GET can be asked
	waitaof    bool
	replicas   int // connected now
}

// inspect asks a server.
func inspect(ctx context.Context, c *redis.Client) (facts, error) {
	text, err := c.Info(ctx, "server", "replication", "persistence", "memory").Result()
	if err != nil {
		return facts{}, err
	}
	info := parseInfo(text)
	f := facts{
		address: c.Options().Addr, version: info["redis_version"], role: info["role"], policy: info["maxmemory_policy"],
		aof: info["aof_enabled"] == "1",
	}
	f.product = "redis " + f.version
	if v := info["valkey_version"]; v != "" {
		f.product = "valkey " + v
	}
	// What is not there stays zero, and is judged as such.
	f.replicas, _ = strconv.Atoi(info["connected_slaves"])
	major, _, _ := strings.Cut(f.version, ".")
	f.major, _ = strconv.Atoi(major)

	// WAITAOF came with 7.2, and an operator or a service may have taken it away: only trying tells.
	err = c.Process(ctx, redis.NewIntSliceCmd(ctx, "waitaof", 0, 0, 1))
	if err != nil && !answered(err) {
		return facts{}, fmt.Errorf("trying WAITAOF: %w", err)
	}
	f.waitaof = err == nil

	// Services keep CONFIG to themselves, or the user has no right to it: then appendfsync stays unknown, which is judged
	// as such. All else stands in INFO.
	config, err := c.ConfigGet(ctx, "*append*").Result()
	if err != nil && !answered(err) {
		return facts{}, fmt.Errorf("reading the server's configuration: %w", err)
	}
	f.config = err == nil
	f.fsync, f.skipsFsync = config["appendfsync"], config["no-appendfsync-on-rewrite"] == "yes"
	return f, nil
}

// parseInfo reads the answer of INFO.
func parseInfo(text string) map[string]string {
	info := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			info[name] = value
		}
	}
	return info
}

package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// topology says which server has a shard.
type topology interface {
	// master gives the client of the server that has a shard, as far as is known.
	master(ctx context.Context, shard int) (*redis.Client, error)
	// moved says that what is known turned out to be wrong.
	moved()
	// subscribe listens to a channel.
	subscribe(ctx context.Context, channel string) *redis.PubSub
	close() error
}

// alone is a server that has all shards.
type alone struct{ client *redis.Client }

func (a alone) master(context.Context, int) (*redis.Client, error) { return a.client, nil }

func (a alone) moved() {}

func (a alone) subscribe(ctx context.Context, channel string) *redis.PubSub {
	return a.client.Subscribe(ctx, channel)
}

func (a alone) close() error { return a.client.Close() }

// cluster is several masters that have some of the shards each.
type cluster struct {
	client *redis.ClusterClient
	parts  *[shards]part
}

func (c cluster) master(ctx context.Context, shard int) (*redis.Client, error) {
	return c.client.MasterForKey(ctx, c.parts[shard].meta)
}

func (c cluster) moved() { c.client.ReloadState(context.Background()) }

func (c cluster) subscribe(ctx context.Context, channel string) *redis.PubSub {
	return c.client.Subscribe(ctx, channel)
}

func (c cluster) close() error { return c.client.Close() }

// connectAlone makes a client of the first address. It connects when it is used.
func connectAlone(p *place, o *Options) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: p.addresses[0], Username: p.username, Password: p.password, DB: p.db, TLSConfig: p.tls,
		MaxRetries: noRetries, DialTimeout: o.Timeout, DialerRetries: 1, ReadTimeout: readTimeout(o), WriteTimeout: o.Timeout,
		PoolSize: spareConnections, PipelinePoolSize: o.Writers + o.Readers + spareConnections,
		ContextTimeoutEnabled: true, MaintNotificationsConfig: quiet(),
	})
}

// connectCluster makes a client of the cluster that the addresses belong to.
func connectCluster(p *place, o *Options) *redis.ClusterClient {
	return redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: p.addresses, Username: p.username, Password: p.password, TLSConfig: p.tls,
		MaxRetries: noRetries, DialTimeout: o.Timeout, DialerRetries: 1, ReadTimeout: readTimeout(o), WriteTimeout: o.Timeout,
		PoolSize: spareConnections, PipelinePoolSize: o.Writers + o.Readers + spareConnections,
		ContextTimeoutEnabled: true, MaintNotificationsConfig: quiet(),
	})
}

const (
	// noRetries: the client library must not send anything again. A write whose answer was lost may have happened; sent
	// again it would find its own effect, and be told of a conflict.
	noRetries = -1
	// spareConnections is how many connections the pools have beside those for groups.
	spareConnections = 4
)

// readTimeout is how long an answer may take: as long as the server may take to confirm, twice, and a bit.
func readTimeout(o *Options) time.Duration { return 2*o.ConfirmTimeout + o.Timeout }

// quiet: no notifications of maintenance, which only one vendor's service sends.
func quiet() *maintnotifications.Config {
	return &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

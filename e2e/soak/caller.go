package soak

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"idem/e2e/envoytest"
)

// patience is how long a caller that stays waits for its answer: longer than any wait of the rules.
const patience = 90 * time.Second

// caller makes one call.
type caller struct {
	order  *order
	run    string
	leaves time.Duration // it leaves after so long; 0: it stays
	client *http.Client
}

// call makes the call and gives what came of it. left: the caller did not wait for it.
func (c *caller) call(ctx context.Context, url string, r *rand.Rand) (t told, left bool) {
	limit := patience
	if c.leaves > 0 {
		limit = c.leaves
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	call := c.order.kind.write(c.order, r, c.run)
	t = told{order: c.order, run: c.run, rpcID: call.Header[rpcID], reply: send(ctx, c.client, url, c.order.who, call)}
	return t, t.reply.Err != nil && c.leaves > 0 && ctx.Err() != nil
}

// send sends a call by a client of the caller's own: connections are kept, as agents do.
func send(ctx context.Context, client *http.Client, url, who string, c envoytest.Call) envoytest.Reply {
	request, err := c.Request(ctx, url)
	if err != nil {
		return envoytest.Reply{Err: err}
	}
	request.Header.Set("authorization", "Bearer "+who)
	return envoytest.Send(client, request)
}

// newClients gives callers of HTTP/1.1 and HTTP/2, each with connections of its own, so that both workers have some.
func newClients() (all []*http.Client) {
	for i := range 8 {
		transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
		if i >= 4 {
			transport.Protocols = new(http.Protocols)
			transport.Protocols.SetUnencryptedHTTP2(true)
		}
		all = append(all, &http.Client{Transport: transport})
	}
	return all
}

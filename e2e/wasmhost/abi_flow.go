package wasmhost

import (
	"context"
	"math"
	"strings"
	"time"
)

func hostSendLocalResponse(ctx context.Context, code, detailsPtr, detailsSize, bodyPtr, bodySize, pairsPtr, pairsSize, _ uint32) status {
	g := guestOf(ctx)
	text, st := g.strings(detailsPtr, detailsSize, bodyPtr, bodySize, pairsPtr, pairsSize)
	if st != ok {
		return st
	}
	headers, fine := unmarshalPairs([]byte(text[2]))
	if !fine {
		return badArgument
	}
	if s := g.scope().stream; s != nil {
		details := strings.Join(strings.Fields(text[0]), "_")
		g.after = append(g.after, func() {
			if s.answered || s.ended {
				s.extra++
			}
			s.answered = true
			s.localReply(int(code), headers, []byte(text[1]), details, false)
		})
	}
	g.stopped = true
	return ok
}

func hostContinueStream(ctx context.Context, kind uint32) status {
	g := guestOf(ctx)
	if kind > 3 {
		return badArgument
	}
	s := g.scope().stream
	if s == nil {
		return ok
	}
	switch kind {
	case 0:
		g.after = append(g.after, s.request.resume)
	case 1:
		g.after = append(g.after, s.response.resume)
	case 2:
		return ok
	default:
		return unimplemented
	}
	s.request.hide()
	return ok
}

func hostCloseStream(ctx context.Context, kind uint32) status {
	g := guestOf(ctx)
	if kind > 3 {
		return badArgument
	}
	if s := g.scope().stream; s != nil && kind < 2 {
		g.after = append(g.after, func() { s.end("wasm_close_stream") })
	}
	return ok
}

func hostSetEffectiveContext(ctx context.Context, id uint32) status {
	g := guestOf(ctx)
	c := g.scopes[id]
	if c == nil {
		return badArgument
	}
	g.instance.effective = c
	return ok
}

func hostDone(ctx context.Context) status {
	g := guestOf(ctx)
	if !g.notDone {
		return notFound
	}
	g.instance.notDone = false
	g.after = append(g.after, g.deleteRoot)
	return ok
}

func hostSetTickPeriod(ctx context.Context, ms uint32) status {
	g := guestOf(ctx)
	g.instance.tick = time.Duration(ms) * time.Millisecond
	g.instance.nextTick = g.vm.host.now.Add(g.tick)
	return ok
}

func hostHTTPCall(ctx context.Context, clusterPtr, clusterSize, headersPtr, headersSize, bodyPtr, bodySize, trailersPtr, trailersSize, timeout, tokenPtr uint32) status {
	g := guestOf(ctx)
	text, st := g.strings(clusterPtr, clusterSize, headersPtr, headersSize, bodyPtr, bodySize, trailersPtr, trailersSize)
	if st != ok {
		return st
	}
	headers, fine1 := unmarshalPairs([]byte(text[1]))
	trailers, fine2 := unmarshalPairs([]byte(text[3]))
	if !fine1 || !fine2 || timeout > math.MaxInt32 {
		return badArgument
	}
	token, st := g.dispatch(&Call{
		Cluster: text[0], Headers: headers, Body: []byte(text[2]), Trailers: trailers,
		Timeout: time.Duration(timeout) * time.Millisecond,
	})
	if written := g.words(tokenPtr, token); written != ok {
		return written
	}
	return st
}

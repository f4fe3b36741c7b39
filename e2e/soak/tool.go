package soak

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// tool does what it is asked, as often as it is asked, and counts.
type tool struct {
	seed    uint64
	smooth  atomic.Bool // it works from now on
	ended   context.Context
	address string

	mu    sync.Mutex
	done  map[orderKey]*toldTool
	given int // numbers of deeds
}

// toldTool is what the tool did for an order.
type toldTool struct {
	asked    int // requests that reached it whole
	failed   int // of these, those that it answered with a definite failure
	deeds    []deed
	underWay int
}

// deed is one thing done.
type deed struct {
	number int
	at     time.Time
}

// fate is what becomes of one request to the tool.
type fate int

const (
	answers fate = iota
	resetsBefore
	resetsAfter
	hangsBefore
	hangsAfter
	fails
	isSlow
)

// slowFor is how long a slow deed's answer takes: less than an execution may.
const slowFor = time.Second

// draw says what becomes of an order's nth request: 5 % each of a reset, a reply that never comes, a failure, and a slow
// reply. Of resets and lost replies half come before the deed.
func (t *tool) draw(key orderKey, n int) fate {
	if t.smooth.Load() {
		return answers
	}
	switch p := key.random(t.seed, uint64(n)).IntN(200); {
	case p < 5:
		return resetsBefore
	case p < 10:
		return resetsAfter
	case p < 15:
		return hangsBefore
	case p < 20:
		return hangsAfter
	case p < 30:
		return fails
	case p < 40:
		return isSlow
	default:
		return answers
	}
}

// startTool starts the tool; it ends with ctx.
func startTool(ctx context.Context, seed uint64) (*tool, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &tool{seed: seed, ended: ctx, address: l.Addr().String(), done: map[orderKey]*toldTool{}}
	server := &http.Server{Handler: t, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }()
	context.AfterFunc(ctx, func() { _ = server.Close() })
	return t, nil
}

// result is what a deed gives, the same bytes whenever it is asked for.
func (k *kind) result(key orderKey, number int) []byte {
	out := fmt.Appendf(nil, `{"order":%q,"who":%q,"deed":"d-%d"`, key.id, key.who, number)
	if k.pads > 0 {
		h := fnv.New32a()
		fmt.Fprint(h, key.id)
		out = fmt.Appendf(out, `,"pad":"%s"`, strings.Repeat(fmt.Sprint(number, "."), int(h.Sum32())%k.pads/8))
	}
	return append(out, '}')
}

// ServeHTTP is one request. What does not arrive whole is no request.
func (t *tool) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	k := kindAt(r.URL.Path)
	if err != nil || k == nil {
		return
	}
	id := anOrder.FindString(r.URL.Path)
	if id == "" {
		id = string(anOrder.Find(body))
	}
	key := orderKey{id, owner(r.Header.Get("authorization"))}

	what, number := t.take(key)
	defer t.left(key)
	switch what {
	case hangsBefore, hangsAfter:
		select {
		case <-r.Context().Done():
		case <-t.ended.Done():
		}
		return
	case resetsBefore, resetsAfter:
		breakConnection(w)
		return
	case fails:
		k.failed(w, body, fmt.Appendf(nil, `{"order":%q,"who":%q,"error":"no"}`, key.id, key.who))
		return
	case isSlow:
		select {
		case <-time.After(slowFor):
		case <-t.ended.Done():
		}
	}
	k.answer(w, body, k.result(key, number))
}

// take counts a request, and does the deed where its fate has one.
func (t *tool) take(key orderKey) (what fate, number int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	told := t.done[key]
	if told == nil {
		told = &toldTool{}
		t.done[key] = told
	}
	what = t.draw(key, told.asked)
	told.asked++
	told.underWay++
	switch what {
	case fails:
		told.failed++
	case answers, isSlow, resetsAfter, hangsAfter:
		t.given++
		number = t.given
		told.deeds = append(told.deeds, deed{number, time.Now()})
	}
	return what, number
}

func (t *tool) left(key orderKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done[key].underWay--
}

// look gives what the tool did for an order.
func (t *tool) look(key orderKey) toldTool {
	t.mu.Lock()
	defer t.mu.Unlock()
	told := t.done[key]
	if told == nil {
		return toldTool{}
	}
	seen := *told
	seen.deeds = append([]deed(nil), told.deeds...)
	return seen
}

// whose finds the deed that a result is of, among those of an order; 0: none of them.
func (t *tool) whose(k *kind, key orderKey, result []byte) (number int) {
	for _, d := range t.look(key).deeds {
		if bytes.Equal(k.result(key, d.number), result) {
			return d.number
		}
	}
	return 0
}

// breakConnection ends the connection with a reset, as a crash of the tool does.
func breakConnection(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	conn.Close()
}

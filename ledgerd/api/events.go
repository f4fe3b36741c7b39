package api

import (
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// events is GET /api/events: what the ledger does, as server-sent events (the HTML standard, section 9.2), each with
// the event's kind as its name. A comment is sent now and then, so that proxies keep the stream and a reader that has
// gone is noticed. Who reads too slowly misses events; GET /api/state has what is.
func (a *API) events(w http.ResponseWriter, r *http.Request, _ string) {
	defer a.streams.Add(-1)
	if a.streams.Add(1) > a.Limits.Subscribers {
		a.fail(w, r, &refusal{code: "overloaded", detail: "too many event streams are open", after: 5 * time.Second})
		return
	}
	events := a.Ledger.Subscribe(r.Context())
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	flow := http.NewResponseController(w)
	_ = flow.SetReadDeadline(time.Time{}) // there is nothing to read; a deadline that passes would end the stream
	send := func(line []byte) bool {
		_ = flow.SetWriteDeadline(time.Now().Add(2 * a.Heartbeat))
		_, err := w.Write(line)
		return err == nil && flow.Flush() == nil
	}
	beat := time.NewTicker(a.Heartbeat)
	defer beat.Stop()
	for going := send([]byte("retry: 1000\n: connected\n\n")); going; {
		select {
		case <-r.Context().Done():
			return
		case e, more := <-events:
			if !more {
				return
			}
			data, err := json.Marshal(e, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
			if err != nil {
				a.log.Error("an event cannot be written as JSON", "kind", e.Kind, "error", err)
				continue
			}
			line := append([]byte("event: "+e.Kind+"\ndata: "), data...)
			going = send(append(line, "\n\n"...))
		case <-beat.C:
			going = send([]byte(": beat\n\n"))
		}
	}
}

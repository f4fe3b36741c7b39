package soak

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// operator is the people: they answer holds as they please, and resolve doubts by what they see at the tool.
type operator struct {
	admin  string // address of ledgerd's admin API
	seed   uint64
	book   *book
	tool   *tool
	client *http.Client

	answered map[string]string // hold → what was decided
}

func newOperator(admin string, seed uint64, b *book) *operator {
	return &operator{
		admin: admin, seed: seed, book: b, tool: b.tool,
		client: &http.Client{Timeout: 30 * time.Second}, answered: map[string]string{},
	}
}

// work answers what there is to answer, again and again, until ctx ends.
func (p *operator) work(ctx context.Context) {
	for again := time.NewTicker(100 * time.Millisecond); ; {
		_, _ = p.round(ctx) // the ledger may be away
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return
		}
	}
}

// round looks once, and says how many questions there were.
func (p *operator) round(ctx context.Context) (open int, err error) {
	var list struct {
		Holds []struct {
			ID, Reason, Fingerprint string
			OfAction                json.RawMessage `json:"of_action"`
		}
		InDoubt []struct {
			Attempt, Fingerprint string
			Granted              time.Time
			ReleasableAfter      time.Time `json:"releasable_after"`
		} `json:"in_doubt"`
	}
	if err := p.get(ctx, "/api/holds?limit=1000", &list); err != nil {
		return 0, err
	}
	if err := p.get(ctx, "/api/in-doubt?limit=1000", &list); err != nil {
		return 0, err
	}
	for _, h := range list.Holds {
		if page := p.book.known(h.Fingerprint); page != nil {
			p.answer(ctx, page, h.ID, h.Reason, anOrder.FindString(string(h.OfAction)))
		}
	}
	for _, d := range list.InDoubt {
		if page := p.book.known(d.Fingerprint); page != nil {
			p.resolve(ctx, page, d.Attempt, d.Granted, time.Now().After(d.ReleasableAfter))
		}
	}
	return len(list.Holds) + len(list.InDoubt), nil
}

// answer decides about a hold, by the hold alone. What is allowed is taken down before it is said: it may be used at
// once.
func (p *operator) answer(ctx context.Context, page *page, hold, reason, of string) {
	decision := p.answered[hold]
	if decision == "" {
		switch n := (orderKey{hold, ""}).random(p.seed, 0).IntN(10); {
		case n < 5:
			decision = "release"
		case n < 8 && of != "":
			decision = "duplicate"
		default:
			decision = "deny"
		}
		p.decided(page, hold, decision, reason, of)
	}
	status, err := p.post(ctx, "/api/holds/"+hold+"/"+decision, map[string]any{"reason": "soak"})
	if err == nil && status == http.StatusConflict && decision == "duplicate" {
		p.decided(page, hold, "deny", reason, of) // it may be a duplicate of committed calls only
	}
}

func (p *operator) decided(page *page, hold, decision, reason, of string) {
	p.answered[hold] = decision
	p.book.note(func() {
		switch {
		case decision == "deny":
			page.denied++
		case decision == "duplicate" && of != page.order.id:
			lender := *page.order
			lender.id = of
			page.lenders = append(page.lenders, &lender)
		case decision == "release" && reason == "new_run":
			page.released++ // any other hold asks about an order's first deed
		}
	})
}

// resolve looks at what the tool did since the attempt was granted: a deed was done, or nothing was and nothing will be.
func (p *operator) resolve(ctx context.Context, page *page, attempt string, granted time.Time, releasable bool) {
	key, k := page.order.key(), page.order.kind
	did := p.tool.look(key)
	body := map[string]any{"reason": "soak"}
	for _, d := range did.deeds {
		if d.at.After(granted) {
			body["as"], body["result"] = "committed", k.given(k.result(key, d.number))
		}
	}
	if body["as"] == nil {
		if !releasable || did.underWay > 0 {
			return
		}
		body["as"] = "released"
	}
	status, err := p.post(ctx, "/api/in-doubt/"+attempt+"/resolve", body)
	if body["as"] == "released" && (err != nil || status == http.StatusOK) {
		p.book.note(func() { page.undone++ })
	}
}

// given is a result as a person writes it down.
func (k *kind) given(result []byte) map[string]any {
	return map[string]any{
		"status": 200, "headers": map[string]string{"content-type": "application/json"},
		"body_base64": base64.StdEncoding.EncodeToString(result),
	}
}

func (p *operator) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.admin+path, nil)
	if err != nil {
		return err
	}
	response, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: status %d", path, response.StatusCode)
	}
	return json.NewDecoder(response.Body).Decode(into)
}

func (p *operator) post(ctx context.Context, path string, body any) (status int, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.admin+path, bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	request.Header.Set("content-type", "application/json")
	response, err := p.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode, nil
}

package exchange

import (
	"encoding/json"
	"testing"

	"idem/canon"
	"idem/ledgerd/wire"
)

func TestLargeReplayIsFetchedByACallOfItsOwn(t *testing.T) {
	b := newBench(t)
	c := b.arrive("a")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerReplay, Attempt: "first", Fetch: true})
	b.ledger(wire.OpFetch).answer(wire.Answer{Kind: wire.AnswerResult, Result: &wire.Result{Status: 200, Body: []byte("large")}})
	if r := b.told(c, 200, "replay", ""); string(r.Body) != "large" {
		t.Errorf("replayed %s", r.Body)
	}
}

func TestEnvelopeSaysWhatHappenedAroundTheResult(t *testing.T) {
	for _, tc := range []struct{ name, body, kind, want string }{
		{"executed JSON", `{"id": 1}`, "executed", `{"outcome":"executed","fingerprint":"` + fingerprint1 + `","result":{"id": 1}}`},
		{"coalesced", `1`, "coalesced", `{"outcome":"coalesced","coalesced":true,"fingerprint":"` + fingerprint1 + `","result":1}`},
		{"replay", `1`, "replay", `{"outcome":"replay","replay":true,"fingerprint":"` + fingerprint1 + `","result":1}`},
		{"failed text", `no "such"`, "failed", `{"outcome":"failed","fingerprint":"` + fingerprint1 + `","result":"no \"such\""}`},
		{"empty", ``, "executed", `{"outcome":"executed","fingerprint":"` + fingerprint1 + `","result":""}`},
		{"binary", "\xff\x00", "executed", `{"outcome":"executed","fingerprint":"` + fingerprint1 + `","result_encoding":"base64","result":"/wA="}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			b.rule.Envelope = true
			c := b.arrive("a").call
			r := c.resultReply(wire.Result{Status: 201, Headers: [][2]string{{"content-type", "text/plain"}, {"location", "/1"}, {"etag", "x"}}, Body: []byte(tc.body)}, tc.kind)
			if string(r.Body) != tc.want {
				t.Errorf("got  %s\nwant %s", r.Body, tc.want)
			}
			if header(r.Headers, "content-type") != "application/json" || header(r.Headers, "location") != "/1" || header(r.Headers, "etag") != "" {
				t.Errorf("the headers are %v", r.Headers)
			}
		})
	}
}

func TestStatusWithoutABodyGetsNoEnvelope(t *testing.T) {
	b := newBench(t)
	b.rule.Envelope = true
	c := b.arrive("a").call
	for _, status := range []int{204, 205, 304} {
		r := c.resultReply(wire.Result{Status: status, Headers: [][2]string{{"etag", "x"}}}, outcomeReplay)
		if r.Status != status || len(r.Body) != 0 || header(r.Headers, headerOutcome) != "replay" || header(r.Headers, "etag") != "x" {
			t.Errorf("%d is replied as %+v: bytes after it would be taken for the next reply", status, r)
		}
	}
}

func TestUnreadableCallIsToldWhereItWentWrong(t *testing.T) {
	b := newBench(t)
	r := b.worker.Unreadable(&canon.Error{Code: "malformed_body", Pointer: "/args/x", Offset: 17, Detail: "the name x is there twice"}, canon.JSON, nil)
	var p struct {
		Code, Outcome, Pointer string
		Offset                 int64
		Fingerprint            *string
	}
	if err := json.Unmarshal(r.Body, &p); err != nil {
		t.Fatal(err)
	}
	if r.Status != 400 || p.Code != "malformed_body" || p.Outcome != "refused" || p.Pointer != "/args/x" || p.Offset != 17 || p.Fingerprint != nil {
		t.Errorf("the problem is %d %s", r.Status, r.Body)
	}
	if n := b.host.counters["calls.refused"]; n != 1 {
		t.Errorf("calls.refused is %d, want 1", n)
	}
}

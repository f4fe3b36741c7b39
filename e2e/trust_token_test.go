package e2e_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"idem/e2e/envoytest"
)

// tokenIssuer signs tokens (RFC 7519) that Envoy's jwt_authn verifies.
type tokenIssuer struct {
	rsa    *rsa.PrivateKey
	ecdsa  *ecdsa.PrivateKey
	issued int
}

func newTokenIssuer(t *testing.T) *tokenIssuer {
	t.Helper()
	a, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	b, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &tokenIssuer{rsa: a, ecdsa: b}
}

func base64url(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// keys is the issuer's JSON Web Key Set (RFC 7517).
func (i *tokenIssuer) keys() string {
	point, _ := i.ecdsa.PublicKey.Bytes() // 4, x, y
	return fmt.Sprintf(`{"keys":[{"kty":"RSA","alg":"RS256","kid":"a","n":%q,"e":"AQAB"},{"kty":"EC","crv":"P-256","alg":"ES256","kid":"b","x":%q,"y":%q}]}`,
		base64url(i.rsa.N.Bytes()), base64url(point[1:33]), base64url(point[33:]))
}

// token signs claims, anew: no two tokens are the same.
func (i *tokenIssuer) token(t *testing.T, alg string, claims map[string]any) string {
	t.Helper()
	i.issued++
	all := map[string]any{"iss": "https://issuer.example", "exp": time.Now().Add(time.Hour).Unix(), "jti": strconv.Itoa(i.issued)}
	for name, value := range claims {
		all[name] = value
	}
	payload, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	kid := map[string]string{"RS256": "a", "ES256": "b"}[alg]
	signed := base64url([]byte(`{"alg":"`+alg+`","kid":"`+kid+`"}`)) + "." + base64url(payload)
	sum := sha256.Sum256([]byte(signed))
	var signature []byte
	if alg == "RS256" {
		signature, err = rsa.SignPKCS1v15(rand.Reader, i.rsa, crypto.SHA256, sum[:])
	} else {
		r, s, err2 := ecdsa.Sign(rand.Reader, i.ecdsa, sum[:])
		signature, err = make([]byte, 64), err2
		r.FillBytes(signature[:32])
		s.FillBytes(signature[32:])
	}
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + base64url(signature)
}

// verifiedBy puts a jwt_authn filter before Idem's: it verifies the calls below /tools/claim/; those below
// /tools/claim/open/ may have no token.
func (i *tokenIssuer) verifiedBy(t *testing.T, b envoytest.Bootstrap) {
	keys, err := json.Marshal(i.keys())
	if err != nil {
		t.Fatal(err)
	}
	b.BeforeAll("idem", `{"name": "envoy.filters.http.jwt_authn", "typed_config": {
		"@type": "type.googleapis.com/envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication",
		"providers": {"issuer": {"issuer": "https://issuer.example", "local_jwks": {"inline_string": %s},
			"forward": true, "payload_in_metadata": "claims"}},
		"rules": [
			{"match": {"prefix": "/tools/claim/open/"}, "requires": {"requires_any": {"requirements": [{"provider_name": "issuer"}, {"allow_missing": {}}]}}},
			{"match": {"prefix": "/tools/claim/"}, "requires": {"provider_name": "issuer"}}]}}`, keys)
}

// Whose call it is may be a claim that Envoy has verified: a caller's next token is still that caller.
func scopeByClaim(t *testing.T, w *web) {
	call := func(path string, alg string, claims map[string]any) envoytest.Call {
		token := w.issuer.token(t, alg, claims)
		return envoytest.Call{Path: path, Body: refundA, Header: map[string]string{"authorization": "Bearer " + token}}
	}
	const path = "/tools/claim/refund"
	ada, bob := map[string]any{"sub": "ada"}, map[string]any{"sub": "bob"}
	once(t, w, call(path, "RS256", ada), call(path, "RS256", ada), call(path, "ES256", ada))
	apart(t, w, call(path, "RS256", ada), call(path, "ES256", bob), call(path, "RS256", map[string]any{"sub": "Ada"}))

	w.Fresh(t)
	for name, claims := range map[string]map[string]any{"no claim": {}, "an empty claim": {"sub": ""}} {
		p := expectProblem(t, name, w.Call(t, call(path, "RS256", claims)), http.StatusBadRequest, "unstable_scope")
		if p.Retryable {
			t.Errorf("%s: %+v", name, p)
		}
	}
	open := envoytest.Call{Path: "/tools/claim/open/refund", Body: refundA, Header: map[string]string{
		"x-jwt-payload": base64url([]byte(`{"sub":"ada"}`)), "sub": "ada",
	}}
	expectProblem(t, "a caller that nothing verified", w.Call(t, open), http.StatusBadRequest, "unstable_scope")
	for name, c := range map[string]envoytest.Call{
		"an expired token": call(path, "RS256", map[string]any{"sub": "ada", "exp": time.Now().Add(-time.Hour).Unix()}),
		"another issuer":   call(path, "RS256", map[string]any{"sub": "ada", "iss": "https://other.example"}),
		"no token":         {Path: path, Body: refundA},
	} {
		if r := w.Call(t, c); r.Status != http.StatusUnauthorized || r.Outcome() != "" {
			t.Errorf("%s got %v", name, r)
		}
	}
	expectExecutions(t, w.Tool, 0)
}

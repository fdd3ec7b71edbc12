package console_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/config"
	"merchantorders/internal/identity"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// provider is an identity provider that signs what the test says.
type provider struct {
	*httptest.Server
	key, other *ecdsa.PrivateKey
	now        func() time.Time

	secret    string         // of the client
	slash     string         // at the end of the issuer, as the provider names it
	status    int            // of the next answer to a code
	claims    map[string]any // of the next answer
	forged    bool           // the next answer is signed with another key
	unsigned  bool           // it is not signed
	noKeys    string         // what is in place of the keys
	challenge string         // of the attempt
	requests  atomic.Int64   // for codes
}

func startProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{secret: "s3cret", status: http.StatusOK, now: func() time.Time { return apptest.StartOfTime }}
	for _, key := range []**ecdsa.PrivateKey{&p.key, &p.other} {
		var err error
		*key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		testenv.NoError(t, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{
			"issuer": p.URL + p.slash, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"ES256"}, "subject_types_supported": []string{"public"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		switch p.noKeys {
		case "":
		case "502":
			w.WriteHeader(http.StatusBadGateway)
			return
		case "nothing":
			panic(http.ErrAbortHandler)
		default:
			_, _ = w.Write([]byte(p.noKeys))
			return
		}
		point := testenv.Of(p.key.PublicKey.Bytes()).Must(t)
		writeJSON(w, map[string]any{"keys": []any{map[string]any{
			"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "1", "x": encode(point[1:33]), "y": encode(point[33:]),
		}}})
	})
	mux.HandleFunc("POST /token", p.answerCode)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

// answerCode answers a code with an ID token, if the verifier is that of the attempt.
func (p *provider) answerCode(w http.ResponseWriter, r *http.Request) {
	p.requests.Add(1)
	verifier := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	_, secret, _ := r.BasicAuth()
	if p.status != http.StatusOK || encode(verifier[:]) != p.challenge || r.FormValue("code") != "code" || secret != p.secret {
		w.WriteHeader(max(p.status, http.StatusBadRequest))
		writeJSON(w, map[string]any{"error": "invalid_grant"})
		return
	}
	writeJSON(w, map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": p.sign()})
}

// sign returns the ID token with the claims.
func (p *provider) sign() string {
	header, key := map[string]any{"alg": "ES256", "kid": "1"}, p.key
	if p.forged {
		key = p.other
	}
	if p.unsigned {
		header["alg"] = "none"
	}
	text := encodeJSON(header) + "." + encodeJSON(p.claims)
	if p.unsigned {
		return text + "."
	}
	digest := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
	if err != nil {
		panic(err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return text + "." + encode(signature)
}

func encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

func encodeJSON(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return encode(data)
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

// TestIdentityProvider signs people in with an identity provider, and nobody with one that
// lies.
// Proves decision 1 (people in a browser).
func TestIdentityProvider(t *testing.T) {
	t.Parallel()
	p := startProvider(t)
	s := startWith(t, "", config.Serve{OIDCIssuer: p.URL, OIDCClientID: "orders", OIDCClientSecret: "s3cret", OIDCRules: `
		# the first line that applies
		groups=support operator orders:read,audit
		realm_access.roles=clerk merchant=355 orders:read,orders:write
		email=maria@shop.example merchant=355 orders:read
		store=* merchant=* orders:read`}, newOrder(1, "A-1"))
	const start, callback = "/console/oidc", "/console/oidc/callback"
	s.browser().get("/").WantText(t, http.StatusOK, "Sign in with your company", `href="`+start+`?next=`)
	// begin starts a sign-in and returns the query that the provider sends back.
	begin := func(t *testing.T, b *browser, next string) url.Values {
		t.Helper()
		leave := b.get(start + "?next=" + url.QueryEscape(next))
		leave.WantStatus(t, http.StatusSeeOther)
		query := mustURL(t, leave.location()).Query()
		if !strings.HasPrefix(leave.location(), p.URL+"/authorize?") || query.Get("redirect_uri") != s.URL+callback || query.Get("code_challenge_method") != "S256" {
			t.Fatalf("leads to %s", leave.location())
		}
		p.challenge = query.Get("code_challenge")
		p.claims = map[string]any{
			"iss": p.URL, "aud": "orders", "sub": "1", "nonce": query.Get("nonce"), "name": "Νίκος",
			"iat": s.Now().Unix(), "exp": s.Now().Add(time.Minute).Unix(),
		}
		return url.Values{"code": {"code"}, "state": {query.Get("state")}}
	}
	for name, row := range map[string]struct {
		claims map[string]any
		page   string
		text   string
	}{
		"an operator":         {map[string]any{"groups": []any{"x", "support"}}, "/console/operator/orders", "Νίκος"},
		"staff by a role":     {map[string]any{"realm_access": map[string]any{"roles": []any{"clerk"}}}, "/console/orders/A-1", "/console/orders/A-1/accept"},
		"staff by an id":      {map[string]any{"store": 400}, "/console/orders", "Νίκος"},
		"staff by an address": {map[string]any{"email": "maria@shop.example", "email_verified": true}, "/console/orders/A-1", "Νίκος"},
		"the name is a mail":  {map[string]any{"store": "400", "name": "a\nb", "email": "n@shop.example"}, "/console/orders", "n@shop.example"},
	} {
		b := s.browser()
		query := begin(t, b, "/console/orders?page=1")
		maps.Copy(p.claims, row.claims)
		back := b.get(callback + "?" + query.Encode())
		if back.location() != "/console/orders?page=1" {
			t.Fatalf("%s: %d to %q: %s", name, back.Status, back.location(), back.Body)
		}
		b.get(row.page).WantText(t, http.StatusOK, row.text)
		if again := b.get(callback + "?" + query.Encode()); again.location() != "/console" { // loaded again
			t.Errorf("%s: the callback again leads to %q", name, again.location())
		}
		s.browser().get(callback+"?"+query.Encode()).WantText(t, http.StatusForbidden, "did not succeed")
	}
	unverified := func(verified any) func(url.Values) { // nil: the provider does not say it
		return func(url.Values) {
			delete(p.claims, "store")
			p.claims["email"] = "maria@shop.example"
			if verified != nil {
				p.claims["email_verified"] = verified
			}
		}
	}
	for name, row := range map[string]struct {
		lie    func(query url.Values)
		status int
		text   string
	}{
		"another key":                         {func(url.Values) { p.forged = true }, http.StatusForbidden, "did not succeed"},
		"no signature":                        {func(url.Values) { p.unsigned = true }, http.StatusForbidden, "did not succeed"},
		"another service":                     {func(url.Values) { p.claims["aud"] = "mail" }, http.StatusForbidden, "did not succeed"},
		"another issuer":                      {func(url.Values) { p.claims["iss"] = "https://evil.example" }, http.StatusForbidden, "did not succeed"},
		"for several":                         {func(url.Values) { p.claims["aud"] = []string{"orders", "mail"} }, http.StatusForbidden, "did not succeed"},
		"another party":                       {func(url.Values) { p.claims["azp"] = "mail" }, http.StatusForbidden, "did not succeed"},
		"another nonce":                       {func(url.Values) { p.claims["nonce"] = "x" }, http.StatusForbidden, "did not succeed"},
		"expired":                             {func(url.Values) { p.claims["exp"] = s.Now().Add(-time.Second).Unix() }, http.StatusForbidden, "did not succeed"},
		"another state":                       {func(query url.Values) { query.Set("state", "x") }, http.StatusForbidden, "did not succeed"},
		"another code":                        {func(query url.Values) { query.Set("code", "x") }, http.StatusForbidden, "did not succeed"},
		"another verifier":                    {func(url.Values) { p.challenge = "x" }, http.StatusForbidden, "did not succeed"},
		"a refusal":                           {func(query url.Values) { query.Set("error", "access_denied") }, http.StatusForbidden, "did not succeed"},
		"no rule":                             {func(url.Values) { delete(p.claims, "store") }, http.StatusForbidden, "has no access here"},
		"no such merchant":                    {func(url.Values) { p.claims["store"] = 9 }, http.StatusForbidden, "has no access here"},
		"all merchants":                       {func(url.Values) { p.claims["store"] = "*" }, http.StatusForbidden, "has no access here"},
		"another's address":                   {unverified(false), http.StatusForbidden, "has no access here"},
		"an address of which nothing is said": {unverified(nil), http.StatusForbidden, "has no access here"},
		"an address that is verified by a number": {unverified(1), http.StatusForbidden, "has no access here"},
		"an address that is verified and not":     {unverified([]any{true, false}), http.StatusForbidden, "has no access here"},
		"another's address in words":              {unverified("false"), http.StatusForbidden, "has no access here"},
		"an id that rounds to one":                {func(url.Values) { p.claims["store"] = json.RawMessage("400.00000000000000000001") }, http.StatusForbidden, "has no access here"},
		"an operator's id":                        {func(url.Values) { p.claims["store"] = 0 }, http.StatusForbidden, "has no access here"},
		"keys of a failure":                       {func(url.Values) { p.forged, p.noKeys = true, "502" }, http.StatusServiceUnavailable, "cannot be reached"},
		"keys that do not come":                   {func(url.Values) { p.forged, p.noKeys = true, "nothing" }, http.StatusServiceUnavailable, "cannot be reached"},
		"a page in place of keys":                 {func(url.Values) { p.forged, p.noKeys = true, "<html>" }, http.StatusServiceUnavailable, "cannot be reached"},
		"a failure":                               {func(url.Values) { p.status = http.StatusBadGateway }, http.StatusServiceUnavailable, "cannot be reached"},
	} {
		p.status, p.forged, p.unsigned, p.noKeys = http.StatusOK, false, false, ""
		b := s.browser()
		query := begin(t, b, "//evil.example")
		p.claims["store"] = 400
		row.lie(query)
		got := b.get(callback + "?" + query.Encode())
		if got.Status != row.status || !strings.Contains(got.Body, row.text) || len(got.Header.Values("Set-Cookie")) > 1 {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
		b.get("/console").WantStatus(t, http.StatusSeeOther)
	}
	for _, reason := range []string{"there is no merchant 9", "groups is missing or empty, realm_access.roles is missing or empty"} {
		testenv.Contains(t, "log", s.Log.String(), "no rule lets the person in: "+reason)
	}

	// A session ends after half a day, and the audit log says how it began.
	p.status, p.forged, p.unsigned, p.noKeys = http.StatusOK, false, false, ""
	b := s.browser()
	query := begin(t, b, "//evil.example")
	p.claims["groups"] = "support"
	testenv.Equal(t, "leads to", "/console", b.get(callback+"?"+query.Encode()).location())
	b.get("/console/operator/audit?action=token.created").WantText(t, http.StatusOK, "by=identity-provider")
	s.operator(order.OperatorScopes).get("/console/operator/audit").WantText(t, http.StatusOK, "by=identity-provider scopes=orders:read name=&#34;Νίκος&#34;")
	s.Pass(12 * time.Hour)
	b.get("/console/operator/orders").WantStatus(t, http.StatusSeeOther)
}

// TestSignInsInTabs begins two sign-ins in one browser: each can be finished, in any
// sequence. A home-made attempt sends nothing to the provider, and neither does one of
// another client.
func TestSignInsInTabs(t *testing.T) {
	t.Parallel()
	p := startProvider(t)
	p.secret = "" // a public client
	settings := config.Serve{OIDCIssuer: p.URL, OIDCClientID: "orders", OIDCRules: "email=maria@shop.example merchant=355 orders:read"}
	s := startWith(t, "", settings, newOrder(1, "A-1"))
	b := s.browser()
	var tabs []url.Values
	for range 2 {
		query := mustURL(t, b.get("/console/oidc?next=/console/orders").location()).Query()
		tabs = append(tabs, query)
	}
	for _, query := range tabs {
		p.challenge = query.Get("code_challenge")
		p.claims = map[string]any{"iss": p.URL, "aud": "orders", "sub": "1", "nonce": query.Get("nonce"), "email": "maria@shop.example", "email_verified": "true",
			"iat": s.Now().Unix(), "exp": s.Now().Add(time.Minute).Unix()}
		back := b.get("/console/oidc/callback?" + url.Values{"code": {"code"}, "state": {query.Get("state")}}.Encode())
		testenv.Equal(t, "a tab leads to", "/console/orders", back.location())
	}

	const state = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	before := p.requests.Load()
	mine := identity.Provider{Issuer: p.URL, ClientID: "orders", Now: s.Now}
	made := testenv.Of(mine.Seal(make([]byte, 32), identity.Attempt{State: state, Nonce: "n", Verifier: "v", Begun: s.Now().Unix()})).Must(t)
	testenv.Send(t, "", "GET", s.URL+"/console/oidc/callback?code=x&state="+state, "", "Cookie", "oidc-"+state+"="+made).WantText(t, http.StatusForbidden, "did not succeed")
	testenv.Equal(t, "requests of a home-made attempt to the provider", 0, p.requests.Load()-before)
}

// TestIdentitySettings checks what people and the log see of settings that do not fit the
// provider, and that the address of the callback does not follow what a proxy sends as Host.
func TestIdentitySettings(t *testing.T) {
	t.Parallel()
	p := startProvider(t)
	s := startWith(t, "https://orders.example.com/shop/", config.Serve{OIDCIssuer: p.URL, OIDCClientID: "orders", OIDCClientSecret: "s3cret", OIDCRules: "groups=a merchant=355 orders:read"})
	p.slash = "/"
	s.browser().get("/console/oidc").WantText(t, http.StatusServiceUnavailable, "is not set up correctly")
	want := `so set --oidc-issuer to that instead of`
	testenv.Contains(t, "log", s.Log.String(), want, p.URL+"/")
	p.slash = ""
	got := testenv.Send(t, "", "GET", s.URL+"/console/oidc", "", "Host", "backend:8080", "X-Forwarded-Host", "evil.example")
	testenv.Equal(t, "the provider leads to", "https://orders.example.com/shop/console/oidc/callback", mustURL(t, got.Header.Get("Location")).Query().Get("redirect_uri"))
}

// TestTooManyGroups says of a person whose groups the provider has left out why no rule
// applies.
func TestTooManyGroups(t *testing.T) {
	t.Parallel()
	p := startProvider(t)
	s := startWith(t, "", config.Serve{OIDCIssuer: p.URL, OIDCClientID: "orders", OIDCClientSecret: "s3cret", OIDCRules: "groups=a merchant=355 orders:read"})
	b := s.browser()
	query := mustURL(t, b.get("/console/oidc").location()).Query()
	p.challenge = query.Get("code_challenge")
	p.claims = map[string]any{"iss": p.URL, "aud": "orders", "sub": "1", "nonce": query.Get("nonce"), "iat": s.Now().Unix(), "exp": s.Now().Add(time.Minute).Unix(),
		"_claim_names": map[string]any{"groups": "src1"}, "_claim_sources": map[string]any{"src1": map[string]any{"endpoint": p.URL + "/groups"}}}
	b.get("/console/oidc/callback?"+url.Values{"code": {"code"}, "state": {query.Get("state")}}.Encode()).WantText(t, http.StatusForbidden, "because they are too many")
}

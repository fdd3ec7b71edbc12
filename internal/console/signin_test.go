package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/config"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// Proves decision 1 (people in a browser).
func TestSignIn(t *testing.T) {
	t.Parallel()
	s := start(t)
	revoked := s.NewToken(ours, order.DefaultScopes)
	testenv.Of(s.Tokens.RevokeID(t.Context(), order.Command(), testenv.Of(s.Tokens.ID(t.Context(), revoked)).Must(t), order.Options[int64]{})).Must(t)
	b := s.browser()
	testenv.Equal(t, "without a session, leads to", "/?next=%2Fconsole", b.get("/console").location())
	for text, problem := range map[string]string{
		"": "Enter the token.", "x": "not valid", revoked: "not valid", strings.ToUpper(s.token): "not valid",
	} {
		got := b.post("/", url.Values{"token": {text}})
		if got.Status != http.StatusForbidden && got.Status != http.StatusBadRequest {
			t.Errorf("%q: status %d", text, got.Status)
		}
		got.WantText(t, got.Status, problem, `aria-invalid="true"`, "<title>Error: ")
		if text != "" && text != "x" && strings.Contains(got.Body, text) {
			t.Errorf("the page repeats the token %q", text)
		}
	}
	got := b.post("/", url.Values{"token": {" " + s.token + "\n"}, "next": {"/console/orders?state=registered&page=2"}})
	testenv.Equal(t, "signed in, leads to", "/console/orders?state=registered&page=2", got.location())
	if cookie := got.Header.Get("Set-Cookie"); !strings.HasPrefix(cookie, "session=") || !strings.HasSuffix(cookie, "; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax") {
		t.Errorf("Set-Cookie: %s", cookie)
	}
	b.get("/console").WantText(t, http.StatusOK, "Store", "Overview")
	testenv.Equal(t, "the sign-in leads who is signed in to", "/console", b.get("/").location())
	old := b.client.Jar.Cookies(mustURL(t, s.URL))
	testenv.Equal(t, "signed out to", "/", b.post("/console/sign-out", nil).location())
	b.client.Jar.SetCookies(mustURL(t, s.URL), old)
	b.get("/console").WantStatus(t, http.StatusSeeOther)
}

func mustURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u := testenv.Of(url.Parse(text)).Must(t)
	return u
}

// TestNext checks that nobody can lead people from the sign-in to another site.
func TestNext(t *testing.T) {
	t.Parallel()
	s := start(t)
	for next, want := range map[string]string{
		"": "/console", "/console/orders": "/console/orders", "//evil.example": "/console", "https://evil.example/console": "/console",
		"/docs": "/console", "/console/../docs": "/console", "/console//evil": "/console", `/console\..\x`: "/console", "/consoles": "/console",
		"/\\evil.example": "/console", "javascript:alert(1)": "/console", "/console/orders?q=//x": "/console/orders?q=//x", "\n/console": "/console",
		"/console/login/x": "/console", "%2F%2Fevil.example": "/console",
	} {
		testenv.Equal(t, fmt.Sprintf("next %q leads to", next), want, s.browser().post("/", url.Values{"token": {s.token}, "next": {next}}).location())
	}
}

// TestSessionEnds checks every way in which a session ends.
// Proves decision 1 (people in a browser).
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"))
	ended := func(b *browser) bool { return b.get("/console/orders/A-1").Status == http.StatusSeeOther }
	idle, used := s.signedIn(s.token), s.signedIn(s.token)
	expiring, _, err := s.Tokens.Create(t.Context(), ours, order.DefaultScopes, 3*time.Hour)
	testenv.NoError(s.T, err)
	short := s.signedIn(expiring)
	for range 2 {
		s.Pass(13 * time.Hour)
		if ended(used) {
			t.Fatalf("a session in use ended at %s", s.Now())
		}
	}
	if !ended(idle) || !ended(short) {
		t.Errorf("idle session ended: %t, that of an expired token: %t", ended(idle), ended(short))
	}
	for referer, want := range map[string]string{
		"": "/console/orders/A-1", s.URL + "/console/orders/A-1/accept": "/console/orders/A-1", s.URL + "/console/orders?page=2": "/console/orders?page=2",
	} {
		short.header = http.Header{"Referer": {referer}}
		signIn := short.post("/console/orders/A-1/reject", url.Values{"reason": {"<b>"}, "merchantNote": {"Αύριο"}, "key": {"secret"}})
		signIn.WantText(t, http.StatusForbidden, "Your rejection was not sent", "<dd><bdi>&lt;b&gt;</bdi></dd>", "<dd><bdi>Αύριο</bdi></dd>")
		next := regexp.MustCompile(`name="next" value="([^"]*)"`).FindStringSubmatch(signIn.Body)[1]
		page := s.browser().post("/", url.Values{"token": {s.token}, "next": {next}}).location()
		if got := short.get(page).location(); !strings.HasPrefix(got, "/?") {
			page = got
		}
		testenv.Equal(t, "a form after the session leads to", want, page)
	}
	s.browser().upload("/console/orders/A-1", "a.pdf", "content").WantText(t, http.StatusForbidden, "Your files were not sent", `name="next" value="/console/orders/A-1/files"`)
	for path, form := range map[string]url.Values{
		"/orders/355/A-1/state":   {"state": {"canceled"}, "reason": {"payment-failed"}, "other": {"Lost in transit"}},
		"/orders/355/A-1/correct": {"shippingAddress.city": {"Πάτρα"}},
		"/merchants/355/limit":    {"requests": {"17"}, "burst": {"34"}},
		"/tokens":                 {"label": {"Νίκος"}, "scope": {"audit"}, "key": {"secret"}, "password": {"secret"}},
	} {
		late := s.browser().post("/console/operator"+path, form)
		late.WantText(t, http.StatusForbidden, map[bool]string{true: "The order was not changed", false: "Nothing was stored"}[strings.HasPrefix(path, "/orders")])
		for shown, wanted := range map[string]bool{
			"<dt>New state</dt><dd><bdi>Canceled</bdi></dd>": form.Has("state"), "<dt>Reason</dt><dd><bdi>The payment failed</bdi></dd>": form.Has("state"), "Lost in transit": form.Has("state"),
			"<bdi>Πάτρα</bdi>": form.Has("shippingAddress.city"), "<bdi>Νίκος</bdi>": form.Has("label"), "<bdi>Audit log</bdi>": form.Has("scope"), "secret": false,
			"<dt>Requests a second</dt><dd><bdi>17</bdi></dd>": form.Has("requests"), "<dt>Requests at once (burst)</dt><dd><bdi>34</bdi></dd>": form.Has("burst"),
		} {
			testenv.Equal(t, fmt.Sprintf("%s: %q is shown", path, shown), wanted, strings.Contains(late.Body, shown))
		}
	}
	for range 12 {
		s.Pass(13 * time.Hour)
		ended(used)
	}
	if !ended(used) {
		t.Error("a session lasts longer than 7 days")
	}
	text := s.NewToken(ours, order.DefaultScopes)
	b := s.signedIn(text)
	testenv.Of(s.Tokens.RevokeID(t.Context(), order.Command(), testenv.Of(s.Tokens.ID(t.Context(), text)).Must(t), order.Options[int64]{})).Must(t)
	if !ended(b) {
		t.Error("a session lasts longer than its token")
	}
}

// TestHTTPS checks the cookie of a service that browsers reach with https, through a
// proxy that serves it below a path.
func TestHTTPS(t *testing.T) {
	t.Parallel()
	s := startWith(t, "https://shop.example/orders/", config.Serve{}, newOrder(1, "A-1"))
	b := s.browser()
	got := b.post("/", url.Values{"token": {s.token}})
	cookie := got.Header.Get("Set-Cookie")
	if !strings.HasPrefix(cookie, "__Host-session=") || !strings.HasSuffix(cookie, "; Path=/; Max-Age=604800; HttpOnly; Secure; SameSite=Lax") {
		t.Errorf("Set-Cookie: %s", cookie)
	}
	testenv.Equal(t, "leads to", "/orders/console", got.location())
	value, _, _ := strings.Cut(cookie, ";")
	b = s.browser() // its jar is empty
	b.header.Set("Cookie", value)
	b.get("/console").WantText(t, http.StatusOK, `href="/orders/console/orders/A-1?from=%2Fconsole%2Fnew"`, `action="/orders/console/sign-out"`)
	b.header.Set("Cookie", strings.TrimPrefix(value, "__Host-"))
	b.get("/console").WantStatus(t, http.StatusSeeOther)
}

func TestLoginLink(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"))
	first := s.loginLink("", order.DefaultScopes)
	b := s.browser()
	for range 2 { // a program that opens links does not use it up
		b.get(first).WantText(t, http.StatusOK, "<button", "works once")
	}
	testenv.Equal(t, "the link leads to", "/console", b.post(first, nil).location())
	b.get("/console/orders/A-1").WantText(t, http.StatusOK, "A-1")
	b.post(first, nil).WantText(t, http.StatusForbidden, "has expired or was used", "<title>Error: ")
	for _, path := range []string{"/console/login/x", "/console/login/" + strings.Repeat("A", 43)} {
		s.browser().post(path, nil).WantText(t, http.StatusForbidden, "has expired or was used")
	}
	late := s.loginLink("", order.DefaultScopes)
	s.Pass(15 * time.Minute)
	s.browser().post(late, nil).WantText(t, http.StatusForbidden, "has expired or was used")

	tokens := testenv.Of(s.Tokens.List(t.Context(), token.Filter{})).Must(s.T)
	made := tokens[len(tokens)-1]
	if made.MerchantID != ours || made.Scopes != order.DefaultScopes || made.ExpiresAt.IsZero() {
		t.Errorf("the token of the session is %+v", made)
	}
	b.post("/console/sign-out", nil)
	tokens = testenv.Of(s.Tokens.List(t.Context(), token.Filter{})).Must(s.T)
	if tokens[len(tokens)-1].RevokedAt.IsZero() {
		t.Error("the token of a login link is valid after the sign-out")
	}
	if _, err := s.Sessions.NewLoginLink(t.Context(), order.Command(), token.Person{MerchantID: 999}, order.Options[token.CreatedLink]{}); err == nil {
		t.Error("a link for a merchant that does not exist")
	}
}

// TestSuspended checks that a session allows nothing while its merchant is suspended.
func TestSuspended(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signedIn(s.token)
	testenv.Of(s.Merchants.Suspend(t.Context(), order.Command(), ours, "unpaid", order.Options[order.Merchant]{})).Must(t)
	b.get("/console").WantText(t, http.StatusForbidden, "suspended")
}

// TestCrossSite checks that no other site can send a form.
func TestCrossSite(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"))
	b := s.signedIn(s.token)
	form := b.get("/console/orders/A-1").form(t, "/console/orders/A-1/accept")
	for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
		b.header = http.Header{name: {value}}
		b.post("/console/orders/A-1/accept", form).WantText(t, http.StatusForbidden, "another site")
	}
	b.header = http.Header{}
	b.get("/console/orders/A-1").WantText(t, http.StatusOK, "/accept")
}

// TestLoginLinkSays opens login links: they say for which store and as whom they sign in,
// and in a browser in which somebody else is signed in, that it is so. Looking uses no link
// up.
func TestLoginLinkSays(t *testing.T) {
	t.Parallel()
	s := start(t)
	link := func(person token.Person) string {
		created := testenv.Of(s.Sessions.NewLoginLink(t.Context(), order.Command(), person, order.Options[token.CreatedLink]{})).Must(s.T)
		return "/console/login/" + created.Secret
	}
	store := testenv.Of(s.Merchants.Get(t.Context(), ours)).Must(s.T)
	mine := link(token.Person{MerchantID: ours, Name: "Ελένη <b>", Scopes: order.DefaultScopes})
	for range 2 {
		got := s.browser().get(mine)
		got.WantText(t, http.StatusOK, store.Name, "Ελένη &lt;b&gt;")
		testenv.Lacks(t, "page of nobody", got.Body, "signed in already")
	}
	s.signedIn(s.otherToken).get(mine).WantText(t, http.StatusOK, "This browser is signed in already", store.Name)
	b := s.browser()
	b.get(link(token.Person{Operator: true, Scopes: order.OperatorScopes})).WantText(t, http.StatusOK, "the marketplace")
	b.post(mine, nil).WantStatus(t, http.StatusSeeOther)
	b.get(mine).WantText(t, http.StatusForbidden, "was used already")
}

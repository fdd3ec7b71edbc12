package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"merchantorders/internal/config"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestPasskeyPages looks at what the pages say of passkeys, and sends what no device answers:
// that counts as a sign-in that failed.
func TestPasskeyPages(t *testing.T) {
	t.Parallel()
	testenv.Lacks(t, "page of an address without passkeys", startWith(t, "http://192.0.2.1", config.Serve{}).browser().get("/").Body, "passkey")
	s := startWith(t, "http://localhost", config.Serve{RateLimit: "1000"})
	b := s.browser()
	b.get("/").WantText(t, http.StatusOK, `data-passkey="http://localhost"`, `data-failed="The device gave no passkey. Try again." data-unreachable="The service did not answer. Check your connection and try again." hidden>`)
	asked := b.post("/console/passkey/ask", nil)
	asked.WantText(t, http.StatusOK, `"rpId":"localhost"`, `"userVerification":"required"`)
	if cookie := asked.Header.Get("Set-Cookie"); !strings.HasPrefix(cookie, "passkey=") || !strings.HasSuffix(cookie, "; Path=/; Max-Age=600; HttpOnly; SameSite=Lax") {
		t.Errorf("Set-Cookie: %s", cookie)
	}
	typed := s.signedIn(s.token)
	typed.get("/console/passkeys").WantText(t, http.StatusOK, "To make a passkey, sign in with a link")
	typed.post("/console/passkeys", url.Values{"passkey": {"{}"}}).WantText(t, http.StatusForbidden, "<title>Error: Passkeys", "The device gave no passkey")
	invited := s.browser()
	invited.post(s.loginLink("Νίκος", order.DefaultScopes), nil).WantStatus(t, http.StatusSeeOther)
	const offer = "data-passkey-offer"
	invited.get("/console").WantText(t, http.StatusOK, offer)
	testenv.Lacks(t, "page after a sign-in with a token", typed.get("/console").Body, offer)
	invited.post("/console/passkeys/offer", nil).WantText(t, http.StatusOK, `"residentKey":"required"`, `"userVerification":"required"`, `"name":"Νίκος · Store B"`)
	for n := range 100 {
		got := b.post("/console/passkey", url.Values{"passkey": {"{}"}})
		if got.Status == http.StatusTooManyRequests {
			return
		}
		got.WantText(t, http.StatusForbidden, "This passkey does not work here")
		if n == 99 {
			t.Error("an address may fail as often as it likes")
		}
	}
}

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

// openSessions returns how many sessions the pages of people list, and how many pages there
// are.
func openSessions(t *testing.T, b *browser, base string) (sessions, pages int) {
	t.Helper()
	next := regexp.MustCompile(`rel="next" href="[^"]*(\?after=[^"]*)"`)
	for query := ""; ; {
		page := b.get(base + query)
		page.WantStatus(t, http.StatusOK)
		n := strings.Count(page.Body, `<th scope="row"`)
		if pages++; n == 0 || n > 50 || pages > 100 {
			t.Fatalf("page %d lists %d sessions", pages, n)
		}
		sessions += n
		found := next.FindStringSubmatch(page.Body)
		if found == nil {
			return sessions, pages
		}
		query = found[1]
	}
}

// TestSessionsAreBounded signs in again and again, from browsers that forget it: a token
// has a bounded number of sessions, which the page of people lists in pages, and the one
// that was used last stays.
func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	s := start(t)
	b, others := s.signedIn(s.token), s.signedIn(s.otherToken)
	for range token.MaxSessionsOfToken + 20 {
		s.signedIn(s.token)
		s.Pass(time.Minute)
		b.get("/console").WantStatus(t, http.StatusOK)
	}
	if n, pages := openSessions(t, s.signedIn(s.token), "/console/people"); n != token.MaxSessionsOfToken || pages != 2 {
		t.Errorf("%d sessions on %d pages", n, pages)
	}
	if n, _ := openSessions(t, others, "/console/people"); n != 1 {
		t.Errorf("%d sessions of another merchant", n)
	}
}

// TestOneSessionForOneSignIn signs in again in the same browser, in each way: the session
// that the browser had ends, and the token that was made for it.
func TestOneSessionForOneSignIn(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signedIn(s.token)
	for i := range 3 {
		b.post("/", url.Values{"token": {s.token}}).WantStatus(t, http.StatusSeeOther)
		b.post(s.loginLink(fmt.Sprint("Person ", i), order.MerchantScopes), nil).WantStatus(t, http.StatusSeeOther)
		if n, _ := openSessions(t, b, "/console/people"); n != 1 {
			t.Errorf("%d sessions of one browser", n)
		}
	}
	tokens := testenv.Of(s.Tokens.List(t.Context(), token.Filter{MerchantID: ours, Validity: token.Active})).Must(t)
	testenv.Equal(t, "valid tokens: ours and that of the last link", 2, len(tokens))
}

// TestSignInsAreLimited signs in with a valid token, and by links, more often than people
// of a merchant do. Other merchants sign in, and a refused link is not used up.
func TestSignInsAreLimited(t *testing.T) {
	t.Parallel()
	s := startWith(t, "", config.Serve{RateLimit: "1000"})
	signIns := 0
	for s.browser().post("/", url.Values{"token": {s.token}}).Status != http.StatusTooManyRequests {
		if signIns++; signIns > 100 {
			t.Fatal("nobody is refused")
		}
		if signIns%10 == 0 {
			s.browser().post(s.loginLink("", order.DefaultScopes), nil).WantStatus(t, http.StatusSeeOther)
		}
	}
	refused := s.loginLink("", order.DefaultScopes)
	s.browser().post(refused, nil).WantText(t, http.StatusTooManyRequests)
	s.signedIn(s.otherToken)
	s.Pass(time.Second)
	s.browser().post(refused, nil).WantStatus(t, http.StatusSeeOther)
}

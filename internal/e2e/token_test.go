package e2e

import (
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// TestRevocation revokes tokens with the command line beside the running server: by the id that the list shows and by the token itself.
// Proves decision 1 (expiry, revocation; 401).
func TestRevocation(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		for _, by := range []string{"id", "token"} {
			t.Run("by "+by, func(t *testing.T) {
				token := s.newToken(t, "orders:read")
				inEachVersion(t, func(t *testing.T, v version) { s.do(t, get(v.list()).by(token)).ok(t) })
				name := token
				if by == "id" {
					name = listedID(t, s, token)
				}
				s.Run(t, "", "token", "revoke", name).WantText(t, 0)
				inEachVersion(t, func(t *testing.T, v version) {
					s.do(t, get(v.list()).by(token)).wantRefusal(t, v, unauthorized, placed{})
					s.do(t, get(v.list()).as(basic("x", token))).wantRefusal(t, v, unauthorized, placed{})
					s.do(t, get(v.list())).ok(t) // the other tokens are as good as before
				})
			})
		}
	})
}

// listedID returns the id under which token list shows a token.
func listedID(t *testing.T, s *service, token string) string {
	t.Helper()
	id := ""
	for line := range strings.Lines(s.Run(t, "", "token", "list").Stdout) {
		if strings.Contains(line, token[:7]) {
			id = strings.Fields(line)[0]
		}
	}
	if id == "" {
		t.Fatal("token list does not show the token")
	}
	return id
}

// TestLastUsed sees that the list tells when a token was last used; at the latest when the server has stopped.
// Proves decision 1 (last use).
func TestLastUsed(t *testing.T) {
	alone(t, sqlite, func(t *testing.T, s *service) {
		token := s.newToken(t)
		line := func() string {
			id := listedID(t, s, token)
			for text := range strings.Lines(s.Run(t, "", "token", "list").Stdout) {
				if strings.Fields(text)[0] == id {
					return text
				}
			}
			return ""
		}
		stamps := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
		before := len(stamps.FindAllString(line(), -1))
		s.do(t, get("/v2/orders").by(token)).ok(t)
		s.Stop(t)
		testenv.Equal(t, "stamps in the list after a use", before+1, len(stamps.FindAllString(line(), -1)))
	})
}

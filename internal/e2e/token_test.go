package e2e

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestScopes asks every endpoint with tokens of every set of scopes: without the scope it is 403, whatever else is wrong, and
// changes nothing.
// Proves decision 1 (scopes, 403), decision 5 (word codes), decision 6 (download).
func TestScopes(t *testing.T) {
	sets := []string{
		"orders:read", "orders:write", "invoices:write", "orders:read,orders:write", "orders:read,invoices:write",
		"orders:write,invoices:write", "orders:read,orders:write,invoices:write",
	}
	onSQLite(t, func(t *testing.T, s *service) {
		for _, scopes := range sets {
			t.Run(scopes, func(t *testing.T) {
				token := s.newToken(t, strings.Split(scopes, ",")...)
				o := s.addOne(t, document{"state": "completed"})
				e := s.uploaded(t, v1, o, "a.pdf", "a")
				for _, end := range s.endpoints(o, e.id, "a.pdf") {
					if !strings.Contains(scopes, end.scope) {
						s.do(t, end.r.by(token)).wantRefusal(t, end.v, forbidden, o)
						continue
					}
					if a := s.do(t, end.r.by(token)); a.status == 401 || a.status == 403 {
						t.Errorf("%s %s: status %d", end.v.name, end.name, a.status)
					}
				}
			})
		}
		t.Run("all by default", func(t *testing.T) {
			o := s.addOne(t)
			for _, end := range s.endpoints(o, 1, "a.pdf") {
				if a := s.do(t, end.r.by(s.newToken(t))); a.status == 401 || a.status == 403 {
					t.Errorf("%s %s: status %d", end.v.name, end.name, a.status)
				}
			}
		})
	})
}

// TestOperatorToken sees that the tokens of operators and merchants are good
// for their own interface only.
// Proves decision 1 (operator tokens).
func TestOperatorToken(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		if !strings.HasPrefix(s.operator, "mop_") {
			t.Errorf("an operator's token begins with %.4s", s.operator)
		}
		s.do(t, get("/operator/merchants").by(s.operator)).ok(t)
		o := s.addOne(t)
		for _, end := range s.endpoints(o, 1, "a.pdf") {
			t.Run(end.v.name+" "+end.name, func(t *testing.T) {
				s.do(t, end.r.by(s.operator)).wantRefusal(t, end.v, forbidden, o)
				s.do(t, end.r.as(basic("x", s.operator))).wantRefusal(t, end.v, forbidden, o)
			})
		}
		for _, r := range []request{
			get("/operator/merchants"), get("/operator/tokens"), post("/operator/merchants", "{}"), post("/operator/orders", "{}"),
			post("/operator/tokens", "{}"), remove("/operator/tokens/1"), post("/operator/merchants/"+s.id()+"/orders/"+o.reference+"/state", "{}"),
		} {
			t.Run(r.method+" "+r.path, func(t *testing.T) {
				s.do(t, r).want(t, 403, forbidden.v2)
				s.do(t, r.as(noAuth)).want(t, 401, unauthorized.v2)
				s.do(t, r.as(basic("x", s.operator))).want(t, 401, unauthorized.v2) // a browser would remember it
			})
		}
	})
}

// until asks until a response has a status. It fails when a request that began
// later than a second after since still had another.
func (s *service) until(t *testing.T, r request, status int, since time.Time) {
	t.Helper()
	for {
		began := time.Now()
		a := s.do(t, r)
		if a.status == status {
			return
		}
		if began.Sub(since) > time.Second {
			t.Fatalf("%s: status %d, %s after it should be %d", a, a.status, began.Sub(since), status)
		}
		time.Sleep(10 * time.Millisecond) // so that asking is not all that happens
	}
}

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
				if result := s.Run(t, "", "token", "revoke", name); result.Code != 0 {
					t.Fatalf("exit code %d: %s", result.Code, result.Stderr)
				}
				inEachVersion(t, func(t *testing.T, v version) {
					s.do(t, get(v.list()).by(token)).wantRefusal(t, v, unauthorized, placed{})
					s.do(t, get(v.list()).as(basic("x", token))).wantRefusal(t, v, unauthorized, placed{})
					s.do(t, get(v.list())).ok(t) // the other tokens are as good as before
				})
			})
		}
		t.Run("unknown", func(t *testing.T) {
			for _, name := range []string{"999999", "nonsense", elsewhere(t)} {
				if result := s.Run(t, "", "token", "revoke", name); result.Code != 1 || result.Stderr == "" {
					t.Errorf("%.4s: exit code %d: %s", name, result.Code, result.Stderr)
				}
			}
		})
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

// TestExpiry makes a token that is good for a second, and one for an hour.
// Proves decision 1 (expiry, revocation; 401).
func TestExpiry(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		hour := s.Folder.Token(t, "--merchant", s.id(), "--expires", "1h")
		second := s.Folder.Token(t, "--merchant", s.id(), "--expires", "1s")
		expires := time.Now().Add(time.Second)
		inEachVersion(t, func(t *testing.T, v version) {
			s.do(t, get(v.list()).by(hour)).ok(t)
			s.until(t, get(v.list()).by(second), 401, expires)
			s.do(t, get(v.list()).by(second)).wantRefusal(t, v, unauthorized, placed{})
		})
	})
}

// TestTokenForm has the form of a token and what is shown of it.
// Proves decision 1 (form, storage of a token).
func TestTokenForm(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		s.Merchant(t, 374)
		result := s.Run(t, "", "token", "create", "--merchant", "374", "--scopes", "orders:read,invoices:write", "--expires", "48h")
		form := regexp.MustCompile(`^mo_[0-9A-Za-z]{28,}\n$`)
		if result.Code != 0 || !form.MatchString(result.Stdout) {
			t.Fatalf("token create: exit code %d, %d bytes that are no token: %s", result.Code, len(result.Stdout), result.Stderr)
		}
		token := strings.TrimSpace(result.Stdout)
		list := s.Run(t, "", "token", "list").Stdout
		if strings.Contains(list, token) || strings.Contains(list, token[len(token)-8:]) {
			t.Error("token list shows a token's text")
		}
		shown := ""
		for line := range strings.Lines(list) {
			if strings.Contains(line, token[:7]) {
				shown = line
			}
		}
		for _, part := range []string{"374", "orders:read,invoices:write", time.Now().UTC().Format("2006-01-"), time.Now().UTC().Add(48 * time.Hour).Format("2006-01-")} {
			if !strings.Contains(shown, part) {
				t.Errorf("the list shows %q without %q", shown, part)
			}
		}
		seen := map[string]bool{}
		for range 5 {
			seen[s.Folder.Token(t, "--merchant", "374")] = true
		}
		if len(seen) != 5 {
			t.Errorf("of 5 tokens %d differ", len(seen))
		}
		for _, args := range [][]string{
			{"token", "create", "--merchant", "999999"}, {"token", "create"}, {"token", "create", "--merchant", "374", "--scopes", "orders:all"},
			{"token", "create", "--merchant", "374", "--expires", "soon"}, {"token", "create", "--merchant", "374", "--expires", "-1h"},
		} {
			if result := s.Run(t, "", args...); result.Code == 0 || result.Stdout != "" || result.Stderr == "" {
				t.Errorf("%v: exit code %d, output %q, errors %q", args, result.Code, result.Stdout, result.Stderr)
			}
		}
	})
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
		if after := line(); len(stamps.FindAllString(after, -1)) != before+1 {
			t.Errorf("after a use the list shows %q", after)
		}
	})
}
